"""Rerun one task: find it in results or in a config, run it, and compare it with its stored record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zoloss_cli.errors import ConfigError, DataError, ResultsError, ZolossError, suggest_nearest
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.retrain import find_cell
from zoloss_cli.experiment.task import FittedTask, build_record, fit_task, measure_task
from zoloss_cli.reporting.loading import load_runs, open_results, select_runs
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import TIMES, FailedRecord, Record
from zoloss_cli.results.store import Store
from zoloss_cli.workflows.load_experiment import load_experiment


@dataclass(frozen=True)
class TaskAddress:
    """A task to rerun.

    Attributes
    ----------
    cell : Cell
        Its cell.
    split : int
        The number of its split.
    run : str
        The name of its run.
    stored : Record, FailedRecord or None
        Its stored record; None if there is none, or it comes from a config.
    notes : tuple of str
        What is damaged in the results folder.
    """

    cell: Cell
    split: int
    run: str
    stored: Record | FailedRecord | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownTask:
    """A task that was rerun.

    Attributes
    ----------
    address : TaskAddress
        Which task.
    record : Record
        Its new record.
    fitted : FittedTask or None
        The fitted learner and its data; None for a measure.
    """

    address: TaskAddress
    record: Record
    fitted: FittedTask | None

    def list_differences(self) -> list[str]:
        """Return the fields in which the stored record differs, with both values, except times."""
        stored = self.address.stored
        if stored is None or isinstance(stored, FailedRecord):
            return []
        return [
            f"{name} {before} is stored, {now} now"
            for name in self.record.__struct_fields__
            if name not in TIMES
            and None not in (before := getattr(stored, name), now := getattr(self.record, name))
            and before != now
        ]


def find_stored_task(folder: Path, table: str | None, dataset: str, learner: str, split: int) -> TaskAddress:
    """Find a task in a results folder.

    Parameters
    ----------
    folder : Path
        The results folder.
    table : str or None
        The table's number or the run's name; None for any run with the cell.
    dataset, learner : str
        The data set's name and the learner's label, or its registered name.
    split : int
        The number of the split.

    Returns
    -------
    TaskAddress
        The task, and its stored record.
    """
    runs, store = open_results(folder)
    found = _find_in_runs(select_runs(runs, table), dataset, learner, folder)
    keys = {cell.key for _, cells in found for cell in cells}
    if len(found) > 1 and any({cell.key for cell in cells} != keys for _, cells in found):
        names = ", ".join(run.name for run, _ in found)
        raise ResultsError(
            f"{learner} on {dataset} is not the same in all runs of {folder}; name one with --table: {names}"
        )
    run, cells = found[0]
    if len(cells) > 1:
        cells = [_find_shown_cell(folder, run, cells)]
    (shown,) = cells
    cell = find_cell(run.manifest, shown.dataset, shown.learner, shown.choice)
    _check_split(split, cell, f"'{run.name}'")
    stored = store.read(shown.file, shown.key)
    notes = tuple(store.notes) + _describe_damage(store, shown, stored.fault, stored.n_damaged)
    record = stored.records.get(split) or stored.failed.get(split)
    return TaskAddress(cell, split, run.name, record, notes)


def find_planned_task(config: Path, dataset: str, learner: str, split: int) -> TaskAddress:
    """Find a task in a config; see :func:`find_stored_task` for the parameters."""
    experiment = load_experiment(config)
    cells = plan(experiment)
    places = [(cell.data.name, {cell.learner.label, cell.learner.name}) for cell in cells]
    _check_names(dataset, learner, places, str(config))
    found = [
        cell
        for cell, (name, labels) in zip(cells, places, strict=True)
        if name == dataset and learner in labels
    ]
    if len(found) > 1:
        raise ConfigError(
            f"{config}: {learner} on {dataset} has {len(found)} settings, and only results show the best; "
            "run the config, and use --results"
        )
    _check_split(split, found[0], str(config))
    return TaskAddress(found[0], split, experiment.name)


def run_again(address: TaskAddress) -> ShownTask:
    """Run a task and keep what it fitted."""
    cell, split = address.cell, address.split
    try:
        if cell.kind == "measure":
            return ShownTask(address, measure_task(cell, split), None)
        fitted = fit_task(cell, split)
        return ShownTask(address, build_record(cell, split, fitted), fitted)
    except ZolossError:
        raise
    except (Exception, SystemExit) as error:  # as in a run, where it becomes the record of a failed task
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(f"{cell.learner.label} on {cell.data.name}, split {split}, fails: {reason}") from error


def _find_in_runs(
    runs: list[RunResult], dataset: str, learner: str, folder: Path
) -> list[tuple[RunResult, list[ManifestCell]]]:
    """Return the runs with a cell, and its entries: several if a column shows the best of several settings."""
    found, places = [], []
    for run in runs:
        names = {spec.label: {spec.label, spec.name} for spec in run.experiment.learners}
        places += [(cell.dataset, names[cell.learner]) for cell in run.manifest.cells]
        cells = [
            cell for cell in run.manifest.cells if cell.dataset == dataset and learner in names[cell.learner]
        ]
        exact = [cell for cell in cells if cell.learner == learner]
        if cells:
            found.append((run, exact or [cell for cell in cells if cell.learner == cells[0].learner]))
    if not found:
        _check_names(dataset, learner, places, str(folder))
    return found


def _check_names(dataset: str, learner: str, places: list[tuple[str, set[str]]], where: str) -> None:
    """Refuse a data set or learner that does not exist, or not together with the other."""
    datasets = dict.fromkeys(name for name, _ in places)
    if dataset not in datasets:
        raise ResultsError(f"{where} has no data set '{dataset}'{suggest_nearest(dataset, datasets)}")
    labels = dict.fromkeys(label for name, labels in places for label in sorted(labels) if name == dataset)
    if learner not in labels:
        raise ResultsError(f"{where} has no learner '{learner}' on {dataset}{suggest_nearest(learner, labels)}")


def _check_split(split: int, cell: Cell, where: str) -> None:
    if split >= cell.repeats:
        place = f"{cell.learner.label} on {cell.data.name}"
        raise ResultsError(f"{where} has the splits 0 to {cell.repeats - 1} of {place}, and no split {split}")


def _find_shown_cell(folder: Path, run: RunResult, cells: list[ManifestCell]) -> ManifestCell:
    """Return the entry whose settings the table shows: those with the best mean."""
    runs, _ = load_runs(folder, run.name)
    place = (cells[0].dataset, cells[0].learner)
    shown = next(each.cells.get(place) for each in runs if each.name == run.name)
    if shown is None:
        raise ResultsError(
            f"{place[1]} on {place[0]} has {len(cells)} settings and no finished task yet; "
            f"run: {run.manifest.command()}"
        )
    return next(cell for cell in cells if cell.choice == shown.choice)


def _describe_damage(store: Store, cell: ManifestCell, fault: str, n_damaged: int) -> tuple[str, ...]:
    if fault or n_damaged:
        return (f"{store.path(cell.file)} {fault or f'has {n_damaged} damaged lines'}; left out",)
    return ()
