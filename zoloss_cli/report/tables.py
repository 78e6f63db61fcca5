"""Build tables as in the papers: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from zoloss_cli.choices import CONFIDENCE
from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.metrics.base import PERCENT_DECIMALS, ErrorRate, Metric, Sizes, compute_half_width, summarize
from zoloss_cli.registry import METRIC_ALIASES, load_metric
from zoloss_cli.report.notes import RANK_LABEL, collect_notes, describe_bold, describe_ranks
from zoloss_cli.report.papers import (
    PublishedCells,
    PublishedValue,
    find_choices,
    find_published_cells,
    name_choices,
)
from zoloss_cli.report.runs import (
    CellResult,
    Column,
    Place,
    RunResult,
    build_column_titles,
    explain_empty,
    find_baseline,
    list_directed,
    open_results,
    read_runs,
    select_tables,
)

ROUNDING = 1e-9  # tolerance for numbers that are equal as shown
RANK_DECIMALS = 2
IMPROVEMENT, PERCENT = "improvement", "percent"  # learner and metric of the column '%'
MEDIANS = ("median", "quartiles")


@dataclass(frozen=True)
class TableOptions:
    """What a table shows of a run, and how."""

    datasets: tuple[str, ...] = ()  # in the order of rows and columns; none for all
    learners: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()  # none for the config's
    stat: str | None = None  # of STATS; None for that of the published table, or else mean ± standard error
    digits: int | None = None  # None for those of the metric
    published: bool = True  # show published values below ours
    transpose: bool = False  # learners are rows, and data sets columns
    rank_row: bool = False  # add a last row with the learners' mean ranks
    bold: str | None = None  # the best, those within one standard error of it, or those not significantly worse

    def __post_init__(self) -> None:
        if self.bold == "stderr" and self.stat in MEDIANS:
            raise ConfigError(
                f"--bold stderr is for means, and --stat {self.stat} shows medians: use --bold best"
            )

    @property
    def bold_rule(self) -> str:
        """The rule for bold cells, which by default depends on the statistic."""
        return self.bold or ("best" if self.stat in MEDIANS else "stderr")


AS_PUBLISHED = TableOptions()


@dataclass(frozen=True)
class TableCell:
    """A number with its error and its marks."""

    mean: float | None  # the number, which may be a median; None for an empty cell
    stderr: float | None = None
    best: bool = False  # whether it is among the row's best
    star: bool = False  # whether it is better than the baseline
    decimals: int = PERCENT_DECIMALS  # number of decimals shown
    choice: str = ""  # which of a column's settings it has
    deviation: float | None = None  # the number after ±, if not the standard error
    signed: bool = False  # whether it is written with its sign
    interval: tuple[float, float] | None = None  # the numbers in brackets, instead of a standard error
    choices: str = ""  # the choices that it depends on (see `papers.OpenChoice`)


def build_our_cell(run: RunResult, cell: CellResult | None, name: str, options: TableOptions) -> TableCell:
    """Return a cell: mean and standard error of a metric over splits, or what the options show instead."""
    stat = cell.get_stat(name) if cell is not None else None
    if cell is None or stat is None:
        return TableCell(None)
    metric, published = load_metric(name), run.experiment.published
    decimals = metric.count_decimals(stat.mean, stat.splits) if options.digits is None else options.digits
    shown = TableCell(stat.mean, stat.stderr, decimals=decimals, choice=cell.choice)
    if options.stat is None or metric.aggregation != "mean":
        if not metric.shows_stderr:
            return replace(shown, stderr=None)
        as_deviation = published is not None and published.spread == "deviation"
        with_deviation = as_deviation and options.stat is None and metric.aggregation == "mean"
        return replace(shown, deviation=stat.deviation) if with_deviation else shown
    values = cell[name]
    if options.stat == "sd":
        return replace(shown, deviation=summarize(values).deviation)
    if options.stat == "ci":
        return replace(shown, interval=compute_interval(values, cell.sizes, metric))
    if options.stat in MEDIANS:
        quarters = quantiles(values, n=4, method="inclusive") if len(values) > 1 else []
        interval = (quarters[0], quarters[2]) if quarters and options.stat == "quartiles" else None
        return replace(shown, mean=median(values), stderr=None, interval=interval)
    return shown


def compute_interval(
    values: Sequence[float], sizes: Sizes | None, metric: Metric
) -> tuple[float, float] | None:
    """Return the confidence interval of a mean over splits; None for one split.

    It is corrected for metrics on test samples. A percentage stays between 0 and 100.
    """
    if len(values) < 2:
        return None
    share = sizes.n_test / sizes.n_train if metric.part == "test" and sizes is not None else 0.0
    mean, half = summarize(values).mean, compute_half_width(values, share, CONFIDENCE)
    low, high = (0.0, 100.0) if isinstance(metric, ErrorRate) else (-math.inf, math.inf)
    return max(low, mean - half), min(high, mean + half)


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


def mark_best(cells: list[TableCell], columns: list[Column], within_stderr: bool = True) -> list[TableCell]:
    """Mark the best of each metric in a row, or all cells within one standard error of it."""
    marked = list(cells)
    for metric in list_directed(columns):
        key = load_metric(metric).sort_key
        values = {
            i: key(cell.mean)
            for i, (cell, (_, name)) in enumerate(zip(cells, columns, strict=True))
            if name == metric and cell.mean is not None
        }
        if not values:
            continue
        best = cells[min(values, key=values.__getitem__)]
        margin = best.stderr if best.stderr is not None and not math.isnan(best.stderr) else 0.0
        # Compared as shown: values that look equal are equal.
        limit = round(min(values.values()), best.decimals) + ROUNDING
        limit += within_stderr * round(margin, best.decimals)
        for i, value in values.items():
            marked[i] = replace(cells[i], best=round(value, best.decimals) <= limit)
    return marked


def _mark_not_worse(
    run: RunResult, dataset: str, cells: list[TableCell], columns: list[Column]
) -> list[TableCell]:
    """Mark the best of each metric in a row, and those not significantly worse."""
    from zoloss_cli.report.statistics import find_not_worse  # SciPy is slow to import

    bold = {metric: find_not_worse(run, dataset, metric) for metric in list_directed(columns)}
    return [
        replace(cell, best=learner in bold.get(metric, ()))
        for cell, (learner, metric) in zip(cells, columns, strict=True)
    ]


def find_stars(run: RunResult, runs: list[RunResult]) -> set[Place]:
    """Return the cells that are better than the best of the baseline table by one standard error."""
    baseline, metric = find_baseline(run, runs), load_metric(run.metric)
    key, decimals = metric.sort_key, metric.decimals
    stars: set[Place] = set()
    for dataset in run.datasets if baseline else []:
        assert baseline is not None
        stats = [s for x in baseline.learners if (s := baseline.get_stat(dataset, x, run.metric))]
        if not stats:
            continue
        best = min(stats, key=lambda s: key(s.mean))
        margin = 0.0 if math.isnan(best.stderr) else best.stderr
        # Compared as published: values that look equal are equal.
        limit = key(round(best.mean, decimals)) - round(margin, decimals) + ROUNDING
        for learner in run.learners:
            ours = run.get_stat(dataset, learner)
            if ours and key(round(ours.mean, decimals)) <= limit:
                stars.add((dataset, learner))
    return stars


def compute_our_improvement(run: RunResult, dataset: str) -> float | None:
    """Return 100 (best of `over` - best of `of`) / best of `over` by the run's means; None if undefined."""
    best = find_best_of_sides(run, dataset)
    if not best:
        return None
    of, over = (run.cells[dataset, learner].get_stat(run.metric) for learner in best)
    assert of is not None
    assert over is not None
    if of.mean == over.mean:
        return 0.0
    return 100.0 * (over.mean - of.mean) / over.mean if over.mean else None


