"""Tables as in the papers: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from zoloss_cli.choices import AS_PUBLISHED, TableOptions
from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.registry import METRIC_ALIASES, load_metric
from zoloss_cli.report import cells as improvement
from zoloss_cli.report.cells import (
    RANK_DECIMALS,
    RANK_LABEL,
    TableCell,
    build_column_titles,
    build_our_cell,
    build_published_cell,
    compute_mean_ranks,
    list_directed,
    mark_published_row,
    mark_row,
)
from zoloss_cli.report.loading import explain_empty, open_results, read_runs, select_tables
from zoloss_cli.report.notes import (
    collect_notes,
    describe_bold,
    describe_ranks,
    describe_stat,
    describe_undirected,
    describe_untested,
)
from zoloss_cli.report.papers import PublishedCells, find_choices, find_published_cells, name_choices
from zoloss_cli.report.runs import RunResult, find_baseline, find_stars


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


class LoadedTables(NamedTuple):
    """Tables of a results folder.

    Attributes
    ----------
    tables : list of Table
        The tables that have something to show.
    notes : list of str
        What was left out of the folder.
    empty : list of str
        Why other tables have nothing to show.
    """

    tables: list[Table]
    notes: list[str]
    empty: list[str]


def load_tables(
    folder: Path, table: str | None = None, options: TableOptions = AS_PUBLISHED
) -> tuple[list[Table], list[str]]:
    """Return the tables of a results folder, at least one, and notes on what was left out.

    The parameters are those of `collect_tables`. If nothing can be shown, a ResultsError says why.
    """
    tables, notes, empty = collect_tables(folder, table, options)
    if not tables:
        raise ResultsError("\n".join(empty) or f"{folder} holds no tables")
    return tables, [*notes, *empty]


def collect_tables(
    folder: Path, table: str | None = None, options: TableOptions = AS_PUBLISHED
) -> LoadedTables:
    """Return the tables of a results folder.

    Parameters
    ----------
    folder : Path
        The results folder.
    table : str or None, default=None
        The table's number or the run's name; None for all tables.
    options : TableOptions
        What they show, and how.

    Returns
    -------
    LoadedTables
        The tables, and notes on the others.
    """
    runs, store = open_results(folder)
    shown = shape_runs(select_tables(runs, table), options)
    baselines = [b for run in shown if (b := find_baseline(run, runs)) is not None]
    read_runs(store, runs, [*shown, *(b for b in baselines if b not in shown)])
    tables = [build_table(run, runs, options) for run in shown if run.cells]
    return LoadedTables(tables, store.notes, list(filter(None, map(explain_empty, shown))))


def shape_runs(runs: Sequence[RunResult], options: TableOptions) -> list[RunResult]:
    """Return runs, not read yet, with the data sets, learners and metrics of the options.

    A run with none of the data sets or learners is left out. A name that no run has raises ConfigError.
    """
    _check_names("--datasets", "data set", options.datasets, runs, lambda run: run.datasets)
    _check_names("--learners", "learner", options.learners, runs, _list_learner_names)
    metrics = check_metric_names(options.metrics)
    return [shaped for run in runs if (shaped := _shape_run(run, options, metrics)) is not None]


def check_metric_names(names: Sequence[str]) -> list[str]:
    """Return metrics by their registered names; ConfigError for an unknown or repeated one."""
    metrics = [METRIC_ALIASES.get(name, name) for name in names]
    for i, name in enumerate(metrics):
        try:
            load_metric(name)
        except ConfigError as error:
            raise ConfigError(f"--metrics: {error}") from None
        if name in metrics[:i]:
            raise ConfigError(f"--metrics: '{name}' is listed more than once")
    return metrics


def _check_names(
    option: str,
    what: str,
    wanted: Sequence[str],
    runs: Sequence[RunResult],
    list_names: Callable[[RunResult], Sequence[str]],
) -> None:
    names = dict.fromkeys(name for run in runs for name in list_names(run)) if wanted else {}
    for i, name in enumerate(wanted):
        if name in wanted[:i]:
            raise ConfigError(f"{option}: '{name}' is listed more than once")
        if name not in names:
            where = f"table '{runs[0].number}' has no" if len(runs) == 1 else "no table here has a"
            known = {each.lower(): each for each in reversed(names)}  # one of each label and its title
            nearest = suggest_nearest(name, reversed(known.values()))
            raise ConfigError(f"{option}: {where} {what} '{name}'{nearest}")


def _list_learner_names(run: RunResult) -> list[str]:
    """Return the possible names of columns: labels as in configs, and titles as in tables."""
    return [*run.learners, *build_column_titles(run.learners).values()]


def _shape_run(run: RunResult, options: TableOptions, metrics: list[str]) -> RunResult | None:
    changes: dict[str, Any] = _change_metrics(run, metrics) if metrics else {}
    if options.datasets:
        by_name = {data.name: data for data in run.experiment.datasets}
        changes["datasets"] = tuple(by_name[name] for name in options.datasets if name in by_name)
    ratios = changes.get("ratios", run.experiment.ratios)
    shaped = replace_experiment(run, changes) if changes else run
    if options.learners:
        titles = build_column_titles(shaped.learners)
        labels = {title: label for label, title in titles.items()} | {label: label for label in titles}
        wanted = list(dict.fromkeys(labels[name] for name in options.learners if name in labels))
        changes |= {"improvement": None}
        if ratios:
            changes["ratios"] = {label: ratios[label] for label in wanted}
        else:
            specs = run.experiment.learners
            changes["learners"] = tuple(spec for x in wanted for spec in specs if spec.label == x)
        if not wanted:
            return None
    if options.datasets and not changes["datasets"]:
        return None
    return replace_experiment(run, changes) if changes else run


def _change_metrics(run: RunResult, metrics: list[str]) -> dict[str, Any]:
    """Return the keys of an experiment that shows other metrics."""
    are_ratios = [bool(load_metric(name).ratio_of) for name in metrics]
    if any(are_ratios) and not (all(are_ratios) and run.experiment.ratios):
        ratio = metrics[are_ratios.index(True)]
        raise ConfigError(
            f"--metrics: '{ratio}' is for a table of ratios, which --table can name, and stands alone"
        )
    also = metrics[1] if len(metrics) == 2 else tuple(metrics[1:]) or None
    changes: dict[str, Any] = {"metric": metrics[0], "also": also}
    if not any(are_ratios):
        changes["ratios"] = None
    if metrics != run.metrics:
        changes["title"] = f"{', '.join(metrics)} of the same tasks"
    return changes | ({"improvement": None} if metrics[0] != run.metric else {})


def replace_experiment(run: RunResult, changes: dict[str, Any]) -> RunResult:
    """Return an unread run with other keys in its experiment, and only the cells of that."""
    experiment = run.experiment.model_copy(update=changes)
    datasets, labels = {d.name for d in experiment.datasets}, {spec.label for spec in experiment.learners}
    cells = [c for c in run.manifest.cells if c.dataset in datasets and c.learner in labels]
    return RunResult(replace(run.manifest, experiment=experiment, cells=cells))
