"""Figures of Nguyen & Sanner (2013)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zoloss_cli.complexity.hard_margin import build_problem, fit_hard_margin_svm
from zoloss_cli.config.models import GeneratedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import compute_scaling
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.fitting import SplitData
from zoloss_cli.experiment.task import FittedTask, find_cell, fit_again
from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.figures.style import assign_line_styles
from zoloss_cli.kernels.smooth import (
    compute_shifted_smooth_loss,
    compute_shifted_zero_one_loss,
    compute_smooth_loss,
)
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.search.sla import PRECISIONS, SmoothLossClassifier
from zoloss_cli.report.runs import RunResult, build_column_titles
from zoloss_cli.report.tables import compute_our_improvement
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_SPLIT = 0


def refit(run: RunResult, dataset: str, learner: str) -> tuple[FittedTask, FitRecord]:
    """Return the learner of split 0 and its record, whose errors must match the stored ones."""
    result = run.cells[dataset, learner]
    stored = next((r for r in result.records if isinstance(r, FitRecord) and r.split == SHOWN_SPLIT), None)
    if stored is None:
        raise ResultsError(
            f"split {SHOWN_SPLIT} of {learner} on {dataset} is not in the run '{run.name}'; "
            f"finish it: {run.manifest.command()}"
        )
    return fit_again(run.manifest, find_cell(run.manifest, dataset, learner, result.choice), stored)


MARGIN = 0.06  # room around the samples, as a share of their range
CLASS_MARKERS = ("o", "+", "x", "s", "^", "v", "D", "*")
SAMPLE_COLOUR = "#555555"


def has_boundaries(run: RunResult) -> bool:
    """Return whether some learner has a result on the first data set, which is drawn."""
    return any((run.datasets[0], learner) in run.cells for learner in run.learners)


@register_figure(
    "nguyen-sanner-2013/1", "Samples with outliers, and the boundary of each learner", has_boundaries
)
def draw_boundaries(run: RunResult) -> Figure:
    """Draw one panel with all learners and their numbers of training errors."""
    dataset = run.datasets[0]
    titles = build_column_titles(run.learners)
    figure, axes = style.new_axes(4.3)
    box = None
    for learner, pen in assign_line_styles(run).items():
        if (dataset, learner) not in run.cells:
            continue
        fitted, record = refit(run, dataset, learner)
        if box is None:
            box = draw_training_samples(axes, fitted.split_data)
        segment = clip_line(*unscale_rule(fitted), box)
        name = style.shorten(f"{titles[learner]}: {record.train_errors} errors")
        axes.plot(*segment.T, color=pen.colour, linestyle=pen.dashes, linewidth=1.4, label=name)
    style.add_legend_below(figure, [axes], 2)
    return figure


def draw_training_samples(axes: Axes, split_data: SplitData) -> np.ndarray:
    """Draw the training samples, with a marker for each class, and return the corners of the shown area."""
    data, indices = split_data.data, split_data.train
    for index, name in enumerate(data.classes):
        draw_class(axes, data.X[indices[data.y[indices] == index]], index, name)
    box = compute_box(data.X[indices])
    axes.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=data.features[0], ylabel=data.features[1])
    return box


def draw_class(axes: Axes, X: np.ndarray, index: int, name: str) -> None:
    """Draw the samples of one class with its marker, small and empty."""
    marker = CLASS_MARKERS[index % len(CLASS_MARKERS)]
    face = SAMPLE_COLOUR if marker in "+x" else "none"
    marker_style: dict[str, Any] = {"markerfacecolor": face, "markersize": 2.6, "markeredgewidth": 0.6}
    label = style.shorten(name)
    axes.plot(*X.T, linestyle="none", marker=marker, color=SAMPLE_COLOUR, label=label, **marker_style)


def compute_box(X: np.ndarray) -> np.ndarray:
    """Return the lower left and the upper right corner of an area with room around these samples."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = MARGIN * (high - low) + (high == low)
    return np.array([low - room, high + room])


def unscale_rule(fitted: FittedTask) -> tuple[np.ndarray, float]:
    """Return weights and bias of a linear learner for unscaled samples."""
    split_data, learner = fitted.split_data, fitted.learner
    samples = split_data.scaling_samples
    if samples is None:
        samples = split_data.data.X[split_data.train]
    centre, spread = compute_scaling(samples, split_data.scaling)
    weights = np.where(spread == 0.0, 0.0, learner.coef_[0] / np.where(spread == 0.0, 1.0, spread))
    return weights, float(learner.intercept_[0] - weights @ centre)


