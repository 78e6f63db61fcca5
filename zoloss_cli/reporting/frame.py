"""Results as one DataFrame, one record per row: see frame_columns.py for its columns.

Columns are built from whole cells: what a cell has once is repeated by its code, and a field of all records is
read in one pass. There are hundreds of thousands of records, and none of them becomes a dict.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting import frame_columns as columns
from zoloss_cli.reporting.frame_arrays import (
    CellPart,
    RecordSelection,
    build_column,
    collect_confusion,
    encode_json,
    repeat_values,
)
from zoloss_cli.reporting.loading import CellReader, open_results, select_runs
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.cell_file import StoredCell
from zoloss_cli.utils.garbage import pause_garbage_collection

# What is not part of the protocol.
IDENTITY_KEYS = ("format", "data", "learner", "version", "package", "code", "parameters")


def load_results(path: str | PathLike[str], *, table: str | None = None) -> pd.DataFrame:
    """Return the records of a results folder as one DataFrame, one row each.

    Every record is read and checked as by the commands; `zoloss export` writes the same rows to a file.

    Parameters
    ----------
    path : str or path-like
        The results folder.
    table : str or None, default=None
        Only the records of this table, by its number or the run's name, with the names that they have there.

    Returns
    -------
    pandas.DataFrame
        One row per record, with the columns of docs/results.md. A record that several runs share appears once,
        under the first of them in the papers' order; ``also_in`` names the others. Text is categorical, counts
        are nullable integers, and what a record does not have is missing.

    Warns
    -----
    UserWarning
        If a part of the folder is damaged and left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from zoloss_cli import load_results, run_experiment
    >>> config = {"datasets": ["heart"], "learners": ["fld"], "split": {"repeats": 3}}
    >>> with TemporaryDirectory() as folder:
    ...     _ = run_experiment(config, out=folder)
    ...     frame = load_results(folder)
    >>> frame[["dataset", "learner", "split", "n_train", "n_test"]].values.tolist()
    [['heart', 'fld', 0, 216, 54], ['heart', 'fld', 1, 216, 54], ['heart', 'fld', 2, 216, 54]]
    """
    frame, notes = build_frame(Path(path), table)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return frame


def build_frame(folder: Path, table: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Return the DataFrame of :func:`load_results`, and what was damaged and left out."""
    runs, store = open_results(folder)
    reader = CellReader(store, runs)
    with pause_garbage_collection():
        parts = list(_read_parts(reader, runs, table))
        if not parts:
            what = f"the table '{table}' has" if table else f"{folder} holds"
            raise ResultsError(f"{what} no record yet; to see what is left to run: zoloss status {folder}")
        frame = _build_columns(parts, runs)
    return frame, store.notes


def _read_parts(reader: CellReader, runs: list[RunResult], table: str | None) -> Iterator[CellPart]:
    """Yield each cell file once; with a table, each of that table's cells."""
    stored: dict[str, StoredCell] = {}
    for run in select_runs(runs, table):
        for cell in run.manifest.cells:
            if table is None and cell.file in stored:
                continue
            if cell.file not in stored:
                stored[cell.file] = reader.read(cell)
            found = stored[cell.file]
            records = [found.records[split] for split in found.splits]
            failed = [found.failed[split] for split in sorted(found.failed)]
            if records or failed:
                yield CellPart(run, cell, found, records, failed)


