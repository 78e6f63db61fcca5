"""What the marks and numbers of a table mean, if they depend on options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.notes import INCOMPLETE
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.table_marks import (
    RANK_LABEL,
    SIGNIFICANCE_LEVEL,
    Column,
    explain_no_tests,
    list_directed,
)
from zoloss_cli.reporting.table_options import CONFIDENCE, TableOptions

if TYPE_CHECKING:
    from zoloss_cli.reporting.tables import Table

STAT_NOTES = {
    "stderr": "±: standard error of the mean over splits",
    "sd": "±: standard deviation over splits",
    "ci": f"in brackets: {100 * CONFIDENCE:g} % confidence interval of the mean over splits, corrected for "
    "training parts that overlap where the metric is of test samples (Nadeau & Bengio 2003)",
    "median": "medians over splits",
    "quartiles": "medians over splits; in brackets: first and third quartile",
}
STAR = "*: "  # how the note on stars begins


def describe_stat(options: TableOptions) -> list[str]:
    """Return what the numbers are, if options set that."""
    if options.stat is None:
        return []
    as_published = "; published values are as published" if options.published else ""
    return [STAT_NOTES[options.stat] + as_published]


def describe_bold(run: RunResult, columns: Sequence[Column], options: TableOptions) -> str:
    """Return what bold cells are; empty if there are none."""
    metrics = list_directed(list(columns))
    if options.bold_rule == "significant":
        metrics = [metric for metric in metrics if not explain_no_tests(run, metric)]
    if not metrics:
        return ""
    best = f"the {'column' if options.transpose else 'row'}'s best"
    if len(metrics) > 1:
        best += " in the same metric"
    if options.bold_rule == "significant":
        return f"not significantly worse than {best} (corrected resampled t-test, p > {SIGNIFICANCE_LEVEL:g})"
    single = all(len(cell) == 1 for cell in run.cells.values())
    return best if single or options.bold_rule == "best" else f"within one standard error of {best}"


def describe_undirected(columns: Sequence[Column], options: TableOptions) -> list[str]:
    """Return the metrics in which nothing can be bold or ranked, if that was requested."""
    if options.bold is None and not options.rank_row:
        return []
    metrics = [m for m in dict.fromkeys(m for _, m in columns) if load_metric(m).direction is None]
    note = f"{', '.join(metrics)}: no value is better than another, so none is bold or ranked"
    return [note] if metrics else []


def describe_untested(run: RunResult, columns: Sequence[Column], options: TableOptions) -> list[str]:
    """Return the metrics in which no cell is bold because no test is possible."""
    if options.bold_rule != "significant":
        return []
    reasons = {metric: explain_no_tests(run, metric) for metric in list_directed(list(columns))}
    return [f"no bold cells of {metric}: {reason}" for metric, reason in reasons.items() if reason]


def describe_ranks(run: RunResult, groups: Mapping[str, list[list[str]]]) -> list[str]:
    """Return how many data sets ranks are averaged over, and which rows of a table count as one of them.

    Parameters
    ----------
    run : RunResult
        The run that the table shows.
    groups : mapping of str to list of list of str
        The rows of each distinct data set, by metric.
    """
    from zoloss_cli.reporting.distinct_data import describe_merged

    if not any(groups.values()):
        return [f"no {RANK_LABEL}: no data set has a result of every learner"] if groups else []
    counts = sorted({len(found) for found in groups.values() if found})
    best = "lowest" if len(groups) == 1 and load_metric(next(iter(groups))).direction == "lower" else "best"
    number = f"{' or '.join(map(str, counts))} data set{'s' * (counts != [1])}"
    notes = [f"{RANK_LABEL}: over {number} that all learners have results on; 1 is the {best} value"]
    return [*notes, *dict.fromkeys(text for found in groups.values() if (text := describe_merged(found)))]


def describe_marks(tables: Sequence[Table]) -> list[str]:
    """Return what the columns best and star of a CSV mean, and what it lacks: CSV has no place for notes."""
    best = dict.fromkeys(table.bold for table in tables if table.bold)
    stars = dict.fromkeys(n.removeprefix(STAR) for table in tables for n in table.notes if n.startswith(STAR))
    lacking = [f"{table.number}: {n}" for table in tables for n in table.notes if n.startswith(INCOMPLETE)]
    return [*(f"best: 1 is {text}" for text in best), *(f"star: 1 is {text}" for text in stars), *lacking]
