"""What each learner reached, and when: training errors against seconds."""

from __future__ import annotations

import math

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

COLUMNS = 3


def has_searches(run: RunResult) -> bool:
    """Whether there are several learners, and some say when their result was found."""
    cells = {x: [run.cells.get((d, x), {}) for d in run.datasets] for x in run.learners}
    timed = [x for x, found in cells.items() if any("seconds" in cell for cell in found)]
    return len(timed) > 1 and any("reached" in cell for x in timed for cell in cells[x])


def error_against_time(run: RunResult):
    """A panel for each data set: a search's way down, a marker where its result was found, a line to its end.

    The way down is stored of units on whole sets that ran once; of others, the two times are the means.
    """
    datasets = [d for d in run.datasets if any((d, x) in run.cells for x in run.learners)]
    titles = column_titles(run.learners)
    columns = min(COLUMNS, len(datasets))
    width = style.PAGE if columns > 1 else style.COLUMN
    rows = math.ceil(len(datasets) / columns)
    figure = style.new_figure(width, 1.75 * rows + 0.6)
    axes = style.panels(figure, len(datasets), columns)
    for panel, dataset in zip(axes, datasets, strict=True):
        for learner, look in zip(run.learners, style.looks(len(run.learners)), strict=True):
            cell = run.cells.get((dataset, learner), {})
            if "seconds" not in cell:
                continue
            seconds, errors = (run.stat(dataset, learner, m).mean for m in ("seconds", "train_01_loss"))
            found = run.stat(dataset, learner, "reached")
            found = seconds if found is None else found.mean
            line = {"color": look.colour, "linestyle": look.dashes, "marker": look.marker, "markevery": [0]}
            panel.plot([found, seconds], [errors, errors], label=style.shortened(titles[learner]), **line)
            if way := run.traces.get((dataset, learner)):
                times, losses = zip(*way, strict=True)
                panel.plot(times, losses, color=look.colour, linestyle=look.dashes, drawstyle="steps-post")
            if found < seconds:
                panel.plot([seconds], [errors], color=look.colour, linestyle="none", marker="|", markersize=6)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.yaxis.get_major_locator().set_params(integer=True)
        panel.set_title(dataset)
        panel.margins(0.12)
    for panel in axes[-columns:]:
        panel.set_xlabel("seconds")
    for panel in axes[::columns]:
        panel.set_ylabel("training errors")
    style.legend_below(figure, axes, 4 if columns > 1 else 2, list(titles.values()))
    return figure