def clip_line(weights: np.ndarray, bias: float, box: np.ndarray) -> np.ndarray:
    """Return the two ends of the line <weights, x> + bias = 0 within a box; none if it misses the box."""
    ends = []
    for axis in (0, 1):
        other = 1 - axis
        if weights[other] == 0.0:
            continue
        for edge in box[:, axis]:
            across = -(bias + weights[axis] * edge) / weights[other]
            if box[0, other] <= across <= box[1, other]:
                ends.append((edge, across) if axis == 0 else (across, edge))
    return np.array(sorted(ends))[[0, -1]] if len(ends) > 1 else np.empty((0, 2))


ZERO_ONE = "0–1 loss"
WEIGHT = 1  # Figure 6 changes the weight of the first feature; the bias is weight 0
SAMPLE_CONFIG = "configs/nguyen/figure1.yaml"
SAMPLES = GeneratedData(name="outliers", generator="outliers", size=300, settings=(("share", 0.1),))


def compute_zero_one_loss(m: np.ndarray) -> np.ndarray:
    """Return Eq. (4), as every learner here counts: a zero margin is an error."""
    return find_strict_errors(m, np.ones_like(m)).astype(float)


def compute_squared_loss(m: np.ndarray) -> np.ndarray:
    """Return Eq. (5): the cost `ls` of SGD, which steps by its slope."""
    return 0.5 * (m - 1.0) ** 2


def compute_hinge_loss(m: np.ndarray) -> np.ndarray:
    """Return Eq. (6): the cost `hinge` of SGD."""
    return np.maximum(0.0, 1.0 - m)


def compute_log_loss(m: np.ndarray) -> np.ndarray:
    """Return Eq. (7): the loss of logistic regression."""
    return np.logaddexp(0.0, -m)


def compute_smooth_loss_curve(m: np.ndarray, K: float) -> np.ndarray:
    """Return the smooth loss of each margin alone, by the kernel that SLA minimizes."""
    one = np.ones(1)
    return np.array([compute_smooth_loss(m[i : i + 1], one, K) for i in range(m.size)])


CONVEX_LOSSES = {
    "squared loss": compute_squared_loss,
    "hinge loss": compute_hinge_loss,
    "log loss": compute_log_loss,
}


@register_figure("nguyen-sanner-2013/2", "Losses as functions of the margin")
def draw_margin_losses() -> Figure:
    """Draw Figure 2."""
    figure, axes = style.new_axes(2.6)
    pens = style.build_line_styles(1 + len(CONVEX_LOSSES))
    m = np.linspace(-1.5, 3.0, 181)
    _draw_step(axes, m[0], m[-1], pens[0])
    for (name, compute), pen in zip(CONVEX_LOSSES.items(), pens[1:], strict=True):
        style.plot_line(axes, m, compute(m), pen, name, shift=pens.index(pen) * 5)
    axes.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]), ylim=(-0.1, 3.2))
    axes.legend(loc="upper right")
    style.add_origin(figure, "functions of the margin of one sample, without data")
    return figure


@register_figure("nguyen-sanner-2013/6", "The smooth 0–1 loss for growing precision K")
def draw_smooth_losses() -> Figure:
    """Draw Figure 6: above, the loss of one margin; below, of a data set along one weight, and its valley."""
    figure = style.new_figure(style.PAGE, 4.6)
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.25])
    top, whole, close = figure.add_subplot(grid[0, :]), *(figure.add_subplot(grid[1, i]) for i in (0, 1))
    pens = style.build_line_styles(1 + len(PRECISIONS))
    m = np.linspace(-2.0, 2.0, 401)
    _draw_step(top, m[0], m[-1], pens[0])
    for K, pen in zip(PRECISIONS, pens[1:], strict=True):
        style.plot_line(top, m, compute_smooth_loss_curve(m, K), pen, f"K = {K:g}", shift=pens.index(pen) * 8)
    top.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]))
    problem = _fit_samples()
    candidates = np.arange(-8.0, 8.0, 0.002)
    counts = problem.count_errors(candidates)
    valley = candidates[counts == counts.min()].mean()
    for axes, reach in ((whole, 8.0), (close, 1.5)):
        _draw_along_weight(axes, problem, valley + np.linspace(-reach, reach, 801), pens)
    whole.set_title("along one weight")
    close.set_title("around the minimum")
    style.add_legend_below(figure, [top], 4)
    style.add_origin(figure, f"above: one sample; below: the samples of Figure 1, whole set ({SAMPLE_CONFIG})")
    return figure


