"""Losses of one margin, and of a whole set: Figures 2 and 6 of Nguyen & Sanner (2013). They need no results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import fit_task
from zoloss_cli.kernels.smooth import (
    compute_shifted_smooth_loss,
    compute_shifted_zero_one_loss,
    compute_smooth_loss,
)
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.search.sla import PRECISIONS
from zoloss_cli.reporting.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ZERO_ONE = "0–1 loss"
WEIGHT = 1  # Figure 6 changes the weight of the first feature; the bias is weight 0
SAMPLE_CONFIG = Path("configs/nguyen/figure1.yaml")


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


def draw_margin_losses() -> Figure:
    """Draw Figure 2."""
    figure = style.new_figure(style.COLUMN, 2.6)
    (axes,) = style.add_panels(figure, 1, 1)
    looks = style.build_looks(1 + len(CONVEX_LOSSES))
    m = np.linspace(-1.5, 3.0, 181)
    _draw_step(axes, m[0], m[-1], looks[0])
    for (name, compute), look in zip(CONVEX_LOSSES.items(), looks[1:], strict=True):
        style.plot_line(axes, m, compute(m), look, name, shift=looks.index(look) * 5)
    axes.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]), ylim=(-0.1, 3.2))
    axes.legend(loc="upper right")
    style.add_origin(figure, "functions of the margin of one sample, without data")
    return figure


def draw_smooth_losses() -> Figure:
    """Draw Figure 6: above, the loss of one margin; below, of a data set along one weight, and its valley."""
    figure = style.new_figure(style.PAGE, 4.6)
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.25])
    top, whole, close = figure.add_subplot(grid[0, :]), *(figure.add_subplot(grid[1, i]) for i in (0, 1))
    looks = style.build_looks(1 + len(PRECISIONS))
    m = np.linspace(-2.0, 2.0, 401)
    _draw_step(top, m[0], m[-1], looks[0])
    for K, look in zip(PRECISIONS, looks[1:], strict=True):
        style.plot_line(
            top, m, compute_smooth_loss_curve(m, K), look, f"K = {K:g}", shift=looks.index(look) * 8
        )
    top.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]))
    problem = _fit_samples()
    candidates = np.arange(-8.0, 8.0, 0.002)
    counts = problem.count_errors(candidates)
    valley = candidates[counts == counts.min()].mean()
    for axes, reach in ((whole, 8.0), (close, 1.5)):
        _draw_along_weight(axes, problem, valley + np.linspace(-reach, reach, 801), looks)
    whole.set_title("along one weight")
    close.set_title("around the minimum")
    style.add_legend_below(figure, [top], 4)
    style.add_origin(figure, f"above: one sample; below: the samples of Figure 1, whole set ({SAMPLE_CONFIG})")
    return figure


class WeightLine(NamedTuple):
    """Margins of a data set as one weight changes.

    Attributes
    ----------
    margins : ndarray of shape (n_samples,)
        The margins at the start.
    slopes : ndarray of shape (n_samples,)
        How each margin changes with the weight.
    weight : float
        The weight at the start.
    """

    margins: np.ndarray
    slopes: np.ndarray
    weight: float

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


def _draw_along_weight(axes: Axes, problem: WeightLine, steps: np.ndarray, looks: list[style.Look]) -> None:
    weights = problem.weight + steps
    axes.plot(weights, problem.count_errors(steps), color=looks[0].colour, linewidth=0.8, label=ZERO_ONE)
    for K, look in zip(PRECISIONS, looks[1:], strict=True):
        losses = problem.compute_smooth_losses(steps, K)
        style.plot_line(axes, weights, losses, look, f"K = {K:g}", shift=looks.index(look) * 20)
    axes.set(xlabel="weight w₁, the others fixed", ylabel=f"loss of {problem.margins.size} samples")
    axes.set_xlim(weights[0], weights[-1])


def _draw_step(axes: Axes, left: float, right: float, look: style.Look) -> None:
    """Draw the 0-1 loss as a step; the zero margin itself belongs to the errors."""
    below = compute_zero_one_loss(np.array([left, 0.0]))
    above = compute_zero_one_loss(np.array([np.nextafter(0.0, 1.0), right]))
    axes.plot([left, 0.0], below, color=look.colour, linestyle=look.dashes, label=ZERO_ONE)
    axes.plot([0.0, right], above, color=look.colour, linestyle=look.dashes)
    axes.plot([0.0], below[1:], color=look.colour, marker="o", linestyle="none")
    axes.plot([0.0], above[:1], color=look.colour, marker="o", linestyle="none", markerfacecolor="white")


def _fit_samples() -> WeightLine:
    """Return the line through SLA's solution for the samples of Figure 1."""
    cells = plan(load_config(SAMPLE_CONFIG))
    fitted = fit_task(next(cell for cell in cells if cell.learner.learner == "sla"), 0)
    split, learner = fitted.split_data, fitted.learner
    signs = np.where(split.data.y[split.train] == 1, 1.0, -1.0)
    X = split.scale(split.data.X[split.train])
    margins = signs * learner.decision_function(X)
    return WeightLine(margins, signs * X[:, WEIGHT - 1], float(learner.coef_[0][WEIGHT - 1]))
