"""Tables as the papers publish them: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from zoloss_cli.metrics.base import PERCENT_DECIMALS, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting import improvement
from zoloss_cli.reporting.notes import collect_notes
from zoloss_cli.reporting.published.values import PublishedCells, PublishedValue, find_published_cells
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.stars import ROUNDING, find_stars
from zoloss_cli.reporting.titles import build_column_titles


@dataclass(frozen=True)
class TableCell:
    """A number with its error and its marks.

    Attributes
    ----------
    mean : float or None
        The number; None for an empty cell.
    stderr : float or None
        Its standard error.
    best, star : bool
        Whether it is among the row's best, and better than the baseline.
    decimals : int
        How many are shown.
    choice : str
        Which of a column's settings it is.
    deviation : float or None
        What is shown after ± in the place of the standard error.
    signed : bool
        Whether it is written with its sign.
    """

    mean: float | None
    stderr: float | None = None
    best: bool = False
    star: bool = False
    decimals: int = PERCENT_DECIMALS
    choice: str = ""
    deviation: float | None = None
    signed: bool = False


@dataclass(frozen=True)
class TableColumn:
    """A learner's results in one metric."""

    learner: str
    metric: str
    title: str


@dataclass(frozen=True)
class TableRow:
    """A data set: our cells, and the published ones where there are any."""

    dataset: str
    ours: list[TableCell]
    published: list[TableCell]


@dataclass(frozen=True)
class Table:
    """A table ready to be written in any format.

    Attributes
    ----------
    number : str
        The number of the published table, or the run's name.
    title : str
        Its caption.
    columns : list of TableColumn
        What each column shows.
    rows : list of TableRow
        One a data set.
    splits : str
        What the numbers are means over.
    incomplete : bool
        Whether tasks are missing.
    bold : str
        What bold cells are; empty where none is.
    notes : list of str
        What stands under it.
    """

    number: str
    title: str
    columns: list[TableColumn]
    rows: list[TableRow]
    splits: str
    incomplete: bool
    bold: str
    notes: list[str]

    @property
    def headings(self) -> list[str]:
        """Return the titles of its columns."""
        return [column.title for column in self.columns]


def build_table(run: RunResult, runs: list[RunResult]) -> Table:
    """Return the table of a run, with the published numbers beside ours where there are any.

    Parameters
    ----------
    run : RunResult
        The run to show.
    runs : list of RunResult
        All runs of the results folder, among them the one that stars are measured against.

    Returns
    -------
    Table
        Rows, columns and notes.
    """
    columns, constant = run.choose_columns()
    titles = build_column_titles(run.learners)
    shown = [TableColumn(x, metric, _build_heading(run, metric, titles[x])) for x, metric in columns]
    rows = _build_rows(run, runs, shown)
    if run.experiment.improvement:
        shown.append(TableColumn(improvement.LEARNER, improvement.METRIC, improvement.HEADING))
    return Table(
        run.number,
        run.experiment.title,
        shown,
        rows,
        describe_splits(run),
        run.n_done < run.n_tasks,
        _describe_bold(run),
        collect_notes(run, runs, {titles[x]: value for x, value in constant.items()}),
    )


def _build_rows(run: RunResult, runs: list[RunResult], columns: list[TableColumn]) -> list[TableRow]:
    published = find_published_cells(run.experiment.published)
    stars, rows = find_stars(run, runs), []
    ranked = [c.metric == run.metric and load_metric(c.metric).direction is not None for c in columns]
    for dataset in run.datasets:
        stats = [run.get_stat(dataset, c.learner, c.metric) for c in columns]
        if not any(stats):
            continue
        ours = [
            replace(
                _build_our_cell(run, stat, column),
                star=(dataset, column.learner) in stars and column.metric == run.metric,
                choice=run.cells[dataset, column.learner].choice if stat else "",
            )
            for stat, column in zip(stats, columns, strict=True)
        ]
        theirs = [published.get((dataset, c.learner, c.metric)) for c in columns]
        beside = [_build_published_cell(v, c.metric) for v, c in zip(theirs, columns, strict=True)]
        ours = mark_best(ours, run.metric, ranked)
        beside = mark_best(beside, run.metric, ranked) if any(theirs) else []
        _append_improvement(run, published, dataset, ours, beside)
        rows.append(TableRow(dataset, ours, beside))
    return rows


def _append_improvement(
    run: RunResult, published: PublishedCells, dataset: str, ours: list[TableCell], beside: list[TableCell]
) -> None:
    if not run.experiment.improvement:
        return
    value = improvement.compute_our_improvement(run, dataset)
    ours.append(TableCell(value, decimals=1, signed=True))
    if beside:
        value = improvement.compute_published_improvement(run, published, dataset)
        beside.append(TableCell(value, decimals=1, signed=True))


def _build_heading(run: RunResult, metric: str, title: str) -> str:
    """Return a learner's name over its main column, with the metric's short name if any; else that alone."""
    heading = load_metric(metric).heading
    return " ".join(filter(None, [title, heading])) if metric == run.metric else heading or metric


def describe_splits(run: RunResult) -> str:
    """Return what a table's numbers are means over: 500 splits; the whole set, and how many draws of it."""
    counts = sorted({len(cell) for cell in run.cells.values()}) or [0]
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    if not all(run.trains_on_all(dataset) for dataset in run.datasets):
        return f"{number} splits"
    draws = max(run.count_draws(dataset) for dataset in run.datasets)
    if counts == [1]:
        return "whole set"
    if draws == 1:
        return f"whole set, {number} repeats"
    if counts[-1] <= draws:
        return f"whole set, {number} draws"
    return f"whole set, {number} repeats of {draws} draws"


def _describe_bold(run: RunResult) -> str:
    if load_metric(run.metric).direction is None:
        return ""
    single = all(len(cell) == 1 for cell in run.cells.values())
    return "the row's best" if single else "within one standard error of the row's best"


def mark_best(cells: list[TableCell], metric: str, ranked: list[bool] | None = None) -> list[TableCell]:
    """Mark the cells within one standard error of the row's best, as the papers do.

    Parameters
    ----------
    cells : list of TableCell
        A row.
    metric : str
        The metric that says what is better.
    ranked : list of bool or None, default=None
        Which cells take part; None for all.

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
    # Compared as shown: what looks equal is equal.
    limit = round(value, best.decimals) + round(margin, best.decimals) + ROUNDING
    return [
        replace(c, best=part and c.mean is not None and round(key(c.mean), best.decimals) <= limit)
        for c, part in zip(cells, ranked, strict=True)
    ]


def _build_our_cell(run: RunResult, stat: Stat | None, column: TableColumn) -> TableCell:
    if stat is None:
        return TableCell(None)
    metric, published = load_metric(column.metric), run.experiment.published
    decimals = metric.count_decimals(stat.mean, stat.splits)
    if not metric.shows_stderr:
        return TableCell(stat.mean, None, decimals=decimals)
    deviation = stat.deviation if published and published.spread == "deviation" else None
    return TableCell(stat.mean, stat.stderr, decimals=decimals, deviation=deviation)


def _build_published_cell(value: PublishedValue | None, metric: str) -> TableCell:
    if value is None:
        return TableCell(None)
    decimals = load_metric(metric).published_decimals
    return TableCell(
        value.value,
        value.stderr,
        star=value.star,
        decimals=value.decimals if decimals is None else decimals,
        deviation=value.deviation,
    )
