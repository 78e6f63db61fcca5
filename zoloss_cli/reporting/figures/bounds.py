"""What perceptrons did compared with what is proved about them: a panel per theorem, a marker per data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
