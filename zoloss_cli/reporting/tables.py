"""Tables as in the papers: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

from dataclasses import dataclass, replace

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting import improvement
from zoloss_cli.reporting.notes import collect_notes
from zoloss_cli.reporting.published.fitted_choices import find_choices, name_choices
from zoloss_cli.reporting.published.values import PublishedCells, find_published_cells
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.stars import find_stars
from zoloss_cli.reporting.table_cells import TableCell, build_our_cell, build_published_cell
from zoloss_cli.reporting.table_marks import (
    RANK_DECIMALS,
    RANK_LABEL,
    compute_mean_ranks,
    list_directed,
    mark_published_row,
    mark_row,
)
from zoloss_cli.reporting.table_notes import (
    describe_bold,
    describe_ranks,
    describe_stat,
    describe_undirected,
    describe_untested,
)
from zoloss_cli.reporting.table_options import AS_PUBLISHED, TableOptions
from zoloss_cli.reporting.titles import build_column_titles


@dataclass(frozen=True)
class TableColumn:
    """A learner's results in one metric."""

    learner: str
    metric: str
    title: str


@dataclass(frozen=True)
class TableRow:
    """A data set: our cells, and the published ones if there are any."""

    dataset: str
    ours: list[TableCell]
    published: list[TableCell]


@dataclass(frozen=True)
class Table:
    """A table that can be written in any format.

    Attributes
    ----------
    number : str
        The number of the published table, or the run's name.
    title : str
        Its caption.
    columns : list of TableColumn
        What each column shows.
    rows : list of TableRow
        One per data set.
    splits : str
        What the numbers are means over.
    incomplete : bool
        Whether tasks are missing.
    bold : str
        What bold cells are; empty if there are none.
    notes : list of str
        The notes under it.
    stat : str
        What the numbers are, if options set that; empty for mean and standard error.
    transpose : bool
        Whether learners are rows and data sets columns.
    """

    number: str
    title: str
    columns: list[TableColumn]
    rows: list[TableRow]
    splits: str
    incomplete: bool
    bold: str
    notes: list[str]
    stat: str = ""
    transpose: bool = False

    @property
    def headings(self) -> list[str]:
        """Return the titles of its columns."""
        return [column.title for column in self.columns]


def build_table(run: RunResult, runs: list[RunResult], options: TableOptions = AS_PUBLISHED) -> Table:
    """Return the table of a run, with the published numbers next to ours if there are any.

    Parameters
    ----------
    run : RunResult
        The run to show.
    runs : list of RunResult
        All runs of the results folder, including the one that stars refer to.
    options : TableOptions
        Which numbers to show, and how. The data sets, learners and metrics are those of the run.

    Returns
    -------
    Table
        Rows, columns and notes.
    """
    columns, constant = run.choose_columns()
    titles = build_column_titles(run.learners)
    names_all = len(run.metrics) > (1 if options.metrics else 2)
    shown = [TableColumn(x, m, _build_heading(run, m, titles[x], names_all)) for x, m in columns]
    rows = _build_rows(run, runs, shown, options)
    notes = collect_notes(run, runs, {(titles[x], m): value for (x, m), value in constant.items()}, options)
    if options.rank_row:
        row, remarks = _build_rank_row(run, shown)
        rows, notes = [*rows, *row], [*notes, *remarks]
    if run.experiment.improvement:
        shown.append(TableColumn(improvement.LEARNER, improvement.METRIC, improvement.HEADING))
    return Table(
        run.number,
        run.experiment.title,
        shown,
        rows,
        describe_splits(run),
        run.n_done < run.n_tasks,
        describe_bold(run, columns, options),
        [
            *describe_stat(options),
            *describe_undirected(columns, options),
            *describe_untested(run, columns, options),
            *notes,
        ],
        options.stat or "",
        options.transpose,
    )


def _build_rows(
    run: RunResult, runs: list[RunResult], columns: list[TableColumn], options: TableOptions
) -> list[TableRow]:
    published = find_published_cells(run.experiment.published) if options.published else {}
    stars, rows = find_stars(run, runs), []
    places = [(c.learner, c.metric) for c in columns]
    for dataset in run.datasets:
        ours = [build_our_cell(run, run.find_cell(dataset, x), metric, options) for x, metric in places]
        if all(cell.mean is None for cell in ours):
            continue
        ours = [
            replace(
                cell,
                star=(dataset, x) in stars and metric == run.metric,
                apart=name_choices(find_choices(run, dataset, x)),
            )
            for cell, (x, metric) in zip(ours, places, strict=True)
        ]
        theirs = [published.get((dataset, x, metric)) for x, metric in places]
        beside = [build_published_cell(v, m, options.digits) for v, (_, m) in zip(theirs, places, strict=True)]
        ours = mark_row(run, dataset, ours, places, options)
        beside = mark_published_row(beside, places, options) if any(theirs) else []
        _append_improvement(run, published, dataset, ours, beside)
        rows.append(TableRow(dataset, ours, beside))
    return rows


def _build_rank_row(run: RunResult, columns: list[TableColumn]) -> tuple[list[TableRow], list[str]]:
    """Return the row of mean ranks, if there is one, and notes on it."""
    metrics = list_directed([(c.learner, c.metric) for c in columns])
    ranks = {metric: compute_mean_ranks(run, metric) for metric in metrics}
    found = [ranks[c.metric][0].get(c.learner) if c.metric in ranks else None for c in columns]
    cells = [TableCell(rank, decimals=RANK_DECIMALS) for rank in found]
    if run.experiment.improvement:
        cells.append(TableCell(None))
    row = [] if all(rank is None for rank in found) else [TableRow(RANK_LABEL, cells, [])]
    return row, describe_ranks(run, {metric: groups for metric, (_, groups) in ranks.items()})


def _append_improvement(
    run: RunResult, published: PublishedCells, dataset: str, ours: list[TableCell], beside: list[TableCell]
) -> None:
    if not run.experiment.improvement:
        return
    value = improvement.compute_our_improvement(run, dataset)
    apart = name_choices(find_choices(run, dataset, improvement.LEARNER))
    ours.append(TableCell(value, decimals=1, signed=True, apart=apart))
    if beside:
        theirs = improvement.find_published_improvement(run, published, dataset)
        beside.append(TableCell(theirs.value if theirs else None, decimals=1, signed=True))


def _build_heading(run: RunResult, metric: str, title: str, names_all: bool) -> str:
    """Return a learner's name for its main column, with the metric's short name if any; for others, only that.

    If there are many metrics, every column has both.
    """
    heading = load_metric(metric).heading
    if names_all:
        return f"{title} {heading or metric}"
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