class WeightLine(NamedTuple):
    """Margins of a data set as one weight changes."""

    margins: np.ndarray  # (n_samples,): the margins at the start
    slopes: np.ndarray  # (n_samples,): how each margin changes with the weight
    weight: float  # the weight at the start

    def count_errors(self, steps: np.ndarray) -> np.ndarray:
        """Return the errors after each step of the weight."""
        phi = np.ones(self.margins.size)
        return np.array([compute_shifted_zero_one_loss(self.margins, self.slopes, step, phi) for step in steps])

    def compute_smooth_losses(self, steps: np.ndarray, K: float) -> np.ndarray:
        """Return the smooth loss of precision K after each step of the weight."""
        phi = np.ones(self.margins.size)
        return np.array(
            [compute_shifted_smooth_loss(self.margins, self.slopes, step, phi, K) for step in steps]
        )


def _draw_along_weight(axes: Axes, problem: WeightLine, steps: np.ndarray, pens: list[style.LineStyle]) -> None:
    weights = problem.weight + steps
    axes.plot(weights, problem.count_errors(steps), color=pens[0].colour, linewidth=0.8, label=ZERO_ONE)
    for K, pen in zip(PRECISIONS, pens[1:], strict=True):
        losses = problem.compute_smooth_losses(steps, K)
        style.plot_line(axes, weights, losses, pen, f"K = {K:g}", shift=pens.index(pen) * 20)
    axes.set(xlabel="weight w₁, the others fixed", ylabel=f"loss of {problem.margins.size} samples")
    axes.set_xlim(weights[0], weights[-1])


def _draw_step(axes: Axes, left: float, right: float, pen: style.LineStyle) -> None:
    """Draw the 0-1 loss as a step; the zero margin itself belongs to the errors."""
    below = compute_zero_one_loss(np.array([left, 0.0]))
    above = compute_zero_one_loss(np.array([np.nextafter(0.0, 1.0), right]))
    axes.plot([left, 0.0], below, color=pen.colour, linestyle=pen.dashes, label=ZERO_ONE)
    axes.plot([0.0, right], above, color=pen.colour, linestyle=pen.dashes)
    axes.plot([0.0], below[1:], color=pen.colour, marker="o", linestyle="none")
    axes.plot([0.0], above[:1], color=pen.colour, marker="o", linestyle="none", markerfacecolor="white")


def _fit_samples() -> WeightLine:
    """Return the line through SLA's solution for the samples of Figure 1, scaled as there."""
    data = load_data(SAMPLES)
    X = SplitData(data, np.arange(len(data.y)), np.empty(0, int), "standard", data.X).scale(data.X)
    learner = SmoothLossClassifier().fit(X, data.y)
    signs = np.where(data.y == 1, 1.0, -1.0)
    margins = signs * learner.decision_function(X)
    return WeightLine(margins, signs * X[:, WEIGHT - 1], float(learner.coef_[0][WEIGHT - 1]))


def has_paired_losses(run: RunResult) -> bool:
    """Return whether all learners to compare have run."""
    sides = run.experiment.improvement
    if sides is None:
        return False
    return all((d, x) in run.cells for d in run.datasets for x in (*sides.of, *sides.over))


@register_figure(
    "nguyen-sanner-2013/9",
    "SLA's loss against that of others on synthetic data",
    has_paired_losses,
    legend="One marker per data set.",
)
def draw_paired_losses(run: RunResult) -> Figure:
    """Draw a panel per data set, with a marker for each draw; above the line, the others have larger losses."""
    sides = run.experiment.improvement
    assert sides is not None
    titles = build_column_titles(run.learners)
    figure, axes = style.new_grid(style.PAGE, 3.2, len(run.datasets), 2)
    pens = assign_line_styles(run)
    name = " or ".join(titles[x] for x in sides.of)
    for panel, dataset in zip(axes, run.datasets, strict=True):
        ours = _find_least_losses(run, dataset, sides.of)
        for learner in sides.over:
            theirs = _find_least_losses(run, dataset, [learner])
            both = sorted(ours.keys() & theirs.keys())
            x, y = ([losses[split] for split in both] for losses in (ours, theirs))
            style.plot_hollow(panel, x, y, pens[learner], titles[learner], 0.7)
        limits = {"xlim": panel.get_xlim(), "ylim": panel.get_ylim()}
        panel.axline((0.0, 0.0), slope=1.0, color="black", linewidth=0.6, linestyle=style.DASHED)
        panel.set(**limits, xlabel=f"0–1 loss of {name}", ylabel="0–1 loss of the others")
        less = compute_our_improvement(run, dataset)
        panel.set_title(dataset if less is None else f"{dataset}: {less:.1f} % below the best of them")
    style.add_legend_below(figure, axes, 4)
    return figure


