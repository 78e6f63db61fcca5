"""How few errors each learner reached, and when: training errors against seconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.learner_looks import assign_looks
from zoloss_cli.reporting.figures.style import Look
from zoloss_cli.reporting.run_result import CellResult, RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3


def has_searches(run: RunResult) -> bool:
    """Return whether several learners have times, and some report when their result was found."""
    timed = [(learner, cell) for (_, learner), cell in run.cells.items() if "fit_time" in cell]
    several = len({learner for learner, _ in timed}) > 1
    return several and any("time_to_best" in cell for _, cell in timed)


def draw_errors_against_time(run: RunResult) -> Figure:
    """Draw a panel per data set: a search's loss trace, a marker when its result was found, a line to its end.

    The trace is stored for tasks on whole sets that ran once; for others, the two times are means.
    """
    datasets = [d for d in run.datasets if any((d, x) in run.cells for x in run.learners)]
    titles = build_column_titles(run.learners)
    columns = min(COLUMNS, len(datasets))
    width = style.PAGE if columns > 1 else style.COLUMN
    figure = style.new_figure(width, 1.75 * math.ceil(len(datasets) / columns) + 0.6)
    axes = style.add_panels(figure, len(datasets), columns)
    for panel, dataset in zip(axes, datasets, strict=True):
        draw_searches_on(panel, run, dataset)
    for panel in axes[-columns:]:
        panel.set_xlabel("seconds")
    for panel in axes[::columns]:
        panel.set_ylabel("training errors")
    style.add_legend_below(figure, axes, 4 if columns > 1 else 2, list(titles.values()))
    return figure


def draw_searches_on(axes: Axes, run: RunResult, dataset: str) -> None:
    """Draw how few errors every learner reached on one data set, and when; time is logarithmic."""
    from matplotlib.ticker import MaxNLocator

    titles = build_column_titles(run.learners)
    for learner, look in assign_looks(run).items():
        if (cell := run.cells.get((dataset, learner))) is not None:
            _draw_search(axes, cell, look, titles[learner])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    axes.set_title(style.shorten(dataset))
    axes.margins(0.12)


def _draw_search(axes: Axes, cell: CellResult, look: Look, title: str) -> None:
    fit_time, loss = cell.get_stat("fit_time"), cell.get_stat("train_01_loss")
    if fit_time is None or loss is None:
        return
    end, errors = fit_time.mean, loss.mean
    time_to_best = cell.get_stat("time_to_best")
    found = end if time_to_best is None else time_to_best.mean
    line: dict[str, Any] = {"color": look.colour, "linestyle": look.dashes}
    name = style.shorten(title)
    axes.plot([found, end], [errors, errors], label=name, marker=look.marker, markevery=[0], **line)
    if cell.trace:
        times, losses = zip(*cell.trace, strict=True)
        axes.plot(times, losses, drawstyle="steps-post", **line)
    if found < end:
        axes.plot([end], [errors], color=look.colour, linestyle="none", marker="|", markersize=6)
