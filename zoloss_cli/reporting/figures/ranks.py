"""Average ranks over data sets, and which of them cannot be told apart: Demšar's diagram (2006)."""

from __future__ import annotations

import math

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.metrics import KNOWN
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.statistics import Ranks, average_ranks
from zoloss_cli.reporting.tables import column_titles

ROW = 0.17  # inches between two names, and between two bars
LETTER = 0.075  # inches, about
AXIS_ROWS = 4.2  # above the names: the critical difference, the axis and its numbers


def can_be_ranked(run: RunResult) -> bool:
    """Three learners or more that all ran on two data sets or more: what `average_ranks` asks for."""
    learners = [x for x in run.learners if any((d, x) in run.cells for d in run.datasets)]
    whole = [d for d in run.datasets if all((d, x) in run.cells for x in learners)]
    return len(whole) >= 2 and len(learners) >= 3 and KNOWN[run.metric].lower_is_better


def critical_difference(run: RunResult):
    """The diagram of a run."""
    return diagram(average_ranks(run))


def diagram(ranks: Ranks):
    """Names hang from an axis of ranks, the best at the left; bars join those that may be equal."""
    count = len(ranks.learners)
    titles = column_titles(ranks.learners)
    names = [
        f"{style.shortened(titles[x])}  {rank:.2f}" for x, rank in zip(ranks.learners, ranks.ranks, strict=True)
    ]
    order = sorted(range(count), key=lambda i: ranks.ranks[i])
    left = math.ceil(count / 2)
    first_row = 0.6 + 0.6 * len(ranks.groups)
    rows = first_row + left
    height = ROW * (AXIS_ROWS + rows + 1.5)
    beside = LETTER * max(map(len, names)) + 0.1
    figure = style.new_figure(style.PAGE, height)
    figure.set_layout_engine("none")  # the names stand outside the axes
    box = (beside / style.PAGE, 1.5 * ROW / height, 1.0 - 2.0 * beside / style.PAGE, 1.0 - 2.0 * ROW / height)
    axes = figure.add_axes(box)
    axes.set(xlim=(1.0, count), ylim=(rows, -AXIS_ROWS + 0.5), xticks=range(1, count + 1))
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines["top"].set(visible=True, position=("data", 0.0))
    axes.yaxis.set_visible(False)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    for place, i in enumerate(order):
        at_left = place < left
        y = first_row + (place if at_left else count - 1 - place)
        end = 1.0 if at_left else count
        line = [ranks.ranks[i], ranks.ranks[i], end], [0.0, y, y]
        axes.plot(*line, color="black", linewidth=0.7, clip_on=False)
        _text(axes, names[i], (end, y), "right" if at_left else "left")
    for row, (first, last) in enumerate(ranks.groups):
        among = [ranks.ranks[i] for i in range(first, last + 1)]
        y = 0.6 + 0.6 * row
        axes.plot(
            [min(among), max(among)], [y, y], color=style.BLUE, linewidth=3.5, solid_capstyle="projecting"
        )
    end, gap = 1.0 + ranks.critical_difference, f"critical difference {ranks.critical_difference:.2f}"
    if end <= count:
        axes.plot([1.0, end], [-2.8, -2.8], color="black", marker="|", clip_on=False)
        _text(axes, gap, (end, -2.8), "left" if end <= (1.0 + count) / 2.0 else "inside")
    else:  # of few data sets
        _text(axes, f"{gap}: more than any two ranks can differ", (1.0, -2.8), "left")
    tests = f"average ranks over {len(ranks.datasets)} data sets (1: best); α = {ranks.alpha:g}, "
    figure.text(0.5, 0.4 * ROW / height, f"{tests}Friedman p = {ranks.friedman_p:.2g}", ha="center")
    return figure


def _text(axes, text: str, at: tuple[float, float], side: str) -> None:
    """Text that ends or begins at a point, or stands above it where there is no room beside."""
    offset = {"right": (-4, 0), "left": (4, 0), "inside": (-4, 6)}[side]
    align = "left" if side == "left" else "right"
    options = {"ha": align, "va": "center", "annotation_clip": False}
    axes.annotate(text, at, xytext=offset, textcoords="offset points", **options)
