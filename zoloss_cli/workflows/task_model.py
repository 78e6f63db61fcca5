"""The fitted learner of a task as a model of a table: its rule in the data set's own units, and its file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from zoloss_cli.config.data_models import ALL, CsvData, EmbeddedData
from zoloss_cli.datasets.column_kinds import CsvColumn
from zoloss_cli.datasets.column_selection import ColumnSelection
from zoloss_cli.datasets.csv_reader import is_number, read_rows, read_table
from zoloss_cli.datasets.csv_table import FILLING, CsvTable, read_for_training
from zoloss_cli.datasets.dataset import find_data_path
from zoloss_cli.datasets.imputation import compute_fill
from zoloss_cli.datasets.scaling import compute_scaling
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.split_data import SplitData
from zoloss_cli.experiment.task import FittedTask
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE
from zoloss_cli.workflows.fit import TableFit, find_errors
from zoloss_cli.workflows.linear_rule import convert_to_original_units
from zoloss_cli.workflows.model_io import check_serializable, render_model

LABEL = "label"  # of generated pools, which have no columns


def build_table_fit(cell: Cell, fitted: FittedTask) -> TableFit:
    """Return a fitted task as the fit of a table with the samples that the learner saw.

    Parameters
    ----------
    cell : Cell
        The task's cell.
    fitted : FittedTask
        The task, with its fitted learner.

    Returns
    -------
    TableFit
        What `zoloss fit` would return for this table: estimator, rule in its own units, errors and bound.
    """
    split, estimator = fitted.split_data, fitted.learner
    data, seen = split.data, split.fit_indices
    table = _build_table(cell, split)
    reference = data.X[split.train] if split.scaling_samples is None else split.scaling_samples
    centre, spread = compute_scaling(reference, split.scaling)
    rule = None
    if isinstance(estimator, LinearLearner):
        rule = convert_to_original_units(
            estimator.coef_[0], estimator.intercept_[0], centre, spread, table.features
        )
    X, y = split.scale(data.X[seen]), data.y[seen]
    bound = getattr(estimator, "lower_bound_", None)
    return TableFit(
        table,
        fitted.spec,
        cell.rule.seed,
        split.scaling,
        centre,
        spread,
        data.classes,
        y,
        estimator,
        rule,
        np.bincount(y[find_errors(X, y, estimator, None)], minlength=len(data.classes)),
        None if bound is None else math.ceil(bound - LOSS_TOLERANCE),
        getattr(estimator, "bound_is_exact_", False),
        fitted.fit_time,
    )


def check_model_possible(cell: Cell) -> None:
    """Refuse a task whose model `zoloss predict` could not use, before it is run."""
    if cell.kind == "measure":
        raise ConfigError(f"--model: '{cell.learner.label}' is a measure of data, not a model")
    for spec in cell.learner.tune or (cell.learner,):
        check_serializable(spec)
    data = cell.data
    if isinstance(data, EmbeddedData):
        header, lines = read_rows(find_data_path(data))
        for i, name in enumerate(header):
            if name != _find_label(header) and not all(is_number(row[i]) for _, row in lines):
                raise ConfigError(
                    f"--model: column '{name}' of '{data.name}' holds codes that stand for ranks, which a "
                    "model file cannot express; fit the table itself: zoloss fit"
                )


def render_task_model(cell: Cell, fit: TableFit) -> str:
    """Return the content of the model file of a task."""
    return render_model(fit, cell.data.missing if isinstance(cell.data, CsvData) else "error")


def _build_table(cell: Cell, split: SplitData) -> CsvTable:
    """Return the table that a data set comes from, with the samples that the learner saw."""
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
