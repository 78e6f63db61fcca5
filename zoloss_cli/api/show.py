"""Rerun one task: find it in results or in a config, run it, and compare it with its stored record."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.api.experiments import load_experiment
from zoloss_cli.api.fit import TableFit, describe_classes, find_errors, find_rule
from zoloss_cli.api.models import check_serializable, render_model
from zoloss_cli.api.rules import build_readable_rule, render_rule
from zoloss_cli.config.models import ALL, CsvData, EmbeddedData
from zoloss_cli.data.columns import ColumnSelection, CsvColumn, compute_fill
from zoloss_cli.data.dataset import find_data_path
from zoloss_cli.data.read import is_number, read_rows, read_table
from zoloss_cli.data.splits import compute_scaling
from zoloss_cli.data.user_table import FILLING, CsvTable, read_for_training
from zoloss_cli.errors import ConfigError, DataError, ResultsError, ZolossError, suggest_nearest
from zoloss_cli.experiment.fitting import SplitData
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import FittedTask, build_record, find_cell, fit_task, measure_task
from zoloss_cli.report.runs import RunResult, load_runs, open_results, select_runs
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import TIMES, FailedRecord, Record
from zoloss_cli.utils.text import list_options


@dataclass(frozen=True)
class TaskAddress:
    """A task to rerun."""

    cell: Cell
    split: int  # the number of its split
    run: str  # the name of its run
    stored: Record | FailedRecord | None = None  # always None for a task of a config
    notes: tuple[str, ...] = ()  # what is damaged in the results folder


@dataclass(frozen=True)
class ShownTask:
    """A task that was rerun."""

    address: TaskAddress  # which task
    record: Record  # its new record
    fitted: FittedTask | None  # the fitted learner and its data; None for a measure

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
    """Find a task in a results folder."""
    runs, store = open_results(folder)
    found = _find_in_runs(select_runs(runs, table), dataset, learner, folder)
    keys = {cell.key for _, cells in found for cell in cells}
    if len(found) > 1 and any({cell.key for cell in cells} != keys for _, cells in found):
        names = ", ".join(run.name for run, _ in found)
        raise ResultsError(
            f"{learner} on {dataset} differs between the runs of {folder}; name one with --table: {names}"
        )
    run, cells = found[0]
    shown = cells[0] if len(cells) == 1 else _find_shown_cell(folder, run, cells)
    cell = find_cell(run.manifest, shown.dataset, shown.learner, shown.choice)
    _check_split(split, cell, f"'{run.name}'")
    stored = store.read(shown.file, shown.key)
    notes = list(store.notes)
    if stored.fault or stored.n_damaged:
        fault = stored.fault or f"has {stored.n_damaged} damaged lines"
        notes.append(f"{store.path(shown.file)} {fault}; left out")
    record = stored.records.get(split) or stored.failed.get(split)
    return TaskAddress(cell, split, run.name, record, tuple(notes))


def find_planned_task(config: Path, dataset: str, learner: str, split: int) -> TaskAddress:
    """Find a task in a config."""
    experiment = load_experiment(config)
    cells = plan(experiment)
    places = [(cell.data.name, {cell.learner.label, cell.learner.name}) for cell in cells]
    _check_names(dataset, learner, places, str(config))
    named = zip(cells, places, strict=True)
    found = [cell for cell, (name, labels) in named if name == dataset and learner in labels]
    if len(found) > 1:
        raise ConfigError(
            f"{config}: {learner} on {dataset} has {len(found)} settings, and the best is known only from "
            "results: run the config, and use --results"
        )
    _check_split(split, found[0], str(config))
    return TaskAddress(found[0], split, experiment.name)


def run_again(address: TaskAddress) -> ShownTask:
    """Rerun a task and keep its fitted learner."""
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
    """Reject an unknown data set or learner, or a pair that does not occur together."""
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


MAX_SHOWN_LENGTH = 60
ZERO_BY_DEFAULT = ("n_unseen", "n_unsplit")


def render_task(shown: ShownTask, fit: TableFit | None, show_all: bool = False) -> str:
    """Return a task as text."""
    cell, address = shown.address.cell, shown.address
    spec = cell.learner if shown.fitted is None else shown.fitted.spec
    lines = [
        f"task      {cell.learner.label} on {cell.data.name}, split {address.split} of '{address.run}'",
        f"learner   {spec.name} {json.dumps(spec.parameters, ensure_ascii=False)}",
    ]
    if shown.fitted is not None:
        split = shown.fitted.split_data
        sizes = f"{len(split.train):,} samples train, {len(split.test):,} test"
        pruned = f", {split.pruned.size:,} left out as noise" if split.pruned.size else ""
        lines.append(f"data      {sizes}{pruned}, {split.data.X.shape[1]:,} features, scaled: {split.scaling}")
        lines.append(f"classes   {describe_classes(split.data.classes, split.data.y[split.fit_indices])}")
    lines += [f"record    {text}" for text in _list_fields(shown.record)]
    lines.append(f"stored    {describe_agreement(shown)}")
    if fit is not None and fit.rule is None:
        lines.append(f"rule      '{spec.name}' is not a linear rule: it has no weights to show")
    elif fit is not None and fit.rule is not None:
        readable = build_readable_rule(fit.rule, fit.table)
        lines += [f"levels    {text}" for text in fit.table.list_levels(readable.indicators)]
        lines += render_rule(readable, fit.classes[1], show_all)
    return "\n".join(lines)


def describe_agreement(shown: ShownTask) -> str:
    """Return whether the task reproduces its stored record."""
    stored = shown.address.stored
    if stored is None:
        return "no record of this task is stored"
    if isinstance(stored, FailedRecord):
        return f"the task had failed: {stored.failed}"
    differences = shown.list_differences()
    return f"different numbers: {'; '.join(differences)}" if differences else "the same numbers"


def _list_fields(record: Record) -> list[str]:
    """Return the fields of a record as text, except times and the split."""
    values: dict[str, Any] = {name: getattr(record, name) for name in record.__struct_fields__}
    if (measured := values.pop("measured", None)) is not None:
        values |= {name: getattr(measured, name) for name in measured.__struct_fields__}
    shown = {name: value for name, value in values.items() if name not in TIMES | {"split"}}
    return [
        f"{name} {_shorten(value)}"
        for name, value in shown.items()
        if value not in (None, []) and not (name in ZERO_BY_DEFAULT and value == 0)
    ]


def _shorten(value: Any) -> str:
    text = str(value)
    if len(text) <= MAX_SHOWN_LENGTH:
        return text
    return f"{text[:MAX_SHOWN_LENGTH]}... ({len(value):,} values)" if hasattr(value, "__len__") else text


LABEL = "label"  # of generated pools, which have no columns


def build_table_fit(cell: Cell, fitted: FittedTask) -> TableFit:
    """Return a fitted task as the fit of a table with the samples that the learner was fitted to."""
    split, estimator = fitted.split_data, fitted.learner
    data, seen = split.data, split.fit_indices
    table = _build_table(cell, split)
    reference = data.X[split.train] if split.scaling_samples is None else split.scaling_samples
    centre, spread = compute_scaling(reference, split.scaling)
    X, y = split.scale(data.X[seen]), data.y[seen]
    return TableFit(
        *(table, fitted.spec, cell.rule.seed, split.scaling, centre, spread, data.classes, y, estimator),
        rule=find_rule(estimator, centre, spread, table),
        class_errors=np.bincount(y[find_errors(X, y, estimator, None)], minlength=len(data.classes)),
        seconds=fitted.fit_time,
    )


def check_model_possible(cell: Cell) -> None:
    """Reject a task whose model `zoloss predict` could not use, before it is run."""
    if cell.kind == "measure":
        raise ConfigError(f"--model: '{cell.learner.label}' is a measure of data, not a model")
    for spec in cell.learner.tune or (cell.learner,):
        check_serializable(spec)
    data = cell.data
    if isinstance(data, EmbeddedData):
        header, lines = read_rows(find_data_path(data))
        for i, name in enumerate(header):
            if name != _find_label(header) and not all(is_number(row[i]) for _, row in lines):
                own = list_options({"positive": data.positive})
                command = shlex.join(["zoloss", "fit", data.dataset or data.name, *own])
                raise ConfigError(
                    f"--model: column '{name}' of '{data.name}' holds codes of ordered levels, which a "
                    f"model file cannot represent; fit the table itself: {command}"
                )


def render_task_model(cell: Cell, fit: TableFit) -> str:
    """Return the content of the model file of a task."""
    return render_model(fit, cell.data.missing if isinstance(cell.data, CsvData) else "error")


def _build_table(cell: Cell, split: SplitData) -> CsvTable:
    """Return the table of a data set, with the samples that the learner was fitted to."""
    spec, data = cell.data, split.data
    X, lines = data.X[split.fit_indices], [0] * len(split.fit_indices)
    if isinstance(spec, CsvData):
        selection = ColumnSelection(spec.drop, spec.features, spec.id)
        whole = read_for_training(Path(spec.csv), spec.label, spec.missing, selection=selection)
        columns = _fill_columns(cell, split, whole) if spec.missing in FILLING else whole.columns
        return replace(whole, columns=columns, X=X, lines=lines, gaps=(), notes=[])
    columns = tuple(map(CsvColumn, data.features))
    if isinstance(spec, EmbeddedData):
        path = find_data_path(spec)
        header, _ = read_rows(path)
        return CsvTable(path, columns, X, _find_label(header), read_table(path).labels, lines)
    return CsvTable(Path(data.name), columns, X, LABEL, list(data.classes), lines)


def _find_label(header: list[str]) -> str:
    return LABEL if LABEL in header else header[-1]


def _fill_columns(cell: Cell, split: SplitData, whole: CsvTable) -> tuple[CsvColumn, ...]:
    """Return the columns with fill values for missing ones, computed from the same samples as in the task."""
    samples = np.arange(len(whole.X)) if cell.fit_on == ALL or cell.data.noise else split.train
    missing = {gap.start: gap.rows for gap in whole.gaps}
    filled, start = [], 0
    for column in whole.columns:
        known = samples[~np.isin(samples, missing.get(start, ()))]
        levels = column.levels
        fill = compute_fill(whole.X[known, start : start + column.width], levels is not None)
        value = float(fill[0]) if levels is None else levels[int(np.argmax(fill))]
        filled.append(replace(column, fill=value))
        start += len(column.features)
    return tuple(filled)
