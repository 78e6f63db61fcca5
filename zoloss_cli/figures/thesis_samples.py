"""Figures of chapter 1 of Li's thesis (2006) that show samples: principal subsets, and wrong labels."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from zoloss_cli.complexity.decomposition import compute_mean_growth
from zoloss_cli.config.models import GeneratedData
from zoloss_cli.data.dataset import DataSet
from zoloss_cli.data.generators import DISK_RADII, LOBE_RADIUS, PLATE_RADIUS, YINYANG_RADIUS
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.fitting import load_split
from zoloss_cli.experiment.task import find_cell
from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.metrics.scores import compute_auc, compute_roc_curve
from zoloss_cli.report.runs import Place, RunResult, build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Value = TypeVar("Value")

TARGET_LEGEND = "The target is white and grey."
OF_DISKS = {"source_figure": "1.5", "legend": TARGET_LEGEND}
OF_YIN_YANG = {"source_figure": "1.8", "legend": TARGET_LEGEND}
SELECTED_LEGEND = f"Evenly spaced along the principal points, the first subset of each. {TARGET_LEGEND}"


@dataclass(frozen=True)
class OutlierScores:
    """How much each sample of a draw looks like an outlier, by the metric of its AUC."""

    scores: dict[str, np.ndarray]  # there are two estimates of contributions
    is_flipped: np.ndarray  # which samples have wrong labels: some, but not all
    is_contribution: bool  # whether the scores are contributions to the complexity


def find_decompositions(run: RunResult) -> dict[Place, dict[int, PooledMeasurement]]:
    """Return the measurements of a run that hold a complexity-error decomposition with principal subsets."""
    return _collect(run, lambda found: found if _has_decomposition(found) else None)


def find_growth_by_size(run: RunResult) -> dict[Place, dict[int, np.ndarray]]:
    """Return the mean growth of the complexity by subset size, from `compute_growth_by_size`."""
    return _collect(run, compute_growth_by_size)


def find_outlier_scores(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    """Return the scores of samples some of which have wrong labels."""
    return _collect(run, _read_scores)


def find_contributions(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    """Return the scores that are contributions to the complexity."""
    found = find_outlier_scores(run)
    return {place: draws for place, draws in found.items() if find_first_draw(draws)[1].is_contribution}


def find_first_draw(draws: dict[int, Value]) -> tuple[int, Value]:
    """Return the number and the measurement of the first draw."""
    return min(draws.items(), key=lambda item: item[0])


def _collect(
    run: RunResult, read: Callable[[PooledMeasurement], Value | None]
) -> dict[Place, dict[int, Value]]:
    found = {}
    for place in ((dataset, learner) for dataset in run.datasets for learner in run.learners):
        measurements = run.measurements.get(place, {})
        draws = {k: value for k, each in measurements.items() if (value := read(each)) is not None}
        if draws:
            found[place] = draws
    return found


def _has_decomposition(measured: PooledMeasurement) -> bool:
    return bool(measured.points and measured.pairs) and all(subsets for *_, subsets in measured.points)


def find_samples(clusters: Sequence[int], subset: int) -> np.ndarray:
    """Return the indices of the samples in a subset: the bits of its number are its clusters."""
    return np.flatnonzero([subset >> cluster & 1 for cluster in clusters])


def compute_growth_by_size(measured: PooledMeasurement) -> np.ndarray | None:
    """Return the mean growth of the complexity by subset size, for right labels (row 0) and wrong ones (row 1).

    In every path, one sample joins at each size, so that the right labels account for the rest of all paths.
    The result is NaN where there are none, and None if it was not measured.
    """
    growth, wrong_growth = measured.growth_by_size, measured.flipped_growth_by_size
    wrong, paths = measured.flipped_times_by_size, measured.permutations
    if growth is None or wrong_growth is None or wrong is None or not paths or not len(wrong):
        return None
    times = np.array([paths - np.asarray(wrong, dtype=float), wrong])
    return compute_mean_growth(np.array([growth, wrong_growth], dtype=float), times)


def _read_scores(measured: PooledMeasurement) -> OutlierScores | None:
    average = measured.outlier_scores
    if average is None or not 0 < np.sum(measured.is_flipped) < len(average):
        return None
    scores = {"auc": np.asarray(average, dtype=float)}
    is_contribution = measured.growth is not None
    if is_contribution and measured.least_squares is not None:
        scores["auc_least_squares"] = np.asarray(measured.least_squares)
    return OutlierScores(scores, measured.is_flipped, is_contribution)


TARGET_GENERATORS = ("disks", "yinyang")
GREY, OUTLINE = "#DCDCDC", "#8C8C8C"
HORIZON = 10.0  # where the outline of a half-plane closes, far from everything
DRAWN_CORNERS, EXACT_CORNERS = 64, 2048  # of a circle for drawing, and for distances
SAMPLES_PER_BLOCK = 64  # whose distances are computed at once
MARGIN = 0.05  # around the samples


@dataclass(frozen=True)
class Target:
    """A generator's rule as areas; zoloss_cli/data/generators.py has it as a function of samples."""

    generator: str
    eye: float = 0.0  # radius of the eyes of the Yin-Yang

    @property
    def width(self) -> float:
        """Return how much is shown on each side of the origin."""
        return MARGIN + (DISK_RADII[-1] if self.generator == "disks" else YINYANG_RADIUS)

    def build_areas(self, corners: int) -> list[tuple[np.ndarray, int]]:
        """Return outline and class of each area; later ones cover earlier ones; the rest is class 1, white."""
        if self.generator == "disks":
            inner, middle, _ = DISK_RADII
            return [(_build_arc(0.0, middle, corners), 0), (_build_arc(0.0, inner, corners), 1)]
        lobe = LOBE_RADIUS
        lower = _build_arc(-lobe, lobe, corners // 2, np.pi, 2.0 * np.pi)
        upper = _build_arc(lobe, lobe, corners // 2, np.pi, 0.0)
        far = HORIZON
        yin = np.vstack([[-far, 0.0], lower, upper, [far, 0.0], [far, -far], [-far, -far]])
        return [(yin, 0), (_build_arc(-lobe, self.eye, corners), 0), (_build_arc(lobe, self.eye, corners), 1)]

    def compute_distances(self, X: np.ndarray) -> np.ndarray:
        """Return the distance of each sample to the nearest outline, beyond which the class changes.

        Circles are approximated by polygons with enough corners for six correct decimals.
        """
        outlines = [outline for outline, _ in self.build_areas(EXACT_CORNERS)]
        starts = np.vstack(outlines)
        sides = np.vstack([np.roll(outline, -1, axis=0) - outline for outline in outlines])
        starts, sides = starts[np.any(sides != 0.0, axis=1)], sides[np.any(sides != 0.0, axis=1)]
        squares = np.sum(sides**2, axis=1)
        found = []
        for block in np.array_split(X, max(1, len(X) // SAMPLES_PER_BLOCK)):
            x, y = (block[:, [i]] - starts[:, i] for i in (0, 1))
            along = np.clip((x * sides[:, 0] + y * sides[:, 1]) / squares, 0.0, 1.0)
            nearest = np.min((x - along * sides[:, 0]) ** 2 + (y - along * sides[:, 1]) ** 2, axis=1)
            found.append(np.sqrt(nearest))
        return np.concatenate(found)


def draw_target(axes: Axes, target: Target) -> None:
    """Draw the target behind the contents of these axes, which become a plain square frame."""
    from matplotlib.patches import Circle, Polygon

    # Unlike add_patch, add_artist does not compute limits, which is slow; they are set below.
    for outline, side in target.build_areas(DRAWN_CORNERS):
        colour = GREY if side == 0 else "white"
        axes.add_artist(Polygon(outline, facecolor=colour, edgecolor="none", zorder=0.5))
    edge = {"facecolor": "none", "edgecolor": OUTLINE, "linewidth": 0.5, "zorder": 0.6}
    axes.add_artist(Circle((0.0, 0.0), PLATE_RADIUS, **edge))
    axes.grid(visible=False)
    limits = (-target.width, target.width)
    axes.set(xlim=limits, ylim=limits, xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set(visible=True, color=OUTLINE)


def _build_arc(
    x: float, radius: float, corners: int, start: float = 0.0, end: float = 2.0 * np.pi
) -> np.ndarray:
    """Return corners of a circle around (x, 0); the last one closes it if it is whole."""
    angles = np.linspace(start, end, corners + 1)
    return np.column_stack([x + radius * np.cos(angles), radius * np.sin(angles)])


CLASS_MARKERS = ("x", "+")  # of class 0, on grey, and class 1, on white: as in the thesis
CLASS_COLOURS = ("grey", "white")


@dataclass(frozen=True)
class PlaneSamples:
    """Generated samples with two features and two classes."""

    X: np.ndarray  # (n_samples, 2)
    y: np.ndarray  # (n_samples,): their labels, 0 or 1
    is_right: np.ndarray  # (n_samples,): whether the label is that of the target
    classes: list[str]
    target: Target  # the rule behind the labels


def can_generate(run: RunResult, dataset: str) -> bool:
    """Return whether all samples of a data set were measured and its target can be drawn."""
    return run.get_generator(dataset) in TARGET_GENERATORS and run.trains_on_all(dataset)


def generate_samples(run: RunResult, place: Place, draw: int, count: int) -> PlaneSamples:
    """Return the samples of a draw, as many as were measured."""
    cell = find_cell(run.manifest, *place)
    split = load_split(cell, draw)
    data, indices = split.data, split.fit_indices
    if len(indices) != count or not isinstance(cell.data, GeneratedData):
        raise ResultsError(
            f"{place[1]} on {place[0]} was measured on {count} samples, but draw {draw} has {len(indices)}: "
            f"the results of '{run.name}' were changed; run: {run.manifest.command(fresh=True)}"
        )
    return build_samples(data, indices, cell.data)


def build_samples(data: DataSet, indices: np.ndarray, spec: GeneratedData) -> PlaneSamples:
    """Return these samples of a generated data set."""
    y, target = data.y[indices], Target(spec.generator, dict(spec.settings).get("eye", 0.0))
    return PlaneSamples(data.X[indices], y, y == data.truth[indices], data.classes, target)


def draw_by_class(
    axes: Axes, samples: PlaneSamples, indices: np.ndarray | None = None, size: float = 4.0
) -> None:
    """Draw these samples, or all, with a marker for each class."""
    indices = np.arange(len(samples.y)) if indices is None else indices
    for index, (marker, colour) in enumerate(zip(CLASS_MARKERS, CLASS_COLOURS, strict=True)):
        X = samples.X[indices[samples.y[indices] == index]]
        name = f"class {samples.classes[index]} ({colour})"
        axes.plot(*X.T, marker, color=style.BLACK, markersize=size, markeredgewidth=0.8, label=name)


FEW, MANY = 3, 11  # subsets in Figures 1.6 and 1.9
COLUMNS = 4
FAINT = "#B4B4B4"


class ShownDraw(NamedTuple):
    """The draw that the figures of a run show."""

    place: Place
    draw: int
    found: PooledMeasurement


def find_shown_draws(run: RunResult) -> list[ShownDraw]:
    """Return the draws whose decomposition is stored and whose samples can be regenerated."""
    found = find_decompositions(run)
    return [
        ShownDraw(place, *find_first_draw(draws))
        for place, draws in found.items()
        if can_generate(run, place[0])
    ]


def choose_draw(run: RunResult) -> tuple[ShownDraw, PlaneSamples]:
    """Return the first draw of the first exact column, or else of the first column, and its samples."""
    shown = min(find_shown_draws(run), key=lambda one: not one.found.exact)
    return shown, generate_samples(run, shown.place, shown.draw, len(shown.found.clusters))


@register_figure("li-thesis-2006/1.4", "Clusters of the concentric disks problem", find_shown_draws, **OF_DISKS)
@register_figure("li-thesis-2006/1.7", "Clusters of the Yin-Yang problem", find_shown_draws, **OF_YIN_YANG)
def draw_clusters(run: RunResult) -> Figure:
    """Draw all samples, with those of one cluster connected."""
    shown, samples = choose_draw(run)
    clusters = np.asarray(shown.found.clusters)
    figure, axes = style.new_axes(4.1)
    draw_target(axes, samples.target)
    lines = [
        segment for cluster in np.unique(clusters) for segment in build_tree(samples.X[clusters == cluster])
    ]
    gap = np.full(2, np.nan)
    path = np.array([end for segment in lines for end in (*segment, gap)]).reshape(-1, 2)
    axes.plot(*path.T, color=style.BLUE, linestyle=style.DOTTED, label="within a cluster")
    draw_by_class(axes, samples)
    count = len(np.unique(clusters))
    axes.set_title(f"draw {shown.draw}: {len(clusters)} samples in {count} clusters")
    style.add_legend_below(figure, [axes], 3)
    return figure


def build_tree(X: np.ndarray) -> list[np.ndarray]:
    """Return the lines, two ends each, of the shortest tree that connects these samples."""
    inside, lines = [0], []
    while len(inside) < len(X):
        outside = [i for i in range(len(X)) if i not in inside]
        gaps = np.linalg.norm(X[inside][:, None, :] - X[outside][None, :, :], axis=2)
        a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
        lines.append(np.array([X[inside[a]], X[outside[b]]]))
        inside.append(outside[b])
    return lines


@register_figure(
    "li-thesis-2006/1.6",
    "Three selected principal subsets of the concentric disks problem",
    find_shown_draws,
    source_figure="1.5",
    legend=SELECTED_LEGEND,
)
def draw_three_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.6: three principal subsets."""
    return _draw_subsets(run, FEW)


@register_figure(
    "li-thesis-2006/1.9",
    "Eleven selected principal subsets of the Yin-Yang problem",
    find_shown_draws,
    source_figure="1.8",
    legend=SELECTED_LEGEND,
)
def draw_eleven_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.9: eleven principal subsets."""
    return _draw_subsets(run, MANY)


def select_evenly(items: list[Value], count: int) -> list[Value]:
    """Return `count` items of a list, or all if fewer: the first, the last, and others evenly between."""
    places = np.linspace(0, len(items) - 1, min(count, len(items)))
    return [items[round(place)] for place in places]


def _draw_subsets(run: RunResult, count: int) -> Figure:
    """Draw the first subset of selected principal points; samples outside of it are faint dots."""
    shown, samples = choose_draw(run)
    points = select_evenly(shown.found.points, count)
    columns = min(COLUMNS, len(points)) if len(points) != FEW else FEW
    size = style.PAGE / max(columns, FEW)
    names = [
        (subsets[0], f"({letter}) ({complexity}, {error})")
        for letter, (complexity, error, _, subsets) in zip(string.ascii_lowercase, points, strict=False)
    ]
    of = f"{len(points)} of {len(shown.found.points)} principal points"
    layout = (columns, size + 0.14, 0.5, 2.0 * size if len(points) > FEW else 4.5)
    return draw_subsets(shown, samples, names, of, layout)


def draw_subsets(
    shown: ShownDraw,
    samples: PlaneSamples,
    subsets: Sequence[tuple[int, str]],
    of: str,
    layout: tuple[int, float, float, float],
) -> Figure:
    """Draw a panel for each subset, above its name; `layout` has columns, heights, and the size of markers."""
    columns, row, extra, size = layout
    height = math.ceil(len(subsets) / columns) * row + extra
    figure, panels = style.new_grid(style.PAGE, height, len(subsets), columns)
    for panel, (subset, name) in zip(panels, subsets, strict=True):
        draw_target(panel, samples.target)
        draw_subset(panel, samples, find_samples(shown.found.clusters, subset), size)
        panel.set_xlabel(name)
    figure.suptitle(f"draw {shown.draw}: (complexity, error) of {of}", fontsize="medium")
    style.add_legend_below(figure, panels, 3)
    return figure


def draw_subset(panel: Axes, samples: PlaneSamples, inside: np.ndarray, size: float) -> None:
    """Draw the samples of a subset by class, and those outside of it as faint dots."""
    outside = np.setdiff1d(np.arange(len(samples.y)), inside)
    faint = samples.X[outside].T
    panel.plot(*faint, linestyle="none", marker=".", markersize=2, color=FAINT, label="left out")
    draw_by_class(panel, samples, inside, size)


BAND_OPACITY = 0.2
PUBLISHED_LIMIT, LIMIT_LABEL = 2.5, "wrong, thesis: around 2.5"  # what contributions converge to
MAX_CURVE_NAME_LENGTH = style.MAX_NAME_LENGTH - len(": 0.000")
CORNER = 0.35  # side of the corner of good scores
ESTIMATORS = {"auc": "average contribution", "auc_least_squares": "least squares"}  # of contributions


@register_figure(
    "li-thesis-2006/1.11",
    "Average complexity contribution of samples with right and wrong labels",
    find_growth_by_size,
    legend="Bands: the range over draws.",
    spread="bands: the range over draws",
)
def draw_contribution_by_size(run: RunResult) -> Figure:
    """Draw what a sample adds to a subset, by subset size: the mean of all draws and their range."""
    draws = next(iter(find_growth_by_size(run).values()))
    size = find_first_draw(draws)[1].shape[1]
    curves = [curve for curve in draws.values() if curve.shape[1] == size]
    several = "" if len(curves) == 1 else f", mean of {len(curves)} draws and their range"
    figure, axes = style.new_axes(3.2, style.PAGE)
    for name, group, colour in (("wrong", 1, style.VERMILION), ("right", 0, style.BLUE)):
        of_draws = np.array([curve[group] for curve in curves])
        counted = np.isfinite(of_draws).any(axis=0)  # with few paths, no wrong label may have joined this early
        x, of_draws = np.flatnonzero(counted), of_draws[:, counted]
        axes.plot(x, np.nanmean(of_draws, axis=0), color=colour, label=f"{name} labels")
        if several:
            low, high = np.nanmin(of_draws, axis=0), np.nanmax(of_draws, axis=0)
            axes.fill_between(x, low, high, color=colour, alpha=BAND_OPACITY, linewidth=0)
    axes.axhline(PUBLISHED_LIMIT, color=style.BLACK, linewidth=0.8, linestyle=style.DOTTED, label=LIMIT_LABEL)
    axes.set(xlim=(0, size), xlabel="subset size", ylabel="average complexity contribution")
    axes.set_title(f"{size} samples{several}")
    style.add_legend_below(figure, [axes], 3)
    return figure


class RocCurve(NamedTuple):
    """A ROC curve of one draw, and the AUC of every draw."""

    rates: tuple[np.ndarray, np.ndarray]
    areas: list[float]


@register_figure(
    "li-thesis-2006/1.12",
    "ROC curves of scores of wrong labels",
    find_outlier_scores,
    legend="The thesis has average contribution and least squares; the best AUC comes first in the legend.",
)
def draw_roc_curves(run: RunResult) -> Figure:
    """Draw the curves of one draw, whole and near their best corner, for every column that has it.

    It is the first draw of the first data set that most columns have. AUCs are means over the data set with the
    most draws, and the legend lists the best first.
    """
    places = find_outlier_scores(run)
    dataset = next(iter(places))[0]
    found = {learner: draws for (d, learner), draws in places.items() if d == dataset}
    common = Counter(draw for draws in found.values() for draw in draws)
    shown = max(sorted(common), key=lambda draw: common[draw])
    curves = {}
    for (learner, metric), name in _name_curves(run, found).items():
        if shown in found[learner]:
            scored = found[learner][shown]
            most = max((draws for (_, x), draws in places.items() if x == learner), key=len)
            curves[name] = RocCurve(
                compute_roc_curve(scored.scores[metric], scored.is_flipped),
                [compute_auc(each.scores[metric], each.is_flipped) for each in most.values()],
            )
    return _draw_panels(curves, shown)


def _name_curves(run: RunResult, found: dict[str, dict[int, OutlierScores]]) -> dict[tuple[str, str], str]:
    """Return the name of each column's and metric's curve: contributions have two estimators."""
    titles, names = build_column_titles(run.learners), {}
    firsts = {learner: find_first_draw(draws)[1] for learner, draws in found.items()}
    several = sum(first.is_contribution for first in firsts.values()) > 1
    for learner, first in firsts.items():
        for metric in first.scores:
            if not first.is_contribution:
                names[learner, metric] = titles[learner]
            elif not several:
                names[learner, metric] = ESTIMATORS[metric]
            else:
                names[learner, metric] = f"{titles[learner]}, {ESTIMATORS[metric].split()[0]}"
    return names


def _draw_panels(curves: dict[str, RocCurve], draw: int) -> Figure:
    figure, panels = style.new_grid(style.PAGE, 4.0, 2, 2)
    labels = {
        name: f"{style.shorten(name, MAX_CURVE_NAME_LENGTH)}: {fmean(curve.areas):.3f}"
        for name, curve in curves.items()
    }
    for panel, limit in zip(panels, (1.0, CORNER), strict=True):
        for (name, curve), pen in zip(curves.items(), style.build_line_styles(len(curves)), strict=True):
            panel.plot(*curve.rates, color=pen.colour, linestyle=pen.dashes, label=labels[name])
        room = 0.02 * limit
        panel.set(xlim=(-room, limit), ylim=(-room, limit), xlabel="false positive rate", aspect="equal")
    panels[0].set_ylabel("false negative rate")
    counts = sorted({len(curve.areas) for curve in curves.values()})
    of = "AUC" if counts == [1] else f"mean AUC of {' or '.join(map(str, counts))} draws"
    panels[0].set_title(f"draw {draw}; in the legend: {of}")
    panels[1].set_title("the corner of the best")
    best_first = sorted(curves, key=lambda name: -fmean(curves[name].areas))
    style.add_legend_below(figure, panels, 3, [labels[name] for name in best_first])
    return figure
