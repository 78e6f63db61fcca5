"""Values of a metric over splits as box plots: a panel for each data set, a box for each learner."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
MIN_VALUES = 2  # for drawing a box
ROW_INCHES, FRAME_INCHES = 0.16, 0.55  # per learner, and for the frame of a panel
BOX_HEIGHT = 0.62


def has_values(run: RunResult) -> bool:
    """Return whether some cell has values from several splits."""
    return bool(find_boxed_datasets(run))


def find_boxed_datasets(run: RunResult) -> list[str]:
    """Return the data sets where some learner has values from several splits."""
    return [d for d in run.datasets if any(len(run.get_values(d, x)) >= MIN_VALUES for x in run.learners)]


def draw_boxes(run: RunResult) -> Figure:
    """Draw a panel for each data set, with learners in the order of the table."""
    datasets = find_boxed_datasets(run)
    figure, panels = add_learner_panels(run, len(datasets))
    for place, (panel, dataset) in enumerate(zip(panels, datasets, strict=True)):
        draw_boxes_on(panel, run, dataset)
        hide_repeated_labels(panel, place, len(datasets))
    return figure


def draw_boxes_on(axes: Axes, run: RunResult, dataset: str) -> None:
    """Draw the boxes of one data set: quartiles, median, mean, and whiskers of at most 1.5 box lengths."""
    from matplotlib.cbook import boxplot_stats

    places = [i for i, x in enumerate(run.learners) if run.get_values(dataset, x)]
    values = [run.get_values(dataset, run.learners[i]) for i in places]
    line: dict[str, Any] = {"color": style.BLACK, "linewidth": 0.7}
    axes.bxp(
        boxplot_stats(values),
        positions=places,
        widths=BOX_HEIGHT,
        showmeans=True,
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={"color": style.VERMILION, "linewidth": 1.3},
        meanprops={
            "marker": "D",
            "markersize": 2.6,
            "markerfacecolor": style.BLUE,
            "markeredgecolor": style.BLUE,
        },
        flierprops={"marker": ".", "markersize": 2.0, "markeredgecolor": "#777777"},
        manage_ticks=False,
        **_lay_flat(axes.bxp),
    )
    label_learners(axes, run)
    axes.set_xlabel(name_metric(run.metric))
    axes.set_title(style.shorten(dataset))


def _lay_flat(function: Any) -> dict[str, Any]:
    """Return the option for horizontal boxes, which matplotlib 3.10 renamed."""
    if "orientation" in inspect.signature(function).parameters:
        return {"orientation": "horizontal"}
    return {"vert": False}


def add_learner_panels(run: RunResult, count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with this many panels, each with a row for every learner."""
    columns = min(COLUMNS, count)
    height = ROW_INCHES * len(run.learners) + FRAME_INCHES
    width = style.COLUMN if columns == 1 else style.PAGE
    figure = style.new_figure(width, math.ceil(count / columns) * height + 0.1)
    return figure, style.add_panels(figure, count, columns)


def label_learners(axes: Axes, run: RunResult) -> None:
    """Name a row of the axes for every learner, the first at the top."""
    titles = build_column_titles(run.learners)
    axes.set_yticks(range(len(run.learners)), [style.shorten(titles[x]) for x in run.learners])
    axes.set_ylim(len(run.learners) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def hide_repeated_labels(axes: Axes, place: int, count: int) -> None:
    """Keep the learners' names at the first panel of a row, and the metric's below the last of a column."""
    if place % COLUMNS:
        axes.set_yticklabels([])
    if place + COLUMNS < count:
        axes.set_xlabel("")


def name_metric(metric: str) -> str:
    """Return the axis label for values of a metric."""
    from zoloss_cli.metrics.base import ErrorRate

    found = load_metric(metric)
    words = found.name.replace("train_", "training_").replace("01_loss", "0/1_loss").replace("_", " ")
    unit = (
        " (%)" if isinstance(found, ErrorRate) else " (s)" if found.name in ("fit_time", "time_to_best") else ""
    )
    return f"{words}{unit}"
