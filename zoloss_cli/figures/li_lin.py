"""Figures around Li & Lin (2007): convergence, bounds for perceptrons, and RCD step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.figures import style
from zoloss_cli.figures.curves import find_curves
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.figures.nguyen_sanner import CLASS_MARKERS, SAMPLE_COLOUR, clip_line, compute_box
from zoloss_cli.figures.style import find_line_style
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.report.runs import RunResult, build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOLERANCE = 1e-9  # of errors in percent, which are multiples of 100 over the number of samples


def find_minimum(run: RunResult, dataset: str) -> np.ndarray | None:
    """Return the training errors (%) that some learner proved minimal in every split, if one did."""
    for learner in run.learners:
        cell = run.cells.get((dataset, learner))
        if cell is None or "lower_bound" not in cell or "train_01_loss" not in cell:
            continue
        if np.array_equal(cell["lower_bound"], cell["train_01_loss"]):
            return np.asarray(cell["train_error"], dtype=float)
    return None


def has_minimum(run: RunResult) -> bool:
    """Return whether the first data set has a known minimum, and learners with recorded epochs."""
    dataset = run.datasets[0]
    return bool(find_curves(run, dataset, "train_error")) and find_minimum(run, dataset) is not None


def compute_shares(run: RunResult, dataset: str) -> dict[str, np.ndarray]:
    """Return for each learner the share of splits (%) at the minimum after each recorded epoch."""
    minimum = find_minimum(run, dataset)
    assert minimum is not None
    curves = find_curves(run, dataset, "train_error")
    return {
        learner: 100.0 * np.mean(found.values["train_error"] <= minimum[:, None] + TOLERANCE, axis=0)
        for learner, found in curves.items()
        if len(found.values["train_error"]) == len(minimum)
    }


@register_figure(
    "convergence",
    "Share of splits at the minimum by epoch",
    has_minimum,
    requirement="learners that record their epochs, and one that proves the fewest errors, such as certify",
)
def draw_shares(run: RunResult) -> Figure:
    """Draw the shares of the first data set by epoch."""
    dataset = run.datasets[0]
    titles, curves = build_column_titles(run.learners), find_curves(run, dataset, "train_error")
    shares = compute_shares(run, dataset)
    figure, axes = style.new_axes(3.2)
    for i, (pen, (learner, share)) in enumerate(
        zip(style.build_line_styles(len(shares)), shares.items(), strict=True)
    ):
        style.plot_line(axes, curves[learner].epochs, share, pen, titles[learner], shift=3 * i)
    axes.set(xlabel="epochs", ylabel="splits at the minimum (%)", ylim=(-3.0, 103.0))
    axes.set_xlim(left=0)
    style.add_legend_below(figure, [axes], 2)
    return figure


COLUMNS = 2
MARKERS_PER_DECADE = 6  # markers per factor of ten that the eye can distinguish
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LINE_NAME = "counted = bound"


def has_bounds(run: RunResult) -> bool:
    """Return whether some learner reports what it counted and what the bound is."""
    return any("bound_ratio" in cell for cell in run.cells.values())


@register_figure(
    "bounds",
    "What was counted against what a theorem allows",
    has_bounds,
    legend="One marker per data set, or for several in one place; none may lie above the line.",
    requirement="learners that report what they counted and its bound, such as mistake-bound",
)
def draw_counted_against_bound(run: RunResult) -> Figure:
    """Draw both on logarithmic axes; on the line, they are equal."""
    found = {learner for (_, learner), cell in run.cells.items() if "bound_ratio" in cell}
    bounded = [learner for learner in run.learners if learner in found]
    titles = build_column_titles(run.learners)
    legend_columns = 5 if len(bounded) > 1 else 2
    legend_rows = math.ceil((len(run.datasets) + 1) / legend_columns)
    figure, panels, columns = style.new_panels(len(bounded), COLUMNS, 2.4, 0.16 * legend_rows + 0.2)
    for panel, learner in zip(panels, bounded, strict=True):
        _draw_theorem(panel, run, learner)
        panel.set_title(style.shorten(titles[learner]))
    style.label_outer(panels, columns, "bound", "counted")
    style.add_legend_below(figure, panels, legend_columns, [*run.datasets, LINE_NAME])
    return figure


def _draw_theorem(axes: Axes, run: RunResult, learner: str) -> None:
    pens = dict(zip(run.datasets, style.build_line_styles(len(run.datasets)), strict=True))
    for dataset, points in _thin_out(run, learner).items():
        bounds, counted = zip(*points, strict=True)
        style.plot_hollow(axes, bounds, counted, pens[dataset], dataset, 0.6)
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_format_power_of_ten)
    axes.minorticks_off()
    ends = [axes.get_ylim()[0], axes.get_xlim()[1]]
    axes.plot(ends, ends, color="black", linewidth=0.8, linestyle=style.DASHED, label=LINE_NAME)


def _format_power_of_ten(value: float, _: object) -> str:
    """Return 10³ as text, since figures do not parse math."""
    power = round(math.log10(value))
    return f"{value:g}" if abs(power) < 2 else "10" + str(power).translate(SUPERSCRIPTS)


def _thin_out(run: RunResult, learner: str) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each data set; among overlapping ones, only the one nearest to the line."""
    shown: dict[tuple, tuple[float, str, tuple[float, float]]] = {}
    for dataset in run.datasets:
        cell = run.cells.get((dataset, learner))
        if cell is None or "bound_ratio" not in cell:
            continue
        values = (cell.get_counts("bound"), cell.get_counts("counted"), cell["bound_ratio"])
        for bound, counted, ratio in zip(*values, strict=True):
            place = tuple(round(MARKERS_PER_DECADE * math.log10(max(v, 1.0))) for v in (bound, counted))
            if place not in shown or ratio > shown[place][0]:
                shown[place] = ratio, dataset, (bound, counted)
    points: dict[str, list[tuple[float, float]]] = {}
    for _, dataset, point in shown.values():
        points.setdefault(dataset, []).append(point)
    return points


