"""How the price of an error trades complexity for errors: Definition 1.3 of Li's thesis (2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.complexity.lookup_table import LookupComplexity, compute_entry_cost, find_lookup_complexity
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.measurements import StoredDecomposition, find_decompositions
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = np.linspace(0.05, 6.0, 120)
NOISE = np.geomspace(0.005, 0.49, 60)


def draw_trade_off(run: RunResult) -> Figure:
    """Draw the complexity by the cost lambda of an entry, and the errors by the probability of noise."""
    titles = build_column_titles(run.learners)
    found = find_decompositions(run)
    figure = style.new_figure(style.PAGE, 2.9)
    left, right = style.add_panels(figure, 2, 2)
    for look, (place, draws) in zip(style.build_looks(len(found)), found.items(), strict=True):
        name = f"{titles[place[1]]}, {place[0]}"
        several = list(draws.values())
        _plot_mean(left, COSTS, [[_find(d, cost).value for cost in COSTS] for d in several], look, name)
        errors = [[float(_find(d, compute_entry_cost(p)).error) for p in NOISE] for d in several]
        _plot_mean(right, NOISE, errors, look, name)
    left.set(xlabel="cost λ of an error", ylabel="complexity with a lookup table", ylim=(0.0, None))
    right.set(xlabel="probability ε of a wrong label, λ = log₂(1/ε − 1)", ylabel="samples in the table")
    style.add_legend_below(figure, [left, right], 3)
    return figure


def _find(found: StoredDecomposition, cost: float) -> LookupComplexity:
    return find_lookup_complexity([point[:2] for point in found.points], cost)


def _plot_mean(axes: Axes, x: np.ndarray, draws: list[list[float]], look: style.Look, name: str) -> None:
    style.plot_line(axes, x, np.mean(draws, axis=0), look, name)
