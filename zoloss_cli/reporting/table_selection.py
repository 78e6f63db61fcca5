"""Tables of a results folder as selected by options: some data sets, learners and metrics, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.registry import METRIC_ALIASES, load_metric
from zoloss_cli.reporting.loading import explain_empty, open_results, read_runs
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.selection import select_tables
from zoloss_cli.reporting.stars import find_baseline
from zoloss_cli.reporting.table_options import AS_PUBLISHED, TableOptions
from zoloss_cli.reporting.tables import Table, build_table
from zoloss_cli.reporting.titles import build_column_titles


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
