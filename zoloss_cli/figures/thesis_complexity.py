"""Figures of chapter 1 of Li's thesis (2006): complexity, errors, and subsets of the plane."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zoloss_cli.complexity.contribution import descend_rightmost_segment
from zoloss_cli.complexity.decomposition import (
    NOISY_THRESHOLD,
    TYPICAL_THRESHOLD,
    categorize_contributions,
    cluster_samples,
)
from zoloss_cli.complexity.hard_margin import (
    HardMarginProblem,
    build_problem,
    compute_path_complexities,
    fit_hard_margin_svm,
)
from zoloss_cli.complexity.measures import LookupComplexity, compute_entry_cost, find_lookup_complexity
from zoloss_cli.config.models import GeneratedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.generators import DISK_RADII
from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure, register_figures
from zoloss_cli.figures.thesis_samples import (
    OF_DISKS,
    TARGET_LEGEND,
    OutlierScores,
    PlaneSamples,
    ShownDraw,
    build_samples,
    can_generate,
    choose_draw,
    draw_subset,
    draw_subsets,
    draw_target,
    find_contributions,
    find_decompositions,
    find_first_draw,
    find_shown_draws,
    generate_samples,
)
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.report.papers import find_published_cells
from zoloss_cli.report.runs import Place, RunResult, build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

HALVES_LEGEND = f"By complexity, at most two subsets of each principal point. {TARGET_LEGEND}"
OF_HALVES = {"source_figure": "1.8", "legend": HALVES_LEGEND}
DISKS_ORIGIN = "disks, the first draw of configs/thesis/figure1.5.yaml: whole set"
MAX_SUBSETS_PER_POINT = 2  # "only two are shown for space reason"
COLUMNS = 6


def list_subsets(shown: ShownDraw, most: int | None = None) -> list[tuple[int, str]]:
    """Return the stored principal subsets by complexity, at most `most` for each point, and their names."""
    return [
        (subset, f"({complexity}, {error})")
        for complexity, error, _, subsets in shown.found.points
        for subset in subsets[:most]
    ]


@register_figure(
    "li-thesis-2006/1.14", "All principal subsets of the concentric disks problem", find_shown_draws, **OF_DISKS
)
def draw_all_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.14: every principal subset of the first draw."""
    shown, samples = choose_draw(run)
    return _draw_panels(shown, samples, list_subsets(shown))


@register_figure(
    "li-thesis-2006/1.15", "Principal subsets of the Yin-Yang problem, part I", find_shown_draws, **OF_HALVES
)
def draw_first_half(run: RunResult) -> Figure:
    """Draw Figure 1.15: the simpler half of the principal subsets, at most two of each point."""
    shown, samples = choose_draw(run)
    subsets = list_subsets(shown, MAX_SUBSETS_PER_POINT)
    return _draw_panels(shown, samples, subsets[: math.ceil(len(subsets) / 2)])


@register_figure(
    "li-thesis-2006/1.16", "Principal subsets of the Yin-Yang problem, part II", find_shown_draws, **OF_HALVES
)
def draw_second_half(run: RunResult) -> Figure:
    """Draw Figure 1.16: the more complex half of the principal subsets, at most two of each point."""
    shown, samples = choose_draw(run)
    subsets = list_subsets(shown, MAX_SUBSETS_PER_POINT)
    return _draw_panels(shown, samples, subsets[math.ceil(len(subsets) / 2) :])


def _draw_panels(shown: ShownDraw, samples: PlaneSamples, subsets: list[tuple[int, str]]) -> Figure:
    of = sum(count for _, _, count, _ in shown.found.points)
    layout = (max(1, min(COLUMNS, len(subsets))), style.PAGE / COLUMNS + 0.12, 0.6, 2.6)
    return draw_subsets(shown, samples, subsets, f"{len(subsets)} of {of} principal subsets", layout)


COUNTS = {"principal_points": "points", "principal_subsets": "subsets"}
PAIR_COLOUR = "#6E6E6E"
PUBLISHED_LOOK: dict[str, Any] = {"markersize": 14, "markeredgewidth": 1.6, "label": "published value"}
PUBLISHED_LOOK["color"] = style.BLACK
MAX_ERROR_OF_LARGE_DOTS = 40  # maximum error with room for larger dots
MAX_SPREAD, SPREAD_STEP = 0.7, 0.16  # of equal numbers from several draws, as shares of their line's height