# The bound of the cone search in the plane, where a cone is an interval of angles.

DATA = EmbeddedData(name="iris", dataset="iris", positive="Iris-versicolor")
FEATURES = (1, 3)  # width of sepals and of petals
SHOWN_CONE = (120.0, 150.0)  # degrees, on the left
N_ROOTS = 3  # cones that the search starts with
N_ANGLES = 721
MAX_FRAMES = 24
ORIGIN = "iris, versicolor (+) against the rest (o): all 150 samples, two of four features"
MIN_DEGREES = 0.01  # of a cone: samples on a grid tie in some directions


@dataclass(frozen=True)
class AngleCone:
    """A cone of directions in the plane, and the pairs that conflict in it."""

    first: float  # its angles, in degrees
    last: float
    # A maximum matching of conflicting pairs: indices of a positive and a negative sample
    pairs: list[tuple[int, int]]


def load_plane() -> tuple[np.ndarray, np.ndarray]:
    """Return the positive and the negative samples."""
    data = load_data(DATA)
    X = data.X[:, FEATURES]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[data.y == 1], X[data.y == 0]


def _project(X: np.ndarray, degrees: float) -> np.ndarray:
    return X @ np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def match_conflicts(positive: np.ndarray, negative: np.ndarray, first: float, last: float) -> AngleCone:
    """Return the cone between two angles with a maximum matching of its conflicting pairs."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    conflicts = np.ones((len(positive), len(negative)), bool)
    for angle in (first, last):
        conflicts &= _project(positive, angle)[:, None] <= _project(negative, angle)[None, :] + 1e-12
    mates = maximum_bipartite_matching(csr_matrix(conflicts), perm_type="column")
    return AngleCone(first, last, [(i, int(j)) for i, j in enumerate(mates) if j >= 0])


def split_cones(positive: np.ndarray, negative: np.ndarray, target: int) -> list[AngleCone]:
    """Return cones that cover all directions, each with at least `target` pairs or below MIN_DEGREES."""
    waiting = [(360.0 * k / N_ROOTS, 360.0 * (k + 1) / N_ROOTS) for k in reversed(range(N_ROOTS))]
    leaves = []
    while waiting:
        first, last = waiting.pop()
        cone = match_conflicts(positive, negative, first, last)
        if len(cone.pairs) >= target or last - first < MIN_DEGREES:
            leaves.append(cone)
        else:
            middle = (first + last) / 2
            waiting += [(middle, last), (first, middle)]
    return leaves


def count_fewest_errors(positive: np.ndarray, negative: np.ndarray, degrees: float) -> int:
    """Return the errors of the best threshold in one direction, with positive samples above it.

    In one direction, the fewest errors equal the size of a maximum matching of conflicting pairs (König's
    theorem).
    """
    above, below = np.sort(_project(positive, degrees)), np.sort(_project(negative, degrees) + 1e-12)
    lost = np.searchsorted(above, below, side="right")  # positive samples at or below a negative one
    kept = np.arange(len(below), 0, -1) - 1  # negative samples above that threshold
    return int(min((lost + kept).min(), len(below)))


def draw_search_frames() -> list[Figure]:
    """Draw the search cone by cone: each frame adds one of the cones that prove the bound."""
    positive, negative = load_plane()
    angles = np.linspace(0.0, 360.0, N_ANGLES // 2)
    errors = np.array([count_fewest_errors(positive, negative, angle) for angle in angles])
    leaves = split_cones(positive, negative, int(errors.min()))
    numbers = sorted({round(n) for n in np.linspace(1, len(leaves), min(MAX_FRAMES, len(leaves)))})
    frames = []
    for number in numbers:
        cone = leaves[number - 1]
        figure, (left, right) = style.new_grid(style.PAGE, 3.4, 2, 2)
        _draw_pairs(left, positive, negative, cone)
        left.set_title(f"cone {number} of {len(leaves)}: {len(cone.pairs)} disjoint pairs conflict")
        _draw_search(right, angles, errors, leaves[:number])
        right.set_title(f"{cone.last / 3.6:.0f} % of all directions have at least {errors.min()} errors")
        style.add_origin(figure, ORIGIN)
        frames.append(figure)
    return frames


@register_figure(
    "cone",
    "How cones of directions prove the fewest errors, in two dimensions",
    legend="Left: arrows bound a cone, and lines join pairs that no direction in it ranks correctly.",
    frames=draw_search_frames,
)
def draw_cone_bound() -> Figure:
    """Draw a cone with its conflicting pairs, and the bounds of the cones of a whole search."""
    positive, negative = load_plane()
    angles = np.linspace(0.0, 360.0, N_ANGLES)
    errors = np.array([count_fewest_errors(positive, negative, angle) for angle in angles])
    figure, (left, right) = style.new_grid(style.PAGE, 3.4, 2, 2)
    _draw_pairs(left, positive, negative, match_conflicts(positive, negative, *SHOWN_CONE))
    _draw_search(right, angles, errors, split_cones(positive, negative, int(errors.min())))
    style.add_origin(figure, ORIGIN)
    return figure


def _draw_pairs(axes: Axes, positive: np.ndarray, negative: np.ndarray, cone: AngleCone) -> None:
    for X, marker in ((negative, CLASS_MARKERS[0]), (positive, CLASS_MARKERS[1])):
        axes.plot(*X.T, marker, color=SAMPLE_COLOUR, markersize=3, markerfacecolor="none", linewidth=0)
    for i, j in cone.pairs:
        axes.plot(*np.array([positive[i], negative[j]]).T, color=style.VERMILION, linewidth=0.6)
    for angle in (cone.first, cone.last):
        tip = (1.2 * float(np.cos(np.radians(angle))), 1.2 * float(np.sin(np.radians(angle))))
        axes.annotate("", tip, (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": style.BLUE})
    axes.set(xlabel="sepal width, scaled", ylabel="petal width, scaled")
    axes.set_title(f"{len(cone.pairs)} disjoint pairs conflict between {cone.first:g}° and {cone.last:g}°")
    axes.set_aspect("equal", "datalim")


def _draw_search(axes: Axes, angles: np.ndarray, errors: np.ndarray, leaves: list[AngleCone]) -> None:
    axes.plot(angles, errors, color=SAMPLE_COLOUR, linewidth=1.0, label="fewest errors in a direction")
    for number, cone in enumerate(leaves):
        label = "pairs that conflict in a cone" if number == 0 else None
        height = [len(cone.pairs)] * 2
        axes.plot([cone.first, cone.last], height, color=style.VERMILION, linewidth=2.0, label=label)
        axes.axvline(cone.last, color=style.BLUE, linewidth=0.3)
    axes.set(xlabel="direction, degrees", ylabel="errors", xlim=(0.0, 360.0), ylim=(0.0, None))
    axes.set_title(f"{len(leaves)} cones prove {errors.min()} errors")
    axes.legend(loc="lower right")


# Li & Lin (2007), section III; Li (2006), Algorithms 2.3 to 2.5. The steps are those of `RCDClassifier` itself,
# which records its weights after every epoch.

EPOCHS, SEED = 60, 4
N_PANELS = 6
VARIANT: Final = "plain"  # all weights move in every epoch, so that lines rotate and shift
EARLIER = "#9A9A9A"


class DescentStep(NamedTuple):
    """An epoch that left fewer errors than all before it."""

    epoch: int  # its number, starting at 1
    before: np.ndarray  # (3,): the weights before and after it, bias first
    after: np.ndarray
    errors: np.ndarray  # (n_samples,): which samples are misclassified afterwards


class Descent(NamedTuple):
    """A run in the plane: samples, their labels 1 and -1, errors by epoch, and the steps that left fewer."""

    X: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    steps: list[DescentStep]


def run_descent() -> Descent:
    """Fit RCD on iris and return every epoch that left fewer errors than all before it."""
    from zoloss_cli.learners.search.rcd import RCDClassifier

    positive, negative = load_plane()
    X = np.vstack([positive, negative])
    y = np.repeat([1.0, -1.0], [len(positive), len(negative)])
    learner = RCDClassifier(variant=VARIANT, epochs=EPOCHS, record_every=1, random_state=SEED).fit(X, y)
    weights = learner.recorded_weights_[np.argsort(learner.recorded_epochs_)]
    if learner.recorded_epochs_.min() == 0:
        weights = weights[1:]
    wrong = np.array([find_strict_errors(X @ w[1:] + w[0], y) for w in weights])
    counts = wrong.sum(axis=1)
    before = np.vstack([np.zeros(3), weights[:-1]])
    fewest = np.minimum.accumulate(np.concatenate([[len(y)], counts[:-1]]))
    steps = [
        DescentStep(int(i) + 1, before[i], weights[i], wrong[i].astype(bool))
        for i in np.flatnonzero(counts < fewest)
    ]
    return Descent(X, y, counts, steps)


def draw_rcd_frames() -> list[Figure]:
    """Draw a frame for every epoch that left fewer errors: the lines next to the errors so far."""
    found = run_descent()
    frames = []
    for step in found.steps:
        figure, (left, right) = style.new_grid(style.PAGE, 3.4, 2, 2)
        _draw_step(left, found, step)
        left.set(xlabel="sepal width, scaled", ylabel="petal width, scaled")
        epochs = np.arange(1, step.epoch + 1)
        right.step(
            epochs, found.counts[: step.epoch], where="post", color=find_line_style(f"rcd-{VARIANT}").colour
        )
        right.set(
            xlim=(0, EPOCHS), ylim=(0, 1.05 * found.counts.max()), xlabel="epochs", ylabel="training errors"
        )
        right.set_title("errors so far")
        style.add_legend_below(figure, [left], 5)
        style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, random_state={SEED}")
        frames.append(figure)
    return frames


@register_figure(
    "rcd-steps",
    "How random coordinate descent finds fewer errors, in two dimensions",
    legend="Each epoch minimizes the errors exactly along one random direction of bias and weights; "
    "no line has fewer errors than the last one, as the figure cone of the same samples shows.",
    frames=draw_rcd_frames,
)
def draw_rcd_steps() -> Figure:
    """Draw six of the epochs that left fewer errors: the line before, the line after, and its errors."""
    found = run_descent()
    places = np.linspace(0, len(found.steps) - 1, min(N_PANELS, len(found.steps)))
    chosen = np.unique(places.round().astype(int))
    figure, panels = style.new_grid(style.PAGE, 4.6, len(chosen), 3, sharex=True, sharey=True)
    for panel, place in zip(panels, chosen, strict=True):
        _draw_step(panel, found, found.steps[place])
    style.label_outer(panels, 3, "sepal width, scaled", "petal width, scaled")
    style.add_legend_below(figure, panels, 5)
    style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, {EPOCHS} epochs, random_state={SEED}")
    return figure


def _draw_step(axes: Axes, found: Descent, step: DescentStep) -> None:
    box = compute_box(found.X)
    for label, marker, name in ((-1.0, CLASS_MARKERS[0], "the rest"), (1.0, CLASS_MARKERS[1], "versicolor")):
        here = (found.y == label) & ~step.errors
        axes.plot(
            *found.X[here].T, marker, color=SAMPLE_COLOUR, markersize=3, markerfacecolor="none", label=name
        )
        wrong = found.X[(found.y == label) & step.errors]
        axes.plot(*wrong.T, marker, color=style.VERMILION, markersize=3.5, markerfacecolor="none")
    axes.plot([], [], "s", color=style.VERMILION, markersize=3.5, label="misclassified")
    for weights, pen in (
        (step.before, {"color": EARLIER, "linestyle": style.DASHED, "label": "before the epoch"}),
        (
            step.after,
            {"color": find_line_style(f"rcd-{VARIANT}").colour, "linewidth": 1.6, "label": "after it"},
        ),
    ):
        axes.plot(*clip_line(weights[1:], float(weights[0]), box).T, **pen)
    axes.set(xlim=box[:, 0], ylim=box[:, 1])
    axes.grid(visible=False)
    axes.set_title(f"epoch {step.epoch}: {int(step.errors.sum())} errors")
