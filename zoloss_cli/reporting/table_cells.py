"""Cells of tables: a number with a measure of its spread, and which cells of a row are best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from zoloss_cli.metrics.base import PERCENT_DECIMALS, ErrorRate, Metric, Sizes, summarize
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.published.values import PublishedValue
from zoloss_cli.reporting.run_result import CellResult, RunResult
from zoloss_cli.reporting.stars import ROUNDING
from zoloss_cli.reporting.table_options import CONFIDENCE, TableOptions

PERCENTAGES = (0.0, 100.0)


@dataclass(frozen=True)
class TableCell:
    """A number with its error and its marks.

    Attributes
    ----------
    mean : float or None
        The number, which may be a median; None for an empty cell.
    stderr : float or None
        Its standard error.
    best, star : bool
        Whether it is among the row's best, and better than the baseline.
    decimals : int
        Number of decimals shown.
    choice : str
        Which of a column's settings it has.
    deviation : float or None
        The number after ±, if not the standard error.
    signed : bool
        Whether it is written with its sign.
    interval : tuple of float or None
        The numbers in brackets, instead of a standard error.
    apart : str
        The choices that it depends on and that were made by nearness to the published values, or other data.
    """

    mean: float | None
    stderr: float | None = None
    best: bool = False
    star: bool = False
    decimals: int = PERCENT_DECIMALS
    choice: str = ""
    deviation: float | None = None
    signed: bool = False
    interval: tuple[float, float] | None = None
    apart: str = ""


def build_our_cell(run: RunResult, cell: CellResult | None, name: str, options: TableOptions) -> TableCell:
    """Return a cell of a table.

    Parameters
    ----------
    run : RunResult
        The run that the table shows.
    cell : CellResult or None
        What is stored for the cell.
    name : str
        The metric.
    options : TableOptions
        Which number to show, and with how many decimals.
    """
    stat = cell.get_stat(name) if cell is not None else None
    if cell is None or stat is None:
        return TableCell(None)
    metric = load_metric(name)
    decimals = metric.count_decimals(stat.mean, stat.splits) if options.digits is None else options.digits
    shown = TableCell(stat.mean, stat.stderr, decimals=decimals, choice=cell.choice)
    published = run.experiment.published
    if metric.aggregation != "mean" or (options.stat is None and not metric.shows_stderr):
        return shown if metric.shows_stderr else replace(shown, stderr=None)
    if options.stat is None:
        as_deviation = published is not None and published.spread == "deviation"
        return replace(shown, deviation=stat.deviation) if as_deviation else shown
    return _replace_stat(shown, cell[name], cell.sizes, metric, options.stat)


def _replace_stat(
    shown: TableCell, values: Sequence[float], sizes: Sizes | None, metric: Metric, stat: str
) -> TableCell:
    if stat == "sd":
        return replace(shown, deviation=summarize(values).deviation)
    if stat == "ci":
        return replace(shown, interval=compute_interval(values, sizes, metric))
    if stat == "median":
        return replace(shown, mean=median(values), stderr=None)
    if stat == "quartiles":
        between = quantiles(values, n=4, method="inclusive") if len(values) > 1 else None
        quartiles = (between[0], between[2]) if between else None
        return replace(shown, mean=median(values), stderr=None, interval=quartiles)
    return shown


def compute_interval(
    values: Sequence[float], sizes: Sizes | None, metric: Metric
) -> tuple[float, float] | None:
    """Return the confidence interval of a mean over splits; None for one split.

    It is Student's. Training parts of random splits overlap, so the variance of metrics on test samples is
    corrected as in `statistics.compute_corrected_t_test`. A percentage stays between 0 and 100.
    """
    if len(values) < 2:
        return None
    from scipy.special import stdtrit  # scipy.stats has it, too, but takes far longer to import

    stat, k = summarize(values), len(values)
    share = sizes.n_test / sizes.n_train if metric.part == "test" and sizes is not None else 0.0
    half = float(stdtrit(k - 1, (1.0 + CONFIDENCE) / 2.0)) * stat.deviation * math.sqrt(1.0 / k + share)
    low, high = PERCENTAGES if isinstance(metric, ErrorRate) else (-math.inf, math.inf)
    return max(low, stat.mean - half), min(high, stat.mean + half)


def build_published_cell(value: PublishedValue | None, metric: str, digits: int | None = None) -> TableCell:
    """Return a published cell, with no more decimals than were published."""
    if value is None:
        return TableCell(None)
    decimals = load_metric(metric).published_decimals
    decimals = value.decimals if decimals is None else decimals
    return TableCell(
        value.value,
        value.stderr,
        star=value.star,
        decimals=decimals if digits is None else min(decimals, digits),
        deviation=value.deviation,
    )


def mark_best(
    cells: list[TableCell], metric: str, ranked: list[bool] | None = None, within_stderr: bool = True
) -> list[TableCell]:
    """Mark the cells within one standard error of the row's best, as the papers do.

    Parameters
    ----------
    cells : list of TableCell
        A row.
    metric : str
        The metric that decides what is better.
    ranked : list of bool or None, default=None
        Which cells take part; None for all. The others are unchanged.
    within_stderr : bool, default=True
        Whether cells within one standard error count, or only those that look equal to the best.

    Returns
    -------
    list of TableCell
        The row with its best cells marked.
    """
    ranked, key = ranked or [True] * len(cells), load_metric(metric).sort_key
    means = [(key(c.mean), c) for c, part in zip(cells, ranked, strict=True) if part and c.mean is not None]
    if not means:
        return cells
    value, best = min(means, key=lambda pair: pair[0])
    margin = best.stderr if best.stderr is not None and not math.isnan(best.stderr) else 0.0
    # Compared as shown: values that look equal are equal.
    limit = round(value, best.decimals) + within_stderr * round(margin, best.decimals) + ROUNDING
    return [
        replace(c, best=c.mean is not None and round(key(c.mean), best.decimals) <= limit) if part else c
        for c, part in zip(cells, ranked, strict=True)
    ]
