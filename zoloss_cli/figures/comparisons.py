"""Learners compared: box plots, paired differences, and average ranks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from zoloss_cli.choices import CONFIDENCE
from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.metrics.base import ErrorRate, compute_half_width
from zoloss_cli.registry import load_metric
from zoloss_cli.report.runs import RunResult, build_column_titles
from zoloss_cli.report.statistics import (
    Ranks,
    compute_average_ranks,
    find_best_learner,
    find_settings,
    group_by_data,
)
from zoloss_cli.report.tables import describe_splits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
MIN_VALUES = 2  # for drawing a box
ROW_INCHES, FRAME_INCHES = 0.16, 0.55  # per learner, and for the frame of a panel
BOX_HEIGHT = 0.62


def find_boxed_datasets(run: RunResult) -> list[str]:
    """Return the data sets where some learner has values from several splits."""
    return [d for d in run.datasets if any(len(run.get_values(d, x)) >= MIN_VALUES for x in run.learners)]


@register_figure(
    "boxes",
    "Values over splits",
    find_boxed_datasets,
    legend="Boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most.",
    spread="boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most",
    requirement="learners that ran on several splits",
    datasets_per_page=6,
    options=("metric",),
    is_quick=False,
    is_covered=True,
)
def draw_boxes(run: RunResult) -> Figure:
    """Draw a panel for each data set, with learners in the order of the table."""
    return _draw_panels(run, find_boxed_datasets(run), draw_boxes_on)


def draw_boxes_on(axes: Axes, run: RunResult, dataset: str) -> None:
    """Draw the boxes of one data set: quartiles, median, mean, and whiskers of at most 1.5 box lengths."""
    from matplotlib.cbook import boxplot_stats

    places = [i for i, x in enumerate(run.learners) if run.get_values(dataset, x)]
    values = [run.get_values(dataset, run.learners[i]) for i in places]
    line: dict[str, Any] = {"color": style.BLACK, "linewidth": 0.7}
    parts: dict[str, Any] = dict.fromkeys(("boxprops", "whiskerprops", "capprops"), line)
    parts["medianprops"] = {"color": style.VERMILION, "linewidth": 1.3}
    parts["meanprops"] = {"marker": "D", "markersize": 2.6}
    parts["meanprops"] |= {"markerfacecolor": style.BLUE, "markeredgecolor": style.BLUE}
    parts["flierprops"] = {"marker": ".", "markersize": 2.0, "markeredgecolor": "#777777"}
    layout: dict[str, Any] = {
        "positions": places,
        "widths": BOX_HEIGHT,
        "showmeans": True,
        "manage_ticks": False,
    }
    axes.bxp(boxplot_stats(values), **layout, **parts, **_lay_flat(axes.bxp))
    label_learners(axes, run)
    axes.set_xlabel(name_metric(run.metric))
    axes.set_title(style.shorten(dataset))


def _lay_flat(function: Any) -> dict[str, Any]:
    """Return the option for horizontal boxes, which matplotlib 3.10 renamed."""
    if "orientation" in inspect.signature(function).parameters:
        return {"orientation": "horizontal"}
    return {"vert": False}


def _draw_panels(run: RunResult, datasets: list[str], draw_on: Callable[..., None]) -> Figure:
    """Draw a panel for each data set, with a row for every learner.

    The first panel of a row has the learners' names, and the last of a column that of the metric.
    """
    height = ROW_INCHES * len(run.learners) + FRAME_INCHES
    figure, panels, columns = style.new_panels(len(datasets), COLUMNS, height, 0.1)
    for place, (panel, dataset) in enumerate(zip(panels, datasets, strict=True)):
        draw_on(panel, run, dataset)
        if place % columns:
            panel.set_yticklabels([])
        if place + columns < len(datasets):
            panel.set_xlabel("")
    return figure


def label_learners(axes: Axes, run: RunResult) -> None:
    """Label a row of the axes for every learner, the first at the top."""
    titles = build_column_titles(run.learners)
    axes.set_yticks(range(len(run.learners)), [style.shorten(titles[x]) for x in run.learners])
    axes.set_ylim(len(run.learners) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def name_metric(metric: str) -> str:
    """Return the axis label for values of a metric."""
    found = load_metric(metric)
    words = found.name.replace("train_", "training_").replace("01_loss", "0/1_loss").replace("_", " ")
    unit = (
        " (%)" if isinstance(found, ErrorRate) else " (s)" if found.name in ("fit_time", "time_to_best") else ""
    )
    return f"{words}{unit}"


MIN_SPLITS = 2


@dataclass(frozen=True)
class PairedDifference:
    """A learner minus the reference on one data set."""

    mean: float  # mean over the splits that both have
    low: float  # confidence interval of the mean, corrected for training samples shared by splits
    high: float
    quartiles: tuple[float, float]  # first and third quartile of the differences themselves


def has_pairs(run: RunResult) -> bool:
    """Return whether two learners share splits of a data set, in a metric with a direction."""
    return load_metric(run.metric).direction is not None and bool(find_paired_datasets(run))


@register_figure(
    "differences",
    "Paired differences",
    has_pairs,
    legend="Lines: 95 % intervals of the mean, corrected for overlapping splits (Nadeau & Bengio 2003), in "
    "colour and with a circle where they leave zero out; pale bars: quartiles of the differences.",
    spread="lines: 95 % intervals of the mean; pale bars: quartiles",
    requirement="two learners that share several splits, and a metric with a direction",
    datasets_per_page=6,
    options=("metric", "against"),
    is_quick=False,
    is_covered=True,
)
def draw_differences(run: RunResult, against: str | None = None) -> Figure:
    """Draw a panel for each data set: differences from one learner, or from the data set's best."""
    return _draw_panels(run, find_paired_datasets(run), partial(draw_differences_on, against=against))


