"""Average ranks over data sets, and which of them cannot be distinguished: Demšar's diagram (2006)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.distinct_data import group_by_data
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import Ranks, compute_average_ranks
from zoloss_cli.reporting.tables import describe_splits
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_INCHES = 0.17  # between two names, and between two bars
LETTER_INCHES = 0.075  # about
AXIS_ROWS = 4.2  # above the names: the critical difference, the axis and its numbers
DIFFERENCE_ROW = -2.8  # the critical difference, above the axis
BAR_ROWS = 0.6  # from one bar to the next
GAP = (math.nan, math.nan)  # between lines that are drawn as one, which takes less time


def has_ranks(run: RunResult) -> bool:
    """Return whether three learners all ran on two distinct data sets, as `compute_average_ranks` requires."""
    learners = [x for x in run.learners if any((d, x) in run.cells for d in run.datasets)]
    complete = [d for d in run.datasets if all((d, x) in run.cells for x in learners)]
    if len(complete) < 2 or len(learners) < 3 or load_metric(run.metric).direction is None:
        return False
    return len(group_by_data(run, complete)) >= 2


def draw_critical_difference(run: RunResult) -> Figure:
    """Draw the diagram of a run, with its data sets and splits below."""
    ranks = compute_average_ranks(run)
    names = ", ".join(rows[0] for rows in ranks.datasets)
    return draw_ranks(ranks, f"{names}: {describe_splits(run)}")


def draw_ranks(ranks: Ranks, origin: str = "") -> Figure:
    """Draw names that hang from an axis of ranks, the best on the left; bars join those that may be equal.

    The origin of the ranks is written below in small letters.
    """
    rows = count_rows(ranks)
    below = style.wrap_origin(origin, style.PAGE)
    height = ROW_INCHES * (AXIS_ROWS + rows + 1.5 + len(below))
    beside = (LETTER_INCHES * max(map(len, _build_names(ranks))) + 0.1) / style.PAGE
    figure = style.new_figure(style.PAGE, height)
    figure.set_layout_engine("none")  # the names are outside the axes
    row = ROW_INCHES / height
    foot = (1.5 + len(below)) * row
    axes = figure.add_axes((beside, foot, 1.0 - 2.0 * beside, 1.0 - foot - 0.5 * row))
    draw_ranks_on(axes, ranks)
    figure.text(0.5, (0.4 + len(below)) * row, describe_tests(ranks), ha="center")
    small: dict[str, Any] = {"fontsize": style.ORIGIN_POINTS, "color": style.ORIGIN_COLOUR, "ha": "center"}
    for i, line in enumerate(reversed(below)):
        figure.text(0.5, (0.2 + i) * row, line, **small)
    return figure


def draw_ranks_on(axes: Axes, ranks: Ranks) -> None:
    """Draw the diagram on axes; the names need space next to them."""
    count = len(ranks.learners)
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.spines["top"].set(visible=True, position=("data", 0.0))  # which drops all existing numbers
    axes.yaxis.set_visible(False)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    axes.set(xlim=(1.0, count), ylim=(count_rows(ranks), -AXIS_ROWS + 0.5), xticks=range(1, count + 1))
    _hang_names(axes, ranks, _build_names(ranks), _count_bar_rows(ranks))
    _draw_groups(axes, ranks)
    _draw_difference(axes, ranks)


def count_rows(ranks: Ranks) -> float:
    """Return how many rows of text are below the axis."""
    return _count_bar_rows(ranks) + math.ceil(len(ranks.learners) / 2)


def describe_tests(ranks: Ranks) -> str:
    """Return the text under the diagram."""
    tests = f"average ranks over {len(ranks.datasets)} data sets (1: best); α = {ranks.alpha:g}, "
    return f"{tests}Friedman p = {ranks.friedman_p:.2g}"


def _count_bar_rows(ranks: Ranks) -> float:
    return BAR_ROWS * (1 + len(ranks.groups))


def _build_names(ranks: Ranks) -> list[str]:
    titles = build_column_titles(ranks.learners)
    return [
        f"{style.shorten(titles[x])}  {rank:.2f}" for x, rank in zip(ranks.learners, ranks.ranks, strict=True)
    ]


def _hang_names(axes: Axes, ranks: Ranks, names: list[str], first_row: float) -> None:
    count = len(names)
    left = math.ceil(count / 2)
    lines: list[tuple[float, float]] = []
    for place, i in enumerate(sorted(range(count), key=lambda i: ranks.ranks[i])):
        at_left = place < left
        y = first_row + (place if at_left else count - 1 - place)
        end = 1.0 if at_left else count
        lines += [(ranks.ranks[i], 0.0), (ranks.ranks[i], y), (end, y), GAP]
        _write(axes, names[i], (end, y), "right" if at_left else "left")
    axes.plot(*zip(*lines, strict=True), color="black", linewidth=0.7, clip_on=False)


def _draw_groups(axes: Axes, ranks: Ranks) -> None:
    for row, (first, last) in enumerate(ranks.groups):
        among = ranks.ranks[first : last + 1]
        y = BAR_ROWS * (1 + row)
        ends = [min(among), max(among)]
        axes.plot(ends, [y, y], color=style.BLUE, linewidth=3.5, solid_capstyle="projecting")


def _draw_difference(axes: Axes, ranks: Ranks) -> None:
    count, y = len(ranks.learners), DIFFERENCE_ROW
    end, text = 1.0 + ranks.critical_difference, f"critical difference {ranks.critical_difference:.2f}"
    if end > count:  # with few data sets
        _write(axes, f"{text}: more than any two ranks can differ", (1.0, y), "left")
        return
    axes.plot([1.0, end], [y, y], color="black", marker="|", clip_on=False)
    _write(axes, text, (end, y), "left" if end <= (1.0 + count) / 2.0 else "inside")


def _write(axes: Axes, text: str, at: tuple[float, float], side: str) -> None:
    """Write text that ends or begins at a place, or above it if there is no space next to it."""
    offset = {"right": (-4, 0), "left": (4, 0), "inside": (-4, 6)}[side]
    align = "left" if side == "left" else "right"
    options: dict[str, Any] = {"ha": align, "va": "center", "annotation_clip": False}
    axes.annotate(text, at, xytext=offset, textcoords="offset points", **options)
