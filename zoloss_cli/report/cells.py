"""Cells of tables: a number with its spread, which are best, the titles of columns, and the column '%'."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, quantiles

from zoloss_cli.choices import CONFIDENCE, TableOptions
from zoloss_cli.metrics.base import PERCENT_DECIMALS, ErrorRate, Metric, Sizes, summarize
from zoloss_cli.registry import LEARNERS, is_foreign, load_metric
from zoloss_cli.report.papers import PublishedCells, PublishedValue
from zoloss_cli.report.runs import ROUNDING, CellResult, RunResult, Spread, compute_spread
from zoloss_cli.utils.code_files import name_class

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


SIGNIFICANCE_LEVEL = 0.05
DIGITS = 9  # beyond these, two means of the same counts may differ by rounding
RANK_DECIMALS = 2
RANK_LABEL = "mean rank"

Column = tuple[str, str]  # learner and metric


def list_directed(columns: list[Column]) -> list[str]:
    """Return the metrics among columns in which some values are better than others.

    An additional metric that only one learner provides has nothing to be better than.
    """
    counts = Counter(metric for _, metric in columns)
    first = columns[0][1] if columns else ""
    return [m for m, n in counts.items() if (n > 1 or m == first) and load_metric(m).direction is not None]


def mark_row(
    run: RunResult, dataset: str, cells: list[TableCell], columns: list[Column], options: TableOptions
) -> list[TableCell]:
    """Return a data set's cells, with the best of each metric marked by the rule of the options."""
    for metric in list_directed(columns):
        ranked = [name == metric for _, name in columns]
        if options.bold_rule == "significant":
            bold = find_not_worse(run, dataset, metric)
            marks = [part and learner in bold for part, (learner, _) in zip(ranked, columns, strict=True)]
            cells = [replace(c, best=c.best or mark) for c, mark in zip(cells, marks, strict=True)]
        else:
            cells = mark_best(cells, metric, ranked, options.bold_rule == "stderr")
    return cells


def mark_published_row(cells: list[TableCell], columns: list[Column], options: TableOptions) -> list[TableCell]:
    """Return a data set's published cells, with the best of each metric marked by the published numbers."""
    for metric in list_directed(columns):
        ranked = [name == metric for _, name in columns]
        cells = mark_best(cells, metric, ranked, options.bold_rule != "best")
    return cells


def find_not_worse(run: RunResult, dataset: str, metric: str) -> set[str]:
    """Return the best learner and those not significantly worse; empty if no test is possible."""
    from zoloss_cli.report.statistics import compare_with_best, find_best_learner  # SciPy takes long

    view = show_metric(run, metric)
    best, comparisons = find_best_learner(view, dataset), compare_with_best(view, dataset)
    if best is None or any(c.p is None for c in comparisons):
        return set()
    return {best, *(c.first for c in comparisons if c.p is not None and c.p > SIGNIFICANCE_LEVEL)}


def explain_no_tests(run: RunResult, metric: str) -> str:
    """Return why no cell of a metric is bold if bold means significance; empty if some are."""
    from zoloss_cli.report.statistics import compare_with_best

    view = show_metric(run, metric)
    found = [c for dataset in run.datasets for c in compare_with_best(view, dataset)]
    if not found:
        return "fewer than two learners have results"
    return found[0].reason if all(c.p is None for c in found) else ""


def show_metric(run: RunResult, metric: str) -> RunResult:
    """Return the run as if its table showed only this metric, with the cells that provide it."""
    experiment = run.experiment.model_copy(update={"metric": metric, "also": None})
    stored = run.partial | run.cells
    cells = {place: cell for place, cell in stored.items() if cell.get(metric) is not None}
    return replace(run, manifest=replace(run.manifest, experiment=experiment), cells=cells)


def compute_mean_ranks(run: RunResult, metric: str) -> tuple[dict[str, float], list[list[str]]]:
    """Return each learner's mean rank, and the distinct data sets that it is over.

    Only data sets that all these learners have count, and rows with the same data once, by the mean of their
    values. Equal values share the mean of their ranks.
    """
    from zoloss_cli.report.statistics import group_by_data

    key, run = load_metric(metric).sort_key, show_metric(run, metric)
    learners = [x for x in run.learners if any(run.get_stat(d, x, metric) for d in run.datasets)]
    rows = {d: [key(s.mean) for x in learners if (s := run.get_stat(d, x, metric))] for d in run.datasets}
    groups = group_by_data(run, [d for d, row in rows.items() if learners and len(row) == len(learners)])
    ranks = []
    for group in groups:
        values = [round(fmean(column), DIGITS) for column in zip(*(rows[d] for d in group), strict=True)]
        below = [sum(other < value for other in values) for value in values]
        equal = [sum(other == value for other in values) for value in values]
        ranks.append([b + (e + 1) / 2 for b, e in zip(below, equal, strict=True)])
    if not groups:
        return {}, []
    return {x: fmean(column) for x, column in zip(learners, zip(*ranks, strict=True), strict=True)}, groups