def draw_differences_on(axes: Axes, run: RunResult, dataset: str, against: str | None = None) -> None:
    """Draw the differences on one data set: the mean, its interval, and a pale bar from quartile to quartile.

    An interval that excludes zero is drawn in the colour of its side: blue if the learner is better.
    """
    reference = against or find_best_learner(run, dataset)
    assert reference is not None
    better = load_metric(run.metric).sort_key
    for place, learner in enumerate(run.learners):
        if learner == reference:
            axes.plot([0.0], [place], marker="|", markersize=8, color=style.BLACK)
        elif found := compute_difference(run, dataset, learner, reference):
            beyond = found.low > 0.0 or found.high < 0.0
            side = style.BLUE if better(found.mean) < 0.0 else style.VERMILION
            colour = side if beyond else style.BLACK
            axes.plot(
                found.quartiles, [place, place], color=colour, alpha=0.25, linewidth=5.0, solid_capstyle="butt"
            )
            axes.plot([found.low, found.high], [place, place], color=colour)
            axes.plot([found.mean], [place], color=colour, marker="o" if beyond else "s")
    axes.axvline(0.0, color=style.BLACK, linewidth=0.6, linestyle=style.DOTTED)
    label_learners(axes, run)
    title = build_column_titles(run.learners)[reference]
    axes.set_xlabel(f"difference in {name_metric(run.metric)}")
    axes.set_title(f"{style.shorten(dataset)}, minus {style.shorten(title)}")


def compute_difference(run: RunResult, dataset: str, learner: str, reference: str) -> PairedDifference | None:
    """Return a learner minus the reference on the splits that both have; None if there are fewer than two.

    The interval is corrected as in the t-test of Nadeau and Bengio (2003), unless there are no test samples.
    """
    import numpy as np

    one, two = (run.get_values_by_split(dataset, x) for x in (learner, reference))
    differences = [one[split] - two[split] for split in sorted(one.keys() & two.keys())]
    if len(differences) < MIN_SPLITS:
        return None
    sizes, mean = run.cells[dataset, learner].sizes, fmean(differences)
    half = compute_half_width(differences, sizes.n_test / sizes.n_train if sizes else 0.0, CONFIDENCE)
    first, third = np.quantile(differences, [0.25, 0.75])
    return PairedDifference(mean, mean - half, mean + half, (float(first), float(third)))


def find_paired_datasets(run: RunResult) -> list[str]:
    """Return the data sets where two learners share splits."""
    found = []
    for dataset in run.datasets:
        splits = [set(run.get_values_by_split(dataset, x)) for x in run.learners]
        if sum(len(each) >= MIN_SPLITS for each in splits) >= 2:
            found.append(dataset)
    return found


RANK_ROW_INCHES = 0.17  # between two names, and between two bars
LETTER_INCHES = 0.075  # about
AXIS_ROWS = 4.2  # above the names: the critical difference, the axis and its numbers
DIFFERENCE_ROW = -2.8  # the critical difference, above the axis
BAR_ROWS = 0.6  # from one bar to the next
GAP = (math.nan, math.nan)  # between lines that are drawn as one, which is faster


def has_ranks(run: RunResult, names: Sequence[str] = ()) -> bool:
    """Return whether three learners all ran on two distinct data sets, as `compute_average_ranks` requires."""
    learners = [x for x in run.learners if any((d, x) in run.cells for d in names or run.datasets)]
    complete = [d for d in names or run.datasets if all((d, x) in run.cells for x in learners)]
    if len(complete) < 2 or len(learners) < 3 or load_metric(run.metric).direction is None:
        return False
    return len(group_by_data(run, complete)) >= 2


