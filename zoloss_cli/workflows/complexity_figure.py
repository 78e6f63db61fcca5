"""The figure of a table's complexity: what each sample adds, how it grows, and the complexity-error plot."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.complexity.growth import NOISY_THRESHOLD, TYPICAL_THRESHOLD
from zoloss_cli.reporting.figures import style
from zoloss_cli.workflows.complexity import MeasuredComplexity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour and marker each suffice to tell categories apart, as in Figure 1.13 of the thesis: dot, ring, square.
CATEGORIES = {
    "typical": (style.SKY, "."),
    "critical": (style.ORANGE, "o"),
    "noisy": (style.VERMILION, "s"),
}


def draw_complexity(measured: MeasuredComplexity) -> Figure:
    """Draw contributions and growth and, with a decomposition, its pairs of complexity and errors."""
    with style.apply_style():
        parts = [_draw_contributions, _draw_growth] + ([] if measured.decomposition is None else [_draw_pairs])
        figure = style.new_figure(style.PAGE, 2.9)
        axes = style.add_panels(figure, len(parts), len(parts))
        for panel, part, letter in zip(axes, parts, string.ascii_lowercase, strict=False):
            title = part(panel, measured)
            panel.set_title(f"({letter}) {title}", loc="left")
        style.add_legend_below(figure, axes, 4)
        return figure


def _draw_contributions(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw the largest first, as markers: a line would suggest that there is something between two samples."""
    order = np.argsort(-measured.contributions, kind="stable")
    values, categories = measured.contributions[order], measured.categories[order]
    for name, (colour, marker) in reversed(CATEGORIES.items()):
        at = np.flatnonzero(categories == name)
        filled = "none" if name == "critical" else colour
        axes.plot(
            at + 1,
            values[at],
            linestyle="none",
            marker=marker,
            color=colour,
            markerfacecolor=filled,
            label=f"{name} ({len(at):,})",
        )
    for threshold, legend in ((TYPICAL_THRESHOLD, "thresholds 2/3 and 1"), (NOISY_THRESHOLD, None)):
        axes.axhline(threshold, color=style.BLACK, linestyle=style.DASHED, linewidth=0.8, label=legend)
    axes.set(xlabel="samples, by contribution", ylabel="average contribution")
    return "what each sample adds"


def _draw_growth(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw how the complexity grows as samples join in random orders."""
    sizes = np.arange(len(measured.growth))
    orders = measured.options.permutations
    axes.plot(
        sizes, sizes, color=style.BLACK, linestyle=style.DOTTED, linewidth=0.8, label="as many as samples"
    )
    axes.plot(sizes, measured.growth, color=style.BLUE, label=f"mean of {orders:,} orders")
    axes.set(xlabel="samples", ylabel="complexity")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    return "growth with the samples"


def _draw_pairs(axes: Axes, measured: MeasuredComplexity) -> str:
    """Circle principal points; if all unions were examined, every pair is a dot."""
    found = measured.decomposition
    assert found is not None
    points = np.array([(point.complexity, point.error) for point in found.points])
    if found.all_pairs:
        axes.plot(
            *found.pairs.T,
            linestyle="none",
            marker=".",
            markersize=2,
            color=style.BLUE,
            label="unions of clusters",
        )
    axes.plot(
        *points.T,
        linestyle="none",
        marker="o",
        markersize=6,
        color=style.VERMILION,
        markerfacecolor="none",
        label="principal points" if found.exact else "principal points (heuristic)",
    )
    axes.set(xlabel="complexity", ylabel="errors")
    return "how far simpler rules go"
