"""Which cells of a table are bold, by the requested rule, and the row of mean ranks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import fmean

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.table_cells import TableCell, mark_best
from zoloss_cli.reporting.table_options import TableOptions

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
    from zoloss_cli.reporting.statistics import compare_with_best, find_best_learner  # SciPy takes long

    view = show_metric(run, metric)
    best, comparisons = find_best_learner(view, dataset), compare_with_best(view, dataset)
    if best is None or any(c.p is None for c in comparisons):
        return set()
    return {best, *(c.first for c in comparisons if c.p is not None and c.p > SIGNIFICANCE_LEVEL)}


def explain_no_tests(run: RunResult, metric: str) -> str:
    """Return why no cell of a metric is bold if bold means significance; empty if some are."""
    from zoloss_cli.reporting.statistics import compare_with_best

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
    from zoloss_cli.reporting.distinct_data import group_by_data

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
