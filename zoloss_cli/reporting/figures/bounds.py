"""What perceptrons did against what is proved of them: a panel a theorem, a point a data set."""

from __future__ import annotations

import math

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

COLUMNS = 2
APART = 6  # points a factor of ten that the eye can tell apart
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def has_bounds(run: RunResult) -> bool:
    """Whether some learner says what it counted and what the bound is."""
    return any("bound_ratio" in cell for cell in run.cells.values())


def counted_against_bound(run: RunResult):
    """Both axes logarithmic; on the line as much was counted as the theorem allows."""
    bounded = [x for x in run.learners if any("bound_ratio" in run.cells.get((d, x), {}) for d in run.datasets)]
    titles = column_titles(run.learners)
    columns = min(COLUMNS, len(bounded))
    rows = math.ceil(len(bounded) / columns)
    keys = 5 if columns > 1 else 2
    legend = math.ceil((len(run.datasets) + 1) / keys)
    figure = style.new_figure(style.PAGE if columns > 1 else style.COLUMN, 2.4 * rows + 0.16 * legend + 0.2)
    panels = style.panels(figure, len(bounded), columns)
    looks = dict(zip(run.datasets, style.looks(len(run.datasets)), strict=True))
    for panel, learner in zip(panels, bounded, strict=True):
        for dataset, points in _told_apart(run, learner).items():
            colour, _, marker = looks[dataset]
            mark = {"marker": marker, "markerfacecolor": "none", "markersize": 3, "markeredgewidth": 0.6}
            name = style.shortened(dataset)
            panel.plot(*zip(*points, strict=True), linestyle="none", color=colour, label=name, **mark)
        panel.set(xscale="log", yscale="log", title=titles[learner])
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(_power_of_ten)
        panel.minorticks_off()
        low, high = panel.get_ylim()[0], panel.get_xlim()[1]
        panel.plot(
            [low, high],
            [low, high],
            color="black",
            linewidth=0.8,
            linestyle=style.DASHED,
            label="counted = bound",
        )
    for panel in panels[-columns:]:
        panel.set_xlabel("bound")
    for panel in panels[::columns]:
        panel.set_ylabel("counted")
    style.legend_below(figure, panels, keys, [*run.datasets, "counted = bound"])
    return figure


def _power_of_ten(value: float, _) -> str:
    """10³ as text: formulas are not read as such in our figures."""
    power = round(math.log10(value))
    return f"{value:g}" if abs(power) < 2 else "10" + str(power).translate(RAISED)


def _told_apart(run: RunResult, learner: str) -> dict[str, list[tuple[float, float]]]:
    """The points of each data set; of those that would cover each other, only the one nearest to the line."""
    shown: dict[tuple, tuple[float, str, tuple[float, float]]] = {}
    for dataset in run.datasets:
        cell = run.cells.get((dataset, learner), {})
        if "bound_ratio" not in cell:
            continue
        for bound, counted, ratio in zip(cell["bound"], cell["counted"], cell["bound_ratio"], strict=True):
            place = tuple(round(APART * math.log10(max(value, 1.0))) for value in (bound, counted))
            if place not in shown or ratio > shown[place][0]:
                shown[place] = ratio, dataset, (bound, counted)
    points: dict[str, list[tuple[float, float]]] = {}
    for _, dataset, point in shown.values():
        points.setdefault(dataset, []).append(point)
    return points