def _find_least_losses(run: RunResult, dataset: str, learners: Sequence[str]) -> dict[int, float]:
    """Return the smallest loss of some learners in each split that all of them have."""
    cells = [run.cells[dataset, learner] for learner in learners]
    found = [dict(zip(cell.splits, cell[run.metric], strict=True)) for cell in cells]
    return {k: min(losses[k] for losses in found) for k in set.intersection(*map(set, found))}


# H has the fewest errors of all lines. H' goes through the two samples A and B, and every other sample is on
# the same side of both, so that the errors are the same.

# Few enough samples to see each, and two overlapping classes.
DATA = GeneratedData(name="gaussians", generator="gaussians", size=20, seed=3, settings=(("dimensions", 2),))


class Line(NamedTuple):
    """The line <weights, x> + bias = 0."""

    weights: np.ndarray
    bias: float

    def compute_sides(self, X: np.ndarray) -> np.ndarray:
        """Return the signed distances of samples to the line."""
        return (X @ self.weights + self.bias) / np.linalg.norm(self.weights)


class BestLines(NamedTuple):
    """A best line, and one through two samples with the same sides."""

    best: Line  # H, as far as possible from all samples
    through: Line  # H', through the samples of `pair`
    pair: tuple[int, int]  # A and B
    errors: int  # the errors of both; A and B count as they do for H


def build_line(first: np.ndarray, second: np.ndarray) -> Line:
    """Return the line through two samples."""
    weights = np.array([first[1] - second[1], second[0] - first[0]])
    return Line(weights, -float(weights @ first))


def find_best_lines(X: np.ndarray, signs: np.ndarray) -> BestLines:
    """Return H and H' by trying all lines through two samples, which must be in general position.

    A line through A and B can be moved slightly to put each of them on either side: they are not errors. Lines
    with all samples on one side are skipped.
    """
    found = []
    for pair in combinations(range(len(X)), 2):
        line = build_line(*X[list(pair)])
        others = np.setdiff1d(np.arange(len(X)), pair)
        right = np.sign(line.compute_sides(X[others])) == signs[others]
        for turned in (False, True):
            errors = int(np.sum(right if turned else ~right))
            sides = signs.copy()
            sides[others] = np.where(right != turned, signs[others], -signs[others])
            if np.ptp(sides) > 0.0:
                found.append((errors, pair, sides))
    errors, _, sides = min(found, key=lambda item: item[0])
    best = _separate(X, sides)
    pairs = [pair for count, pair, other in found if count == errors and np.array_equal(other, sides)]
    nearest = min(pairs, key=lambda pair: np.abs(best.compute_sides(X[list(pair)])).sum())
    return BestLines(best, build_line(*X[list(nearest)]), nearest, errors)


def _separate(X: np.ndarray, sides: np.ndarray) -> Line:
    """Return the line with the largest margin between two sides."""
    svm = fit_hard_margin_svm(build_problem(X, sides, "linear"))
    weights = svm.coefficients @ X[svm.support]
    middle = [float(edge(X[sides == side] @ weights)) for edge, side in ((np.min, 1.0), (np.max, -1.0))]
    return Line(weights, -sum(middle) / 2.0)


@register_figure(
    "nguyen-sanner-2013/4",
    "A line with the fewest errors, and one through two samples with the same",
    origin="20 samples of two Gaussians (seed 3), whole set",
)
def draw_lines_through_samples() -> Figure:
    """Draw the samples, H, and H' through A and B."""
    data = load_data(DATA)
    signs = np.where(data.y == 1, 1.0, -1.0)
    found = find_best_lines(data.X, signs)
    figure, axes = style.new_axes(3.4)
    for side, marker in ((-1.0, CLASS_MARKERS[0]), (1.0, CLASS_MARKERS[1])):
        axes.plot(*data.X[signs == side].T, marker, color=SAMPLE_COLOUR, markerfacecolor="none")
    box = compute_box(data.X)
    for line, name, colour, dashes in (
        (found.best, f"H: {found.errors} errors, the fewest", style.BLUE, style.SOLID),
        (found.through, "H′: through A and B", style.VERMILION, style.DASHED),
    ):
        axes.plot(*clip_line(*line, box).T, color=colour, linestyle=dashes, label=name)
    for letter, sample in zip("AB", found.pair, strict=True):
        axes.annotate(letter, data.X[sample], (4, 4), textcoords="offset points")
    axes.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=data.features[0], ylabel=data.features[1])
    style.add_legend_below(figure, [axes], 2)
    return figure