@register_figures(
    {
        "li-thesis-2006/1.5": "Complexity-error plots of the concentric disks problem",
        "li-thesis-2006/1.8": "Complexity-error plot of the Yin-Yang problem",
    },
    find_decompositions,
    legend="Above: the first draw; below: the counts of all draws.",
)
def draw_complexity_error(run: RunResult) -> Figure:
    """Draw the pairs of each complete column's first draw above, and the counts of all draws below."""
    found = find_decompositions(run)
    exact = _select_one_a_column(found, lambda place: bool(find_first_draw(found[place])[1].exact))
    shown = exact or [next(iter(found))]
    counted = _select_one_a_column(found, lambda place: len(found[place]))
    figure = style.new_figure(style.PAGE, 3.5 + 0.44 * len(counted))
    grid = figure.add_gridspec(2, len(shown), height_ratios=[2.6, 0.44 * len(counted) + 0.2])
    titles = build_column_titles(run.learners)
    panels = [figure.add_subplot(grid[0, i]) for i in range(len(shown))]
    for panel, place in zip(panels, shown, strict=True):
        _draw_pairs(panel, titles[place[1]], *find_first_draw(found[place]))
    below = figure.add_subplot(grid[1, :])
    _draw_counts(below, run, {place: list(found[place].values()) for place in counted})
    style.add_legend_below(figure, [*panels, below], 4)
    return figure


def _select_one_a_column(found: dict[Place, dict], rate: Callable[[Place], int]) -> list[Place]:
    """Return for each column the data set with the highest rating, the first on a tie; none if that is 0."""
    best: dict[str, Place] = {}
    for place in found:
        if rate(place) and (place[1] not in best or rate(place) > rate(best[place[1]])):
            best[place[1]] = place
    return list(best.values())


def _draw_pairs(axes: Axes, title: str, draw: int, found: PooledMeasurement) -> None:
    principal = [point[:2] for point in found.points]
    others = [pair for pair in found.pairs if tuple(pair) not in principal]
    is_small = max(error for _, error in found.pairs) > MAX_ERROR_OF_LARGE_DOTS
    dots: dict[str, Any] = {"color": PAIR_COLOUR, "markersize": 1.4 if is_small else 2.5}
    axes.plot(*_transpose(principal), ".", **dots)
    if others:
        axes.plot(*_transpose(others), ".", **dots, label="pair of a subset")
    circle_principal_points(axes, *_transpose(principal))
    only = "" if found.exact else " (principal points only)"
    counts = ", ".join(f"{getattr(found, metric) or 0} principal {what}" for metric, what in COUNTS.items())
    axes.set(title=f"{style.shorten(title)}, draw {draw}{only}\n{counts}")
    axes.set(xlabel="complexity (support vectors)", ylabel="error (samples left out)")


def circle_principal_points(axes: Axes, complexities: ArrayLike, errors: ArrayLike) -> None:
    """Draw circles around the principal points of a complexity-error plot."""
    pen: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6, "markerfacecolor": "none"}
    axes.plot(complexities, errors, **pen, color=style.VERMILION, label="principal point")