def find_best_of_sides(run: RunResult, dataset: str) -> tuple[str, ...]:
    """Return the best learner of each side of the improvement; empty if a side has no result."""
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
    return published.get((dataset, IMPROVEMENT, PERCENT))


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
    """A table that can be written in any format."""

    number: str  # the number of the published table, or the run's name
    title: str  # its caption
    columns: list[TableColumn]  # what each column shows
    rows: list[TableRow]  # one per data set
    splits: str  # what the numbers are means over
    incomplete: bool  # whether tasks are missing
    bold: str  # what bold cells are; empty if there are none
    notes: list[str]  # the notes under it
    stat: str = ""  # the statistic, if options set it; empty for mean and standard error
    transpose: bool = False  # whether learners are rows and data sets columns

    @property
    def headings(self) -> list[str]:
        """Return the titles of its columns."""
        return [column.title for column in self.columns]


def build_table(run: RunResult, runs: list[RunResult], options: TableOptions = AS_PUBLISHED) -> Table:
    """Return the table of a run, with the published numbers next to ours if there are any."""
    columns, constant = run.choose_columns()
    titles = build_column_titles(run.learners)
    names_all = len(run.metrics) > (1 if options.metrics else 2)
    shown = [TableColumn(x, m, _build_heading(run, m, titles[x], names_all)) for x, m in columns]
    rows = _build_rows(run, runs, shown, options)
    notes = collect_notes(run, runs, columns, constant, options)
    if options.rank_row:
        row, remarks = _build_rank_row(run, shown)
        rows, notes = [*rows, *row], [*notes, *remarks]
    if run.experiment.improvement:
        shown.append(TableColumn(IMPROVEMENT, PERCENT, "%"))
    incomplete, bold = run.n_done < run.n_tasks, describe_bold(run, columns, options)
    facts = (shown, rows, describe_splits(run), incomplete, bold, notes, options.stat or "", options.transpose)
    return Table(run.number, run.experiment.title, *facts)


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
                choices=name_choices(find_choices(run, dataset, x)),
            )
            for cell, (x, metric) in zip(ours, places, strict=True)
        ]
        theirs = [published.get((dataset, x, metric)) for x, metric in places]
        beside = [build_published_cell(v, m, options.digits) for v, (_, m) in zip(theirs, places, strict=True)]
        if options.bold_rule == "significant":
            ours = _mark_not_worse(run, dataset, ours, places)
        else:
            ours = mark_best(ours, places, options.bold_rule == "stderr")
        beside = mark_best(beside, places, options.bold_rule != "best") if any(theirs) else []
        _append_improvement(run, published, dataset, ours, beside)
        rows.append(TableRow(dataset, ours, beside))
    return rows


