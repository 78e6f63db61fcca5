"""Margin cost functions of boosting: Figure 3.2 of Li's thesis (2006). It needs no results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.kernels.margin_cost import BISIGMOID, EXPONENTIAL, compute_cost_and_slope
from zoloss_cli.reporting.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KAPPA = 1.2  # kappa_-, the largest in section 3.4; the caption names none
MARGINS = np.linspace(-2.0, 2.0, 201)


def compute_costs(kind: int, kappa: float, m: np.ndarray) -> np.ndarray:
    """Return the cost of each margin alone, by the kernel that AnyBoost and CGBoost minimize."""
    one, still = np.ones(1), np.zeros(1)
    parts = [compute_cost_and_slope(kind, kappa, m[i : i + 1], still, one, 0.0) for i in range(m.size)]
    return np.array([level + rest for level, rest, _ in parts])


def draw_cost_functions() -> Figure:
    """Draw the exponential, the sigmoid 1 - tanh (the bisigmoid with kappa_- = 1) and a bisigmoid cost."""
    curves = {
        "exponential": compute_costs(EXPONENTIAL, 1.0, MARGINS),
        "sigmoid": compute_costs(BISIGMOID, 1.0, MARGINS),
        f"bisigmoid, κ₊ = 1, κ₋ = {KAPPA}": compute_costs(BISIGMOID, KAPPA, MARGINS),
    }
    figure = style.new_figure(style.COLUMN, 2.6)
    (axes,) = style.add_panels(figure, 1, 1)
    for i, (look, (name, cost)) in enumerate(zip(style.build_looks(3), curves.items(), strict=True)):
        style.plot_line(axes, MARGINS, cost, look, name, shift=8 * i)
    axes.set(xlabel="margin", ylabel="cost", xlim=(MARGINS[0], MARGINS[-1]), ylim=(0.0, 4.0))
    axes.legend(loc="upper right")
    return figure