def build_column_titles(labels: list[str]) -> dict[str, str]:
    """Return the papers' names of these columns. `adaboost:x` is just x if all columns are boosted.

    If all columns have the same base, the rest distinguishes them: `ecc:max-cut:stump`.
    """
    known = LEARNERS
    registered = [label for label in labels if not _is_class(label)]
    ensembles = {label.rpartition(":")[0] for label in registered}
    bases = {label.rpartition(":")[2] for label in registered}
    titles: dict[str, str] = {}
    for label in labels:
        if _is_class(label):  # a class of a package or a file, whose own name suffices if it is unique
            short = name_class(label)
            titles[label] = short if short not in titles.values() and short not in labels else label
            continue
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        if len(labels) > 1 and len(bases) == 1 and ensemble:
            first, *rest = ensemble.split(":")
            titles[label] = " ".join([known[first].title if first in known else first, *rest])
            continue
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def build_learner_title(learner: str) -> str:
    """Return the papers' name of a learner; for a class of a package or a file, its own name."""
    return name_class(learner) if is_foreign(learner) else LEARNERS[learner].title


def _is_class(label: str) -> bool:
    """Return whether a label is the name of a class, which begins with a capital, not just one with a dot."""
    return is_foreign(label) and name_class(label)[:1].isupper()


def join_best(titles: list[str]) -> str:
    """Return the best of some columns, in words."""
    return titles[0] if len(titles) == 1 else f"the best of {', '.join(titles)}"


LEARNER, METRIC, HEADING = "improvement", "percent", "%"


def compute_our_improvement(run: RunResult, dataset: str) -> float | None:
    """Return 100 (best of `over` - best of `of`) / best of `over` by the run's means; None if undefined."""
    best = find_best(run, dataset)
    if not best:
        return None
    of, over = (run.cells[dataset, learner].get_stat(run.metric) for learner in best)
    assert of is not None
    assert over is not None
    if of.mean == over.mean:
        return 0.0
    return 100.0 * (over.mean - of.mean) / over.mean if over.mean else None


def find_best(run: RunResult, dataset: str) -> tuple[str, ...]:
    """Return the best learner of either side of the improvement; empty if a side has no result."""
    sides = run.experiment.improvement
    if sides is None:
        return ()
    means = [
        {learner: stat.mean for learner in side if (stat := run.get_stat(dataset, learner))}
        for side in (sides.of, sides.over)
    ]
    return tuple(min(side, key=side.__getitem__) for side in means) if all(means) else ()


def find_published_improvement(
    run: RunResult, published: PublishedCells, dataset: str
) -> PublishedValue | None:
    """Return the published improvement; None if the run's sides are not all columns of that table."""
    sides = run.experiment.improvement
    columns = {learner for name, learner, metric in published if (name, metric) == (dataset, run.metric)}
    if sides is None or {*sides.of, *sides.over} != columns:
        return None
    return published.get((dataset, LEARNER, METRIC))


def compute_improvement_spread(run: RunResult, dataset: str) -> Spread | None:
    """Return the spread of the improvement, linear in the two best learners' values on the same splits.

    100 (1 - a / b) changes by -100 / b for each additional error of a, and by 100 a / b^2 for each of b. None
    if that is undefined.
    """
    best = find_best(run, dataset)
    if not best:
        return None
    of, over = (run.get_values_by_split(dataset, learner) for learner in best)
    both = sorted(of.keys() & over.keys())
    mean_of, mean_over = (sum(side.values()) / len(side) for side in (of, over))
    if not both or mean_over == 0.0:
        return None
    groups: dict[int, list[float]] = {}
    for split in both:
        moved = -100.0 / mean_over * of[split] + 100.0 * mean_of / mean_over**2 * over[split]
        groups.setdefault(split % run.count_draws(dataset), []).append(moved)
    return compute_spread(list(groups.values()))