def _build_rank_row(run: RunResult, columns: list[TableColumn]) -> tuple[list[TableRow], list[str]]:
    """Return the row of mean ranks, if there is one, and notes on it."""
    from zoloss_cli.report.statistics import compute_mean_ranks

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
    value = compute_our_improvement(run, dataset)
    choices = name_choices(find_choices(run, dataset, IMPROVEMENT))
    ours.append(TableCell(value, decimals=1, signed=True, choices=choices))
    if beside:
        theirs = find_published_improvement(run, published, dataset)
        beside.append(TableCell(theirs.value if theirs else None, decimals=1, signed=True))


def _build_heading(run: RunResult, metric: str, title: str, names_all: bool) -> str:
    """Return the heading of a column: the learner's name and the metric's short name, if it has one.

    Columns of additional metrics have only the latter, unless there are many metrics.
    """
    heading = load_metric(metric).heading
    if names_all:
        return f"{title} {heading or metric}"
    return " ".join(filter(None, [title, heading])) if metric == run.metric else heading or metric


def describe_splits(run: RunResult) -> str:
    """Return what a table's numbers are means over: splits, or draws of the whole set."""
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


def load_tables(
    folder: Path, table: str | None = None, options: TableOptions = AS_PUBLISHED
) -> tuple[list[Table], list[str]]:
    """Return the tables of a results folder, at least one, and notes on what was left out."""
    tables, notes, empty = collect_tables(folder, table, options)
    if not tables:
        raise ResultsError("\n".join(empty) or f"{folder} holds no tables")
    return tables, [*notes, *empty]


def collect_tables(
    folder: Path, table: str | None = None, options: TableOptions = AS_PUBLISHED
) -> tuple[list[Table], list[str], list[str]]:
    """Return the tables of a results folder, notes on what was left out, and why other tables are empty."""
    runs, store = open_results(folder)
    shown = shape_runs(select_tables(runs, table), options)
    baselines = [b for run in shown if (b := find_baseline(run, runs)) is not None]
    read_runs(store, runs, [*shown, *(b for b in baselines if b not in shown)])
    tables = [build_table(run, runs, options) for run in shown if run.cells]
    return tables, store.notes, list(filter(None, map(explain_empty, shown)))


def shape_runs(runs: Sequence[RunResult], options: TableOptions) -> list[RunResult]:
    """Restrict runs that are not read yet to the data sets, learners and metrics of the options.

    A run with none of the data sets or learners is left out. A name that no run has raises ConfigError.
    """
    _check_names("--datasets", "data set", options.datasets, runs, lambda run: run.datasets)
    _check_names("--learners", "learner", options.learners, runs, _list_learner_names)
    metrics = check_metric_names(options.metrics)
    return [shaped for run in runs if (shaped := _shape_run(run, options, metrics)) is not None]


def check_metric_names(names: Sequence[str]) -> list[str]:
    """Return metrics by their registered names; raise ConfigError for an unknown or repeated one."""
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
            known = {each.lower(): each for each in reversed(names)}  # either a label or its title
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
    """Return the changed keys of an experiment that shows other metrics."""
    are_ratios = [bool(load_metric(name).ratio_of) for name in metrics]
    if any(are_ratios) and not (all(are_ratios) and run.experiment.ratios):
        ratio = metrics[are_ratios.index(True)]
        raise ConfigError(
            f"--metrics: '{ratio}' requires a table of ratios (see --table), and no other kind of metric"
        )
    also = metrics[1] if len(metrics) == 2 else tuple(metrics[1:]) or None
    changes: dict[str, Any] = {"metric": metrics[0], "also": also}
    if not any(are_ratios):
        changes["ratios"] = None
    if metrics != run.metrics:
        changes["title"] = f"{', '.join(metrics)} of the same tasks"
    return changes | ({"improvement": None} if metrics[0] != run.metric else {})


def replace_experiment(run: RunResult, changes: dict[str, Any]) -> RunResult:
    """Return an unread run with changed keys in its experiment, and only the cells that remain."""
    experiment = run.experiment.model_copy(update=changes)
    datasets, labels = {d.name for d in experiment.datasets}, {spec.label for spec in experiment.learners}
    cells = [c for c in run.manifest.cells if c.dataset in datasets and c.learner in labels]
    return RunResult(replace(run.manifest, experiment=experiment, cells=cells))
