"""Errors and costs after each epoch, round or second."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure, register_figures
from zoloss_cli.figures.style import LineStyle, assign_line_styles, assign_line_styles_by_name
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.report.runs import CellResult, RunResult, build_column_titles, build_learner_title
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BAND = "bands: ± one standard error of the mean"
BAND_LEGEND = "Bands: ± one standard error."
STANDARD_ERRORS: dict[str, Any] = {"legend": BAND_LEGEND, "spread": BAND}
COSTS_BY_ROUND: dict[str, Any] = {
    "legend": f"Cost: over N (K - 1), so that it starts at 1. {BAND_LEGEND}",
    "spread": BAND,
    "datasets_per_page": 3,
}


@dataclass(frozen=True)
class Curves:
    """Errors in percent and costs after each recorded epoch or round, one row per split."""

    epochs: list[int]  # the recorded epochs or rounds
    # (n_splits, n_epochs): by metric; ``test_error`` only if there are test samples, ``cost`` only for learners
    # that minimize one
    values: dict[str, np.ndarray]

    def compute_mean(self, metric: str) -> np.ndarray:
        """Return the mean over splits."""
        return self.values[metric].mean(axis=0)

    def compute_stderr(self, metric: str) -> np.ndarray:
        """Return the standard error of the mean over splits; there is none for one split."""
        values = self.values[metric]
        if len(values) < 2:
            return np.full(values.shape[1], np.nan)
        return values.std(axis=0, ddof=1) / math.sqrt(len(values))


def build_curves(records: Sequence[FitRecord], sizes: Sequence[Sizes]) -> Curves | None:
    """Return what the records, of these sizes, hold for each epoch; None if their epochs differ."""
    epochs = records[0].epochs
    if not epochs or any(record.epochs != epochs for record in records):
        return None
    values = {}
    n_train, n_test = np.array(sizes, dtype=float).T[:, :, None]
    for metric, name, size in (
        ("train_error", "train_curve", n_train),
        ("test_error", "test_curve", n_test),
        ("cost", "cost_curve", None),
    ):
        recorded = [getattr(record, name) for record in records]
        if all(curve is not None and len(curve) == len(epochs) for curve in recorded):
            curves = np.array(recorded, dtype=float)
            values[metric] = curves if size is None else 100.0 * curves / size
    return Curves(epochs, values) if values.keys() - {"cost"} else None


# Figures 3 and 4 of Li & Lin (2007); Figures 4.2, 4.4 and 4.5 of Li's thesis (2006).

AXIS_LABELS = {"train_error": "training error (%)", "test_error": "test error (%)", "cost": "cost"}
N_STEEP = 10  # recorded epochs at the beginning of a curve


def has_curves(run: RunResult) -> bool:
    """Return whether some learner recorded its errors by epoch."""
    return any(find_curves(run, dataset) for dataset in run.datasets)


def has_costs(run: RunResult) -> bool:
    """Return whether some learner recorded its cost by round."""
    return any(find_curves(run, dataset, "cost") for dataset in run.datasets)


def find_curves(run: RunResult, dataset: str, metric: str | None = None) -> dict[str, Curves]:
    """Return the curves on a data set that have a metric, or any, by learner."""
    cells = {learner: run.cells.get((dataset, learner)) for learner in run.learners}
    curves = {learner: cell.curves for learner, cell in cells.items() if cell is not None}
    return {x: c for x, c in curves.items() if c is not None and (metric is None or metric in c.values)}


@register_figures(
    {
        "li-lin-2007/3": "Training errors of RCD algorithms by epoch",
        "li-thesis-2006/2.1": "Training errors of several RCD algorithms by epoch",
    },
    has_curves,
    **STANDARD_ERRORS,
)
def draw_rcd_variants(run: RunResult) -> Figure:
    """Draw Figure 3: one panel; variants by colour and marker, the seeding by the kind of line."""
    names, pens = {}, {}
    by_variant = assign_line_styles_by_name({spec.learner: spec.learner for spec in run.experiment.learners})
    for spec in run.experiment.learners:
        from_fld = dict(spec.settings).get("seeding") == "fld"
        title, pen = build_learner_title(spec.learner), by_variant[spec.learner]
        names[spec.label] = f"{title}, {'FLD' if from_fld else 'zero'}"
        pens[spec.label] = LineStyle(pen.colour, style.SOLID if from_fld else style.DASHED, pen.marker)
    curves = find_curves(run, run.datasets[0], "train_error")
    high, low = _find_gap(curves, "train_error")
    ratios = [1, 3] if high else None
    figure, axes = style.new_grid(style.COLUMN, 3.4, 2 if high else 1, 1, sharex=True, height_ratios=ratios)
    _draw_curves(axes[-1], _select(curves, low), "train_error", names, pens)
    if high:
        _draw_curves(axes[0], _select(curves, high), "train_error", names, pens)
        axes[0].set(xlabel="", ylabel="")
        _break_axis(*axes)
    style.add_legend_below(figure, axes, 2, list(names.values()))
    return figure


def _select(curves: dict[str, Curves], labels: Collection[str]) -> dict[str, Curves]:
    return {learner: found for learner, found in curves.items() if learner in labels}


def _find_gap(curves: dict[str, Curves], metric: str) -> tuple[list[str], list[str]]:
    """Return the learners far above all others, and the others; the gap is at least a third of the range."""
    means = {x: found.compute_mean(metric) for x, found in curves.items()}
    ranges = {x: (mean.min(), mean.max()) for x, mean in means.items()}
    upward = sorted(ranges, key=lambda x: ranges[x][0])
    bottom, top = min(r[0] for r in ranges.values()), max(r[1] for r in ranges.values())
    for i in range(1, len(upward)):
        below = max(ranges[x][1] for x in upward[:i])
        if ranges[upward[i]][0] - below > (top - bottom) / 3.0:
            return upward[i:], upward[:i]
    return [], upward


def _break_axis(upper: Axes, lower: Axes) -> None:
    """Draw slanted strokes where a part of the axis is left out."""
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(axis="x", length=0)
    slanted: Any = [(-1, -0.5), (1, 0.5)]
    slash: dict[str, Any] = {"marker": slanted, "markersize": 6, "color": "black", "clip_on": False}
    upper.plot([0], [0], transform=upper.transAxes, linestyle="none", **slash)
    lower.plot([0], [1], transform=lower.transAxes, linestyle="none", **slash)


@register_figures(
    {
        "li-lin-2007/4": "Training and test errors of stochastic algorithms by epoch",
        "li-thesis-2006/2.2": "Training and test errors of the averaged perceptron by the order of samples",
        "li-thesis-2006/2.3": "Training and test errors of several perceptron learning algorithms on pima",
        "li-thesis-2006/2.4": "Training and test errors of several perceptron learning algorithms on yinyang",
    },
    has_curves,
    **STANDARD_ERRORS,
)
@register_figure(
    "curves",
    "Errors by epoch",
    has_curves,
    **STANDARD_ERRORS,
    requirement="learners that record their epochs, by record_every in the config",
    datasets_per_page=3,
    is_covered=True,
)
def draw_errors_by_epoch(run: RunResult) -> Figure:
    """Draw Figure 4 and any other: a row per data set, with training errors next to test errors."""
    return _draw_side_by_side(run, ["train_error", "test_error"])


@register_figure("li-thesis-2006/4.2", "AdaBoost.ECC in the tangram experiment", has_costs, **COSTS_BY_ROUND)
@register_figure(
    "li-thesis-2006/4.4", "Multiclass boosting with the decision stump", has_costs, **COSTS_BY_ROUND
)
@register_figure(
    "li-thesis-2006/4.5", "Multiclass boosting with the perceptron on letter", has_costs, **COSTS_BY_ROUND
)
def draw_costs_by_round(run: RunResult) -> Figure:
    """Draw Figures 4.2, 4.4 and 4.5 of the thesis: a row per data set, with the cost next to test errors.

    Both fall steeply in the first rounds: only logarithms show what distinguishes learners in the end.
    """
    figure = _draw_side_by_side(run, ["cost", "test_error"])
    for axes in figure.axes:
        style.set_logarithmic(axes)
    return figure


def draw_curves_on(axes: Axes, run: RunResult, dataset: str, metric: str) -> None:
    """Draw the curves of all learners that recorded a metric on one data set."""
    pens = assign_line_styles(run)
    names = build_column_titles(run.learners)
    _draw_curves(axes, find_curves(run, dataset, metric), metric, names, pens)
    axes.set_title(style.shorten(dataset))


def _draw_side_by_side(run: RunResult, metrics: list[str]) -> Figure:
    names = build_column_titles(run.learners)
    pens = assign_line_styles(run)
    sides = [m for m in metrics if any(find_curves(run, d, m) for d in run.datasets)]
    recorded = [d for d in run.datasets if any(find_curves(run, d, m) for m in sides)]
    places = [(dataset, metric) for dataset in recorded for metric in sides]
    legend_rows = math.ceil(len(run.learners) / 4)
    width, height = style.PAGE if len(sides) == 2 else style.COLUMN, 2.1 * len(recorded) + 0.25 * legend_rows
    figure, axes = style.new_grid(width, height + 0.2, len(places), len(sides))
    for panel, (dataset, metric) in zip(axes, places, strict=True):
        _draw_curves(panel, find_curves(run, dataset, metric), metric, names, pens)
        if len(recorded) > 1:
            panel.set_title(style.shorten(dataset))
    columns = math.ceil(len(run.learners) / legend_rows) if len(sides) == 2 else 2
    style.add_legend_below(figure, axes, columns)
    return figure


def _draw_curves(
    axes: Axes, curves: dict[str, Curves], metric: str, names: dict[str, str], pens: dict[str, LineStyle]
) -> None:
    for i, (learner, found) in enumerate(curves.items()):
        step = len(found.epochs) // style.MARKERS_PER_LINE // max(1, len(curves))
        plot_with_band(axes, found, metric, pens[learner], names[learner], i * step)
    axes.set_xlim(left=0)
    axes.set_xlabel("rounds" if any("cost" in found.values for found in curves.values()) else "epochs")
    axes.set_ylabel(AXIS_LABELS[metric])


def plot_with_band(
    axes: Axes, curves: Curves, metric: str, pen: LineStyle, name: str, shift: int, scale: float = 1.0
) -> None:
    """Plot a line with a band of one standard error, if there is one."""
    mean, stderr = scale * curves.compute_mean(metric), scale * curves.compute_stderr(metric)
    style.plot_line(axes, curves.epochs, mean, pen, name, shift)
    if np.all(np.isfinite(stderr)):
        # All points where the line is steep; later, every third suffices, and files stay small.
        at = np.unique([*range(min(N_STEEP, len(mean))), *range(N_STEEP, len(mean), 3), len(mean) - 1])
        low, high = (mean - stderr)[at], (mean + stderr)[at]
        axes.fill_between(np.array(curves.epochs)[at], low, high, color=pen.colour, alpha=0.2, linewidth=0)


COLUMNS = 3


def has_searches(run: RunResult) -> bool:
    """Return whether several learners have times, and some report when their result was found."""
    timed = [(learner, cell) for (_, learner), cell in run.cells.items() if "fit_time" in cell]
    several = len({learner for learner, _ in timed}) > 1
    return several and any("time_to_best" in cell for _, cell in timed)


@register_figure(
    "time",
    "Errors against time",
    has_searches,
    legend="Steps: fewest errors so far, where stored; markers: when the result was found; "
    "lines: until the end.",
    requirement="several learners, some of them searches that report when their result was found",
    datasets_per_page=6,
    beside_tables="times",
)
def draw_errors_against_time(run: RunResult) -> Figure:
    """Draw a panel per data set: a search's loss trace, a marker when its result was found, a line to its end.

    The trace is stored for tasks on whole sets that ran once; for others, the two times are means.
    """
    datasets = [d for d in run.datasets if any((d, x) in run.cells for x in run.learners)]
    titles = build_column_titles(run.learners)
    figure, axes, columns = style.new_panels(len(datasets), COLUMNS, 1.75, 0.6)
    for panel, dataset in zip(axes, datasets, strict=True):
        draw_searches_on(panel, run, dataset)
    style.label_outer(axes, columns, "seconds", "training errors")
    style.add_legend_below(figure, axes, 4 if columns > 1 else 2, list(titles.values()))
    return figure


def draw_searches_on(axes: Axes, run: RunResult, dataset: str) -> None:
    """Draw how few errors every learner reached on one data set, and when; time is logarithmic."""
    from matplotlib.ticker import MaxNLocator

    titles = build_column_titles(run.learners)
    for learner, pen in assign_line_styles(run).items():
        if (cell := run.cells.get((dataset, learner))) is not None:
            _draw_search(axes, cell, pen, titles[learner])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    axes.set_title(style.shorten(dataset))
    axes.margins(0.12)


def _draw_search(axes: Axes, cell: CellResult, pen: LineStyle, title: str) -> None:
    fit_time, loss = cell.get_stat("fit_time"), cell.get_stat("train_01_loss")
    if fit_time is None or loss is None:
        return
    end, errors = fit_time.mean, loss.mean
    time_to_best = cell.get_stat("time_to_best")
    found = end if time_to_best is None else time_to_best.mean
    line: dict[str, Any] = {"color": pen.colour, "linestyle": pen.dashes}
    name = style.shorten(title)
    axes.plot([found, end], [errors, errors], label=name, marker=pen.marker, markevery=[0], **line)
    if cell.trace:
        times, losses = zip(*cell.trace, strict=True)
        axes.plot(times, losses, drawstyle="steps-post", **line)
    if found < end:
        axes.plot([end], [errors], color=pen.colour, linestyle="none", marker="|", markersize=6)
