"""Figures around Li & Lin (2007): convergence, bounds for perceptrons, and RCD step by step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zoloss_cli.figures import style
from zoloss_cli.figures.cone import ORIGIN, load_plane
from zoloss_cli.figures.curves import find_curves
from zoloss_cli.figures.nguyen_sanner import CLASS_MARKERS, MARGIN, SAMPLE_COLOUR, clip_line
from zoloss_cli.figures.style import find_look
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.report.cells import build_column_titles
from zoloss_cli.report.runs import RunResult

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


def draw_shares(run: RunResult) -> Figure:
    """Draw the shares of the first data set by epoch."""
    dataset = run.datasets[0]
    titles, curves = build_column_titles(run.learners), find_curves(run, dataset, "train_error")
    shares = compute_shares(run, dataset)
    figure = style.new_figure(style.COLUMN, 3.2)
    (axes,) = style.add_panels(figure, 1, 1)
    for i, (look, (learner, share)) in enumerate(
        zip(style.build_looks(len(shares)), shares.items(), strict=True)
    ):
        style.plot_line(axes, curves[learner].epochs, share, look, titles[learner], shift=3 * i)
    axes.set(xlabel="epochs", ylabel="splits at the minimum (%)", ylim=(-3.0, 103.0))
    axes.set_xlim(left=0)
    style.add_legend_below(figure, [axes], 2)
    return figure


COLUMNS = 2
MARKERS_PER_DECADE = 6  # markers per factor of ten that can be distinguished by eye
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LINE_NAME = "counted = bound"


def has_bounds(run: RunResult) -> bool:
    """Return whether some learner reports what it counted and what the bound is."""
    return any("bound_ratio" in cell for cell in run.cells.values())


def draw_counted_against_bound(run: RunResult) -> Figure:
    """Draw both on logarithmic axes; on the line, as much was counted as the theorem allows."""
    bounded = list(dict.fromkeys(x for (_, x), cell in run.cells.items() if "bound_ratio" in cell))
    bounded = [learner for learner in run.learners if learner in bounded]
    titles = build_column_titles(run.learners)
    columns = min(COLUMNS, len(bounded))
    rows = math.ceil(len(bounded) / columns)
    legend_columns = 5 if columns > 1 else 2
    legend_rows = math.ceil((len(run.datasets) + 1) / legend_columns)
    width = style.PAGE if columns > 1 else style.COLUMN
    figure = style.new_figure(width, 2.4 * rows + 0.16 * legend_rows + 0.2)
    panels = style.add_panels(figure, len(bounded), columns)
    for panel, learner in zip(panels, bounded, strict=True):
        _draw_theorem(panel, run, learner)
        panel.set_title(style.shorten(titles[learner]))
    for panel in panels[-columns:]:
        panel.set_xlabel("bound")
    for panel in panels[::columns]:
        panel.set_ylabel("counted")
    style.add_legend_below(figure, panels, legend_columns, [*run.datasets, LINE_NAME])
    return figure


def _draw_theorem(axes: Axes, run: RunResult, learner: str) -> None:
    looks = dict(zip(run.datasets, style.build_looks(len(run.datasets)), strict=True))
    for dataset, points in _thin_out(run, learner).items():
        axes.plot(
            *zip(*points, strict=True),
            linestyle="none",
            color=looks[dataset].colour,
            marker=looks[dataset].marker,
            markerfacecolor="none",
            markersize=3,
            markeredgewidth=0.6,
            label=style.shorten(dataset),
        )
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_format_power_of_ten)
    axes.minorticks_off()
    ends = [axes.get_ylim()[0], axes.get_xlim()[1]]
    axes.plot(ends, ends, color="black", linewidth=0.8, linestyle=style.DASHED, label=LINE_NAME)


def _format_power_of_ten(value: float, _: object) -> str:
    """Return 10³ as text: formulas are not interpreted in our figures."""
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


# Li & Lin (2007), section III; Li (2006), Algorithms 2.3 to 2.5. The steps are those of `RCDClassifier` itself,
# which records its weights after every epoch.

EPOCHS, SEED = 60, 4
N_PANELS = 6
VARIANT: Final = "plain"  # all weights move in every epoch, so that lines rotate and shift
EARLIER = "#9A9A9A"


class DescentStep(NamedTuple):
    """An epoch that left fewer errors than all before it.

    Attributes
    ----------
    epoch : int
        Its number, starting at 1.
    before, after : ndarray of shape (3,)
        The weights before and after it, bias first.
    errors : ndarray of bool of shape (n_samples,)
        Which samples are misclassified afterwards.
    """

    epoch: int
    before: np.ndarray
    after: np.ndarray
    errors: np.ndarray


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


def draw_rcd_steps() -> Figure:
    """Draw six of the epochs that left fewer errors: the line before, the line after, and its errors."""
    found = run_descent()
    places = np.linspace(0, len(found.steps) - 1, min(N_PANELS, len(found.steps)))
    chosen = np.unique(places.round().astype(int))
    figure = style.new_figure(style.PAGE, 4.6)
    panels = style.add_panels(figure, len(chosen), 3, sharex=True, sharey=True)
    for panel, place in zip(panels, chosen, strict=True):
        _draw_step(panel, found, found.steps[place])
    for panel in panels[-3:]:
        panel.set_xlabel("sepal width, scaled")
    for panel in panels[::3]:
        panel.set_ylabel("petal width, scaled")
    style.add_legend_below(figure, panels, 5)
    style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, {EPOCHS} epochs, random_state={SEED}")
    return figure


def draw_rcd_frames() -> list[Figure]:
    """Draw a frame for every epoch that left fewer errors: the lines next to the errors so far."""
    found = run_descent()
    frames = []
    for step in found.steps:
        figure = style.new_figure(style.PAGE, 3.4)
        left, right = style.add_panels(figure, 2, 2)
        _draw_step(left, found, step)
        left.set(xlabel="sepal width, scaled", ylabel="petal width, scaled")
        epochs = np.arange(1, step.epoch + 1)
        right.step(epochs, found.counts[: step.epoch], where="post", color=find_look(f"rcd-{VARIANT}").colour)
        right.set(
            xlim=(0, EPOCHS), ylim=(0, 1.05 * found.counts.max()), xlabel="epochs", ylabel="training errors"
        )
        right.set_title("errors so far")
        style.add_legend_below(figure, [left], 5)
        style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, random_state={SEED}")
        frames.append(figure)
    return frames


def _draw_step(axes: Axes, found: Descent, step: DescentStep) -> None:
    low, high = found.X.min(axis=0), found.X.max(axis=0)
    box = np.array([low - MARGIN * (high - low), high + MARGIN * (high - low)])
    for label, marker, name in ((-1.0, CLASS_MARKERS[0], "the rest"), (1.0, CLASS_MARKERS[1], "versicolor")):
        here = (found.y == label) & ~step.errors
        axes.plot(
            *found.X[here].T, marker, color=SAMPLE_COLOUR, markersize=3, markerfacecolor="none", label=name
        )
        wrong = found.X[(found.y == label) & step.errors]
        axes.plot(*wrong.T, marker, color=style.VERMILION, markersize=3.5, markerfacecolor="none")
    axes.plot([], [], "s", color=style.VERMILION, markersize=3.5, label="misclassified")
    for weights, look in (
        (step.before, {"color": EARLIER, "linestyle": style.DASHED, "label": "before the epoch"}),
        (step.after, {"color": find_look(f"rcd-{VARIANT}").colour, "linewidth": 1.6, "label": "after it"}),
    ):
        axes.plot(*clip_line(weights[1:], float(weights[0]), box).T, **look)
    axes.set(xlim=box[:, 0], ylim=box[:, 1])
    axes.grid(visible=False)
    axes.set_title(f"epoch {step.epoch}: {int(step.errors.sum())} errors")