@register_figure(
    "ranks",
    "Average ranks",
    has_ranks,
    legend="A bar joins learners that the Nemenyi test cannot tell apart.",
    requirement="three learners that all ran on two distinct data sets, and a metric with a direction",
    beside_tables="all",
    options=("metric",),
)
def draw_critical_difference(run: RunResult) -> Figure:
    """Draw the diagram of a run, with its data sets and splits below."""
    ranks = compute_average_ranks(run)
    names = ", ".join(rows[0] for rows in ranks.datasets)
    return draw_ranks(ranks, f"{names}: {describe_splits(run)}")


def draw_ranks(ranks: Ranks, origin: str = "") -> Figure:
    """Draw a critical difference diagram, the best on the left; bars join ranks without significant difference.

    The origin of the ranks is written below in small type.
    """
    rows = count_rows(ranks)
    below = style.wrap_origin(origin, style.PAGE)
    height = RANK_ROW_INCHES * (AXIS_ROWS + rows + 1.5 + len(below))
    beside = (LETTER_INCHES * max(map(len, _build_names(ranks))) + 0.1) / style.PAGE
    figure = style.new_figure(style.PAGE, height)
    figure.set_layout_engine("none")  # the names are outside the axes
    row = RANK_ROW_INCHES / height
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
    axes.spines["top"].set(visible=True, position=("data", 0.0))  # which removes all existing tick labels
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
    for i in range(count):
        at_left = i < left
        y = first_row + (i if at_left else count - 1 - i)
        end = 1.0 if at_left else count
        lines += [(ranks.ranks[i], 0.0), (ranks.ranks[i], y), (end, y), GAP]
        _write(axes, names[i], (end, y), "right" if at_left else "left")
    axes.plot(*zip(*lines, strict=True), color="black", linewidth=0.7, clip_on=False)


def _draw_groups(axes: Axes, ranks: Ranks) -> None:
    for row, (first, last) in enumerate(ranks.groups):
        y = BAR_ROWS * (1 + row)
        ends = [ranks.ranks[first], ranks.ranks[last]]
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


SETTING_ROW_INCHES = 1.9


def has_settings(run: RunResult) -> bool:
    """Return whether learners can be ranked for each of several settings of the same data sets."""
    settings = find_settings(run)
    return len(settings) > 1 and all(has_ranks(run, names) for names in settings.values())


@register_figure(
    "sensitivity",
    "Average ranks by setting",
    has_settings,
    legend="Grey: ranks that the Nemenyi test cannot tell apart from the best.",
    spread="grey: not significantly worse than the best (Nemenyi)",
    requirement="three learners, and rows named such as 'heart at 200 epochs' for several settings",
    beside_tables="all",
)
def draw_sensitivity(run: RunResult) -> Figure:
    """Draw average ranks by setting: a row of panels for each metric, and one for each unit of settings."""
    units: dict[str, dict[str, list[str]]] = {}
    for setting, names in find_settings(run).items():
        number, _, unit = setting.partition(" ")
        units.setdefault(unit, {})[number] = names
    views = [run.show_metric(metric) for metric in run.metrics if load_metric(metric).direction]
    titles, pens = build_column_titles(run.learners), style.assign_line_styles(run)
    height, count = SETTING_ROW_INCHES * len(views) + 0.4, len(views) * len(units)
    figure, panels = style.new_grid(style.PAGE, height, count, len(units), sharey=True)
    for panel, (view, (unit, settings)) in zip(panels, product(views, units.items()), strict=True):
        found = [compute_average_ranks(view, names=names) for names in settings.values()]
        at = range(len(found))
        for learner in found[0].learners:
            ranks = [each.ranks[each.learners.index(learner)] for each in found]
            style.plot_line(panel, at, ranks, pens[learner], titles[learner])
        best, beyond = [r.ranks[0] for r in found], [r.ranks[0] + r.critical_difference for r in found]
        panel.fill_between(at, best, beyond, color=style.BLACK, alpha=0.08, linewidth=0)
        panel.set(xticks=at, xticklabels=settings, xlabel=unit, ylim=(0.8, len(run.learners) + 0.2))
    for panel, view in zip(panels[:: len(units)], views, strict=True):
        panel.set_ylabel(f"average rank in\n{name_metric(view.metric).removesuffix(' (%)')}")
    style.add_legend_below(figure, panels, len(run.learners), list(titles.values()))
    return figure