def _build_columns(parts: list[CellPart], runs: list[RunResult]) -> pd.DataFrame:
    lengths = np.array([len(part.records) + len(part.failed) for part in parts])
    by_cell = _describe_cells(parts, runs)
    built: dict[str, Any] = {
        column.name: repeat_values(column, by_cell[column.name], lengths)
        for column in (*columns.PLACE, *columns.SIZES, *columns.ORIGIN)
    }
    fits = RecordSelection.take(parts, lengths, "fit")
    measures = RecordSelection.take(parts, lengths, "measure")
    failures = RecordSelection.take(parts, lengths, None)
    for column in (*columns.SPLIT, *columns.TIMES):
        selections = [fits, measures, *([] if column.name == "fit_time" else [failures])]
        built[column.name] = build_column(column, selections)
    for column in (*columns.ERRORS, *columns.FIT):
        built[column.name] = build_column(column, [fits])
    for column in columns.MEASURE:
        built[column.name] = build_column(column, [measures])
    measured = measures._replace(records=[record.measured for record in measures.records])
    for column in columns.MEASURED:
        built[column.name] = build_column(column, [measured])
    for column in columns.FAILED:
        built[column.name] = build_column(column, [failures])
    built |= collect_confusion(fits)
    for part in ("train", "test"):
        built[f"{part}_error"] = _compute_rates(built[f"{part}_errors"], built[f"n_{part}"])
    return pd.DataFrame({column.name: built[column.name] for column in columns.COLUMNS}, copy=False)


def _compute_rates(errors: Any, sizes: Any) -> np.ndarray:
    counts = errors.to_numpy(dtype=float, na_value=np.nan)
    samples = sizes.to_numpy(dtype=float, na_value=np.nan)
    samples[samples == 0.0] = np.nan
    return 100.0 * counts / samples


def _describe_cells(parts: list[CellPart], runs: list[RunResult]) -> dict[str, list[Any]]:
    """Return the columns that are the same in all records of a cell, one value per cell."""
    owners: dict[str, list[RunResult]] = {}
    for run in runs:
        for cell in run.manifest.cells:
            shown_by = owners.setdefault(cell.file, [])
            if not any(owner is run for owner in shown_by[-1:]):
                shown_by.append(run)
    rows = [_describe_cell(part, owners[part.cell.file]) for part in parts]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _describe_cell(part: CellPart, owners: list[RunResult]) -> dict[str, Any]:
    run, cell, stored = part.run, part.cell, part.stored
    identity = stored.identity
    made_by = [info for owner in owners for info in owner.manifest.runs]
    place = run.table or run.figure
    return {
        "run": run.name,
        "table": f"{run.paper}/{place}" if place else None,
        "also_in": ", ".join(owner.name for owner in owners if owner is not run) or None,
        "dataset": cell.dataset,
        "learner": cell.learner,
        "variant": cell.choice or None,
        "kind": stored.kind,
        "seed": _find_seed(identity),
        "n_train": stored.n_train,
        "n_test": stored.n_test,
        "data": encode_json(identity.get("data")),
        "protocol": encode_json({key: value for key, value in identity.items() if key not in IDENTITY_KEYS}),
        "learner_name": _name_learner(identity),
        "learner_version": _to_text(identity.get("version")),
        "learner_package": _to_text(identity.get("package", identity.get("code"))),
        "parameters": encode_json(identity.get("parameters")),
        "key": cell.key,
        "zoloss": _join_versions(info.zoloss for info in made_by),
        "python": _join_versions(info.python for info in made_by),
        "numpy": _join_versions(info.packages.get("numpy", "") for info in made_by),
        "platform": _join_versions(info.platform for info in made_by),
    }


def _find_seed(identity: dict) -> int | None:
    split = identity.get("split")
    seed = split.get("seed") if isinstance(split, dict) else None
    return seed if isinstance(seed, int) else None


def _name_learner(identity: dict) -> str:
    """Return the name of a learner, followed by those of the learners inside, such as adaboost:stump."""
    names, inside = [str(identity.get("learner"))], identity.get("parameters")
    for value in inside.values() if isinstance(inside, dict) else ():
        if isinstance(value, dict) and "learner" in value:
            names.append(_name_learner(value))
    return ":".join(names)


def _to_text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else encode_json(value)


def _join_versions(versions: Iterator[str]) -> str | None:
    return ", ".join(sorted(set(filter(None, versions)))) or None
