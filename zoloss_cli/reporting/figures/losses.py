"""Losses of one margin, and of a whole set: Figures 2 and 6 of Nguyen & Sanner (2013). They need no results."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.smooth import count_beside, smooth_loss, smooth_loss_beside
from zoloss_cli.kernels.zero_one import strict_mistakes
from zoloss_cli.learners.search.sla import PRECISIONS
from zoloss_cli.reporting.figures import style

ZERO_ONE = "0–1 loss"
WEIGHT = 1  # Figure 6 changes the weight of the first feature; the bias is weight 0


def zero_one(m: np.ndarray) -> np.ndarray:
    """Eq. (4), as every learner here counts: a zero margin is an error."""
    return strict_mistakes(m, np.ones_like(m)).astype(float)


def squared(m: np.ndarray) -> np.ndarray:
    """Eq. (5); the cost `ls` of SGD, which steps by its slope."""
    return 0.5 * (m - 1.0) ** 2


def hinge(m: np.ndarray) -> np.ndarray:
    """Eq. (6); the cost `hinge` of SGD."""
    return np.maximum(0.0, 1.0 - m)


def log(m: np.ndarray) -> np.ndarray:
    """Eq. (7): what logistic regression minimizes."""
    return np.logaddexp(0.0, -m)


def sigmoid(m: np.ndarray, K: float) -> np.ndarray:
    """The smooth loss of each margin alone, by the kernel that SLA minimizes."""
    one = np.ones(1)
    return np.array([smooth_loss(m[i : i + 1], one, K) for i in range(m.size)])


def margin_losses():
    """Figure 2."""
    figure = style.new_figure(style.COLUMN, 2.6)
    (axes,) = style.panels(figure, 1, 1)
    convex = {"squared loss": squared, "hinge loss": hinge, "log loss": log}
    looks = style.looks(1 + len(convex))
    m = np.linspace(-1.5, 3.0, 181)
    _step(axes, m[0], m[-1], looks[0])
    for (name, loss), look in zip(convex.items(), looks[1:], strict=True):
        style.plot(axes, m, loss(m), look, name, shift=looks.index(look) * 5)
    axes.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]), ylim=(-0.1, 3.2))
    axes.legend(loc="upper right")
    return figure


def smooth_losses():
    """Figure 6: above, the loss of one margin; below, of a set of points along one weight, and its valley."""
    figure = style.new_figure(style.PAGE, 4.6)
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.25])
    top, whole, close = figure.add_subplot(grid[0, :]), *(figure.add_subplot(grid[1, i]) for i in (0, 1))
    looks = style.looks(1 + len(PRECISIONS))
    m = np.linspace(-2.0, 2.0, 401)
    _step(top, m[0], m[-1], looks[0])
    for K, look in zip(PRECISIONS, looks[1:], strict=True):
        style.plot(top, m, sigmoid(m, K), look, f"K = {K:g}", shift=looks.index(look) * 8)
    top.set(xlabel="margin", ylabel="loss", xlim=(m[0], m[-1]))
    margins, z, weight = _sample()
    phi = np.ones(margins.size)
    best = np.arange(-8.0, 8.0, 0.002)
    counts = np.array([count_beside(margins, z, step, phi) for step in best])
    valley = best[counts == counts.min()].mean()
    for axes, reach in ((whole, 8.0), (close, 1.5)):
        steps = valley + np.linspace(-reach, reach, 801)
        counts = np.array([count_beside(margins, z, step, phi) for step in steps])
        axes.plot(weight + steps, counts, color=looks[0].colour, linewidth=0.8, label=ZERO_ONE)
        for K, look in zip(PRECISIONS, looks[1:], strict=True):
            losses = np.array([smooth_loss_beside(margins, z, step, phi, K) for step in steps])
            style.plot(axes, weight + steps, losses, look, f"K = {K:g}", shift=looks.index(look) * 20)
        axes.set(xlabel="weight w₁, the others fixed", ylabel=f"loss of {margins.size} points")
        axes.set_xlim(weight + steps[0], weight + steps[-1])
    whole.set_title("along one weight")
    close.set_title("around the minimum")
    style.legend_below(figure, [top], 4)
    return figure


def _step(axes, left: float, right: float, look: style.Look) -> None:
    """The 0-1 loss as the step that it is; the zero margin itself belongs to the errors."""
    below, above = zero_one(np.array([left, 0.0])), zero_one(np.array([np.nextafter(0.0, 1.0), right]))
    axes.plot([left, 0.0], below, color=look.colour, linestyle=look.dashes, label=ZERO_ONE)
    axes.plot([0.0, right], above, color=look.colour, linestyle=look.dashes)
    axes.plot([0.0], below[1:], color=look.colour, marker="o", linestyle="none")
    axes.plot([0.0], above[:1], color=look.colour, marker="o", linestyle="none", markerfacecolor="white")


def _sample() -> tuple[np.ndarray, np.ndarray, float]:
    """(margins, the changed weight's column, its value) at SLA's solution for the points of Figure 1."""
    from pathlib import Path

    from zoloss_cli.config.loader import load_config
    from zoloss_cli.experiment.plan import plan
    from zoloss_cli.experiment.task import train_unit

    cells = plan(load_config(Path("configs/nguyen/figure1.yaml")))
    part, _, learner, _ = train_unit(next(c for c in cells if c.learner.learner == "sla"), 0)
    signs = np.where(part.data.y[part.train] == 1, 1.0, -1.0)
    X = part.scaled(part.data.X[part.train])
    margins = signs * learner.decision_function(X)
    return margins, signs * X[:, WEIGHT - 1], float(learner.coef_[0][WEIGHT - 1])