def _transpose(points: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [c for c, _ in points], [e for _, e in points]


def _draw_counts(axes: Axes, run: RunResult, columns: dict[Place, list[PooledMeasurement]]) -> None:
    """Draw a line for each column and kind of count, a dot per draw, and the published value."""
    cells = find_published_cells(run.experiment.published)
    published = {(learner, metric): cell.value for (_, learner, metric), cell in cells.items()}
    titles = build_column_titles(run.learners)
    names: list[str] = []
    for (_, learner), draws in columns.items():
        for metric, what in COUNTS.items():
            height = len(names)
            names.append(f"{style.shorten(titles[learner])}: {what}")
            values = [getattr(found, metric) or 0 for found in draws]
            label = "count, one dot per draw"
            axes.plot(values, spread_equal(values, height), "o", markersize=2.5, color=style.BLUE, label=label)
            if (learner, metric) in published:
                axes.plot(published[learner, metric], height, "|", **PUBLISHED_LOOK)
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set(xlim=(0, 1.03 * axes.get_xlim()[1]), xlabel="principal points and subsets")


def spread_equal(values: list[int], height: float) -> list[float]:
    """Return a height for each value, near the given one, so that equal values are drawn side by side."""
    counts, met, places = Counter(values), Counter[int](), []
    for value in values:
        step = min(SPREAD_STEP, MAX_SPREAD / counts[value])
        places.append(height + step * (met[value] - (counts[value] - 1) / 2.0))
        met[value] += 1
    return places


# The first draw of configs/thesis/figure1.5.yaml, for figures without results.

DISKS = GeneratedData(name="disks", generator="disks", size=31, seed=1)


def load_disks() -> PlaneSamples:
    """Return the disks, without reading the config."""
    data = load_data(DISKS)
    return build_samples(data, np.arange(len(data.y)), DISKS)


def select_example_subsets(samples: PlaneSamples) -> dict[str, np.ndarray]:
    """Return the indices of all samples, of the two outer rings, of the middle disk, and of the grey class."""
    radius = np.hypot(*samples.X.T)
    inner, middle, _ = DISK_RADII
    return {
        "all samples": np.arange(len(samples.y)),
        "two outer rings": np.flatnonzero(radius > inner),
        "within the middle disk": np.flatnonzero(radius <= middle),
        f"all of class {samples.classes[0]}": np.flatnonzero(samples.y == 0),
    }


@register_figure(
    "li-thesis-2006/1.1", "Subsets of the concentric disks problem, and their complexity", origin=DISKS_ORIGIN
)
def draw_example_subsets() -> Figure:
    """Draw four subsets, each with its complexity: leaving samples out makes the rest simpler."""
    samples = load_disks()
    problem = build_problem(samples.X, samples.y)
    subsets = select_example_subsets(samples)
    figure, panels = style.new_grid(style.PAGE, 2.5, len(subsets), len(subsets))
    for letter, panel, (title, inside) in zip(string.ascii_lowercase, panels, subsets.items(), strict=False):
        draw_target(panel, samples.target)
        draw_subset(panel, samples, inside, 3.5)
        complexity = len(fit_hard_margin_svm(problem, inside).support)
        panel.set_title(title)
        panel.set_xlabel(f"({letter}) {len(inside)} samples, complexity {complexity}")
    style.add_legend_below(figure, panels, 3)
    return figure


# The thesis's own figures are fictional. These are measured on the concentric disks of the first draw of
# configs/thesis/figure1.5.yaml, and need no results. Hypotheses are the SVMs of all unions of clusters, so that
# each point of the second set belongs to one of the first; |h| is the number of support vectors.

N_CLUSTERS = 10  # with 1,023 unions
PATH_SEED = 1
SUBSETS, HYPOTHESES = "subsets, Ω₁", "hypotheses, Ω₂"


class Pairs(NamedTuple):
    """Pairs of complexity and error, equally many of both kinds."""

    # (n_unions, 2): The complexity of each union of clusters, and the number of samples it leaves out: Eq.
    # (1.9).
    subsets: np.ndarray
    # (n_unions, 2): the complexity of the SVM of each union, and its errors on all samples
    hypotheses: np.ndarray


def measure_pairs(problem: HardMarginProblem, clusters: np.ndarray) -> Pairs:
    """Return the pairs of all nonempty unions of clusters."""
    subsets, hypotheses = [], []
    for union in range(1, 2 ** (int(clusters.max()) + 1)):
        inside = np.flatnonzero(union >> clusters & 1)
        svm = fit_hard_margin_svm(problem, inside)
        scores = problem.K[:, svm.support] @ svm.coefficients + svm.bias
        complexity = len(svm.support)
        subsets.append((complexity, len(problem) - len(inside)))
        hypotheses.append((complexity, int(np.sum(predict_signs(scores) != problem.y))))
    return Pairs(np.array(subsets), np.array(hypotheses))


def find_principal_pairs(pairs: np.ndarray) -> np.ndarray:
    """Return the pairs that no other pair equals or beats in both (Definition 1.4), by complexity."""
    kept: list[np.ndarray] = []
    for pair in np.unique(pairs, axis=0):  # by complexity, then by error
        if not kept or pair[1] < kept[-1][1]:
            kept.append(pair)
    return np.array(kept)


@register_figure(
    "li-thesis-2006/1.2",
    "Complexity-error plots of subsets and of hypotheses, measured where the thesis's are fictional",
    origin=DISKS_ORIGIN,
)
def draw_pairs_of_both_kinds() -> Figure:
    """Draw Figure 1.2: the pairs of subsets next to those of hypotheses, with equal axes."""
    pairs = measure_pairs(*_load_clusters())
    figure, panels = style.new_grid(style.PAGE, 3.0, 2, 2, sharex=True, sharey=True)
    for panel, title, found in zip(panels, (SUBSETS, HYPOTHESES), pairs, strict=True):
        _plot_pairs(panel, found)
        panel.set_title(title)
    return figure


@register_figure(
    "li-thesis-2006/1.3", "A complexity-error plot with principal points circled", origin=DISKS_ORIGIN
)
def draw_principal_pairs() -> Figure:
    """Draw Figure 1.3: the pairs of subsets, the principal points circled."""
    found = measure_pairs(*_load_clusters()).subsets
    figure, axes = style.new_axes(3.0)
    _plot_pairs(axes, found)
    circle_principal_points(axes, *find_principal_pairs(found).T)
    axes.legend(loc="upper right")
    return figure


@register_figure(
    "li-thesis-2006/1.10", "A complexity-error path, and the rightmost segment", origin=DISKS_ORIGIN
)
def draw_complexity_error_path() -> Figure:
    """Draw Figure 1.10: samples join one by one in a random order; and the descent from all samples."""
    problem, _ = _load_clusters()
    order = np.random.default_rng(PATH_SEED).permutation(len(problem))
    complexities = compute_path_complexities(problem, order)
    errors = len(problem) - np.arange(len(complexities))
    figure, axes = style.new_axes(3.4)
    grows = np.diff(complexities) > 0
    for wanted, colour, name in (
        (False, style.BLUE, "agrees with the rule so far"),
        (True, style.VERMILION, "makes the rule more complex"),
    ):
        path = [(complexities[[n, n + 1, n]], errors[[n, n + 1, n]]) for n in np.flatnonzero(grows == wanted)]
        x, y = (np.concatenate([[*part[k][:2], np.nan] for part in path]) for k in (0, 1))
        axes.plot(x, y, color=colour, marker=".", markersize=3, label=name)
    removed = descend_rightmost_segment(problem).complexities
    pen: dict[str, Any] = {"color": style.BLACK, "linestyle": style.DASHED, "marker": "s", "markersize": 3}
    axes.plot(removed, np.arange(len(removed)), label="largest contribution removed", **pen)
    _label_axes(axes)
    style.add_legend_below(figure, [axes], 1)
    return figure


def _load_clusters() -> tuple[HardMarginProblem, np.ndarray]:
    samples = load_disks()
    problem = build_problem(samples.X, samples.y)
    return problem, cluster_samples(problem, N_CLUSTERS)


def _plot_pairs(axes: Axes, pairs: np.ndarray) -> None:
    dots: dict[str, Any] = {"linestyle": "none", "color": PAIR_COLOUR, "marker": ".", "markersize": 2.5}
    axes.plot(*np.unique(pairs, axis=0).T, **dots)
    _label_axes(axes)


def _label_axes(axes: Axes) -> None:
    axes.set(xlabel="complexity (support vectors)", ylabel="error (samples)")


# As in the thesis: a dot, an empty circle, a filled square.
MARKERS: dict[str, dict[str, Any]] = {
    "typical": {"marker": ".", "markersize": 2.5, "color": "#6E6E6E"},
    "critical": {"marker": "o", "markersize": 4, "markerfacecolor": "none", "color": style.BLUE},
    "noisy": {"marker": "s", "markersize": 3, "color": style.VERMILION},
}
CATEGORY_LABELS = {
    "typical": f"typical: below {TYPICAL_THRESHOLD:.2f}",
    "critical": "critical: between",
    "noisy": f"noisy: above {NOISY_THRESHOLD:g}",
}


def _find_drawable(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    return {place: draws for place, draws in find_contributions(run).items() if can_generate(run, place[0])}


@register_figure(
    "li-thesis-2006/1.13",
    "Fingerprint plot by average complexity contribution",
    _find_drawable,
    legend="Above zero, the label is the target's; below, it is wrong.",
)
def draw_fingerprint(run: RunResult) -> Figure:
    """Draw the samples of the first draw in order, wrong labels last, by category of contribution."""
    place, draws = next(iter(_find_drawable(run).items()))
    draw, found = find_first_draw(draws)
    scores, wrong = found.scores["auc"], found.is_flipped
    samples = generate_samples(run, place, draw, len(scores))
    order = np.argsort(wrong, kind="stable")
    # Distances to the target's boundary, negative if the label is wrong.
    distances = np.where(samples.is_right, 1.0, -1.0) * samples.target.compute_distances(samples.X)
    heights, wrong = distances[order], wrong[order]
    categories = categorize_contributions(scores)[order]
    figure, axes = style.new_axes(3.6, style.PAGE)
    for category, pen in MARKERS.items():
        at = np.flatnonzero(categories == category)
        axes.plot(at, heights[at], linestyle="none", label=CATEGORY_LABELS[category], **pen)
    axes.axhline(0.0, color=style.BLACK, linewidth=0.6)
    axes.axvline(np.sum(~wrong) - 0.5, color=style.BLACK, linewidth=0.8, linestyle=style.DASHED)
    axes.set(xlim=(-2, len(order) + 1), xlabel="sample, those with wrong labels last")
    axes.set_ylabel("signed distance to the boundary")
    parts = {"right": categories[~wrong], "wrong": categories[wrong]}
    counts = "; ".join(f"{name} labels: {_count_categories(part)}" for name, part in parts.items())
    axes.set_title(f"draw {draw}\n{counts}")
    style.add_legend_below(figure, [axes], 3)
    return figure


def _count_categories(categories: np.ndarray) -> str:
    return ", ".join(f"{np.sum(categories == category)} {category}" for category in MARKERS)


COSTS = np.linspace(0.05, 6.0, 120)
NOISE = np.geomspace(0.005, 0.49, 60)


@register_figure(
    "lookup",
    "Complexity with a lookup table by the cost of an error",
    find_decompositions,
    legend="Lines: means over draws, of the principal points (Definition 1.3 of Li's thesis).",
    requirement="decompositions of data sets, by the measure decomposition",
    is_covered=True,
)
def draw_trade_off(run: RunResult) -> Figure:
    """Draw the complexity by the cost lambda of an entry, and the errors by the probability of noise."""
    titles = build_column_titles(run.learners)
    found = find_decompositions(run)
    figure, (left, right) = style.new_grid(style.PAGE, 2.9, 2, 2)
    for pen, (place, draws) in zip(style.build_line_styles(len(found)), found.items(), strict=True):
        name = f"{titles[place[1]]}, {place[0]}"
        several = list(draws.values())
        _plot_mean(left, COSTS, [[_find(d, cost).value for cost in COSTS] for d in several], pen, name)
        errors = [[float(_find(d, compute_entry_cost(p)).error) for p in NOISE] for d in several]
        _plot_mean(right, NOISE, errors, pen, name)
    left.set(xlabel="cost λ of an error", ylabel="complexity with a lookup table", ylim=(0.0, None))
    right.set(xlabel="probability ε of a wrong label, λ = log₂(1/ε − 1)", ylabel="samples in the table")
    style.add_legend_below(figure, [left, right], 3)
    return figure


def _find(found: PooledMeasurement, cost: float) -> LookupComplexity:
    return find_lookup_complexity([point[:2] for point in found.points], cost)


def _plot_mean(axes: Axes, x: np.ndarray, draws: list[list[float]], pen: style.LineStyle, name: str) -> None:
    style.plot_line(axes, x, np.mean(draws, axis=0), pen, name)
