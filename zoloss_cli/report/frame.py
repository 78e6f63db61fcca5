"""Load results as one DataFrame, one row per record, and export them as a file."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from zoloss_cli.choices import EXPORT_FORMATS
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.report.render import guard_cell
from zoloss_cli.report.runs import CellReader, RunResult, open_results, select_runs
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import FailedRecord, RecordKind
from zoloss_cli.results.store import StoredCell
from zoloss_cli.utils.imports import import_optional

ColumnType = Literal["text", "count", "number", "truth"]
# Their dtypes in pandas. Nullable integers keep counts with missing values from becoming floats.
DTYPES: dict[ColumnType, str] = {"text": "category", "count": "Int64", "number": "float64", "truth": "boolean"}
PARTS = ("train", "test")
CONFUSION_COUNTS = ("tn", "fp", "fn", "tp")


class FrameColumn(NamedTuple):
    """A column: its name and its type; docs/results.md describes it."""

    name: str
    type: ColumnType


def _declare(type: ColumnType, *names: str) -> tuple[FrameColumn, ...]:
    return tuple(FrameColumn(name, type) for name in names)


# Properties of a cell, the same in all its records.
PLACE = _declare("text", "run", "table", "also_in", "dataset", "learner", "variant", "kind")
SIZES = _declare("count", "seed", "n_train", "n_test")
ORIGIN = (
    *_declare("text", "data", "protocol", "learner_name", "learner_version", "learner_package", "parameters"),
    *_declare("text", "key", "zoloss", "python", "numpy", "platform"),
)
# Properties of a record.
SPLIT = _declare("count", "split")
ERRORS = _declare("count", "train_errors", "test_errors")
RATES = _declare("number", "train_error", "test_error")
CONFUSION = _declare("count", *(f"{part}_{name}" for part in PARTS for name in CONFUSION_COUNTS))
MATRICES = _declare("text", *(f"{part}_confusion" for part in PARTS))
FIT = (
    *_declare("count", "train_errors_lenient", "n_pruned", "n_flipped", "n_flipped_pruned", "n_unseen"),
    *_declare("text", "choice"),
    *_declare("number", "time_to_best", "lower_bound", "time_to_bound"),
    *_declare("text", "proof"),
    *_declare("count", "n_cones"),
    *_declare("number", "part_bound"),
    *_declare("count", "n_parts", "iterations", "error_counts"),
    *_declare("number", "cost"),
    *_declare("count", "n_unsplit"),
    *_declare("number", "counted", "bound", "success_share", "success_bound"),
)
TIMES = _declare("number", "fit_time", "wall_time")
MEASURE = _declare("count", "draw")
MEASURED = (
    *_declare("count", "complexity", "principal_points", "principal_subsets"),
    *_declare("truth", "exact"),
    *_declare("count", "solves", "permutations"),
)
FAILED = _declare("text", "failed")

COLUMNS = (
    *(*PLACE, *SPLIT, *SIZES, *ERRORS, *RATES),
    *(*CONFUSION, *MATRICES, *FIT, *TIMES, *MEASURE, *MEASURED, *FAILED, *ORIGIN),
)

MAX_EXACT_COUNT = 1 << 53  # from here on, floats cannot represent all integers


class CellPart(NamedTuple):
    """The records of one cell in the order of splits, its failed tasks, and where they belong."""

    run: RunResult
    cell: ManifestCell
    stored: StoredCell
    records: list[Any]
    failed: list[FailedRecord]


def _encode_json(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return msgspec.json.encode(value).decode()


class RecordSelection(NamedTuple):
    """Some of the records, their rows in the frame, and its number of rows."""

    records: list[Any]
    rows: np.ndarray
    n_rows: int

    @classmethod
    def take(cls, parts: list[CellPart], lengths: np.ndarray, kind: RecordKind | None) -> RecordSelection:
        """Select the records of cells of a kind, or all failed ones."""
        starts = np.cumsum(lengths) - lengths
        records: list[Any] = []
        rows = [np.empty(0, np.int64)]
        for part, start in zip(parts, starts.tolist(), strict=True):
            chosen: list[Any] = part.failed if kind is None else part.records
            if chosen and kind in (None, part.stored.kind):
                first = start + (len(part.records) if kind is None else 0)
                records += chosen
                rows.append(np.arange(first, first + len(chosen)))
        return cls(records, np.concatenate(rows), int(lengths.sum()))

    def get_values(self, name: str) -> list[Any]:
        """Return a field of all selected records."""
        return list(map(attrgetter(name), self.records))

    def build_texts(self, texts: list[Any]) -> pd.Categorical:
        """Return a column with a text for each selected record; other rows have none."""
        codes, categories = _factorize(texts)
        all_codes = np.full(self.n_rows, -1, dtype=codes.dtype)
        all_codes[self.rows] = codes
        return pd.Categorical.from_codes(all_codes, categories=categories)


def build_column(column: FrameColumn, selections: list[RecordSelection]) -> Any:
    """Return a field of the selected records as a column; other rows have none."""
    if column.type == "text":
        (selection,) = selections
        return selection.build_texts(selection.get_values(column.name))
    numbers = np.full(selections[0].n_rows, np.nan)
    for selection in selections:
        values = selection.get_values(column.name)
        if values.count(None) < len(values):
            numbers[selection.rows] = _convert_numbers(values)
    if column.type == "count":
        return _build_counts(numbers)
    if column.type == "truth":
        missing = np.isnan(numbers)
        return pd.arrays.BooleanArray(np.where(missing, 0.0, numbers).astype(bool), missing)
    return numbers


def _collect_confusion(fits: RecordSelection) -> dict[str, Any]:
    """Return confusion counts: the four of two classes separately, and all of them as JSON."""
    built: dict[str, Any] = {}
    for part in PARTS:
        matrices = fits.get_values(f"{part}_confusion")
        four = np.full((fits.n_rows, 4), np.nan)
        for row, matrix in zip(fits.rows.tolist(), matrices, strict=True):
            if matrix is not None and [len(line) for line in matrix] == [2, 2]:
                four[row] = [*matrix[0], *matrix[1]]
        for name, counts in zip(CONFUSION_COUNTS, four.T, strict=True):
            built[f"{part}_{name}"] = _build_counts(counts)
        texts = [None if matrix is None else _encode_json(matrix) for matrix in matrices]
        built[f"{part}_confusion"] = fits.build_texts(texts)
    return built


def _factorize(texts: list[Any]) -> tuple[np.ndarray, pd.Index]:
    """Return the code of each text, -1 for None, and the texts by their codes."""
    if texts.count(None) == len(texts):
        return np.full(len(texts), -1), pd.Index([], dtype="str")
    codes, uniques = pd.factorize(np.array(texts, dtype=object))
    return codes, pd.Index(uniques, dtype="str")


def _convert_numbers(values: list[Any]) -> np.ndarray:
    """Return values as floats; None becomes NaN in the same pass."""
    try:
        return np.array(values, dtype=float)
    except OverflowError:
        raise ResultsError("a record holds a number that is too large for a float") from None


def _build_counts(numbers: np.ndarray) -> Any:
    missing = np.isnan(numbers)
    if np.any(numbers >= MAX_EXACT_COUNT):
        raise ResultsError(f"a record holds a count of {MAX_EXACT_COUNT:,} or more, which is too large")
    return pd.arrays.IntegerArray(np.where(missing, 0.0, numbers).astype(np.int64), missing)


# There are hundreds of thousands of records, so columns are built from whole cells, without a dict per record:
# properties of a cell are repeated as categorical codes, and a field of all records is read in one pass.

# The keys of a cell's identity that are not part of the protocol.
IDENTITY_KEYS = ("format", "data", "learner", "version", "package", "code", "parameters")


def load_results(path: str | PathLike[str], *, table: str | None = None) -> pd.DataFrame:
    """Return the records of a results folder as one DataFrame, one row each.

    Every record is validated as by the commands; `zoloss export` writes the same rows to a file.

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
        are nullable integers, and fields that a record lacks are missing values.

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
    """Return the DataFrame of :func:`load_results`, and notes on damaged parts that were left out."""
    runs, store = open_results(folder)
    reader = CellReader(store, runs)
    parts = list(_read_parts(reader, runs, table))
    if not parts:
        what = f"the table '{table}' has" if table else f"{folder} holds"
        raise ResultsError(f"{what} no record yet; to see what is left to run: zoloss status {folder}")
    return _build_columns(parts, runs), store.notes


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
    built: dict[str, Any] = {}
    for column in (*PLACE, *SIZES, *ORIGIN):
        values = by_cell[column.name]
        if column.type == "text":
            codes, texts = _factorize(values)
            built[column.name] = pd.Categorical.from_codes(np.repeat(codes, lengths), categories=texts)
        else:
            built[column.name] = _build_counts(np.repeat(_convert_numbers(values), lengths))
    for each, start in zip(parts, np.cumsum(lengths) - lengths, strict=True):
        if each.stored.folds:  # whose sizes differ
            counts = [each.stored.count_samples(record.split) for record in (*each.records, *each.failed)]
            for name, sizes in zip(("n_train", "n_test"), zip(*counts, strict=True), strict=True):
                built[name][start : start + len(sizes)] = sizes
    fits, measures, failures = (RecordSelection.take(parts, lengths, kind) for kind in ("fit", "measure", None))
    measured = measures._replace(records=[record.measured for record in measures.records])
    sources = [
        (SPLIT + TIMES[1:], [fits, measures, failures]),
        (TIMES[:1], [fits, measures]),
        (ERRORS + FIT, [fits]),
        (MEASURE, [measures]),
        (MEASURED, [measured]),
        (FAILED, [failures]),
    ]
    for columns, selections in sources:
        built |= {column.name: build_column(column, selections) for column in columns}
    built |= _collect_confusion(fits)
    for part in PARTS:
        built[f"{part}_error"] = _compute_rates(built[f"{part}_errors"], built[f"n_{part}"])
    return pd.DataFrame({column.name: built[column.name] for column in COLUMNS}, copy=False)


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
    split = identity.get("split")
    seed = split.get("seed") if isinstance(split, dict) else None
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
        "seed": seed if isinstance(seed, int) else None,
        "n_train": stored.n_train,
        "n_test": stored.n_test,
        "data": _encode_json(identity.get("data")),
        "protocol": _encode_json({key: value for key, value in identity.items() if key not in IDENTITY_KEYS}),
        "learner_name": _name_learner(identity),
        "learner_version": _to_text(identity.get("version")),
        "learner_package": _to_text(identity.get("package", identity.get("code"))),
        "parameters": _encode_json(identity.get("parameters")),
        "key": cell.key,
        "zoloss": _join_versions(info.zoloss for info in made_by),
        "python": _join_versions(info.python for info in made_by),
        "numpy": _join_versions(info.packages.get("numpy", "") for info in made_by),
        "platform": _join_versions(info.platform for info in made_by),
    }


def _name_learner(identity: dict) -> str:
    """Return the name of a learner, followed by those of the learners inside, such as adaboost:stump."""
    names, inside = [str(identity.get("learner"))], identity.get("parameters")
    for value in inside.values() if isinstance(inside, dict) else ():
        if isinstance(value, dict) and "learner" in value:
            names.append(_name_learner(value))
    return ":".join(names)


def _to_text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else _encode_json(value)


def _join_versions(versions: Iterator[str]) -> str | None:
    return ", ".join(sorted(set(filter(None, versions)))) or None


CSV, PARQUET = EXPORT_FORMATS


def choose_export_format(format: str | None, out: Path | None) -> str:
    """Return the requested format, or the one implied by the file's name, or CSV.

    Parquet requires a file and pyarrow; either one missing is reported before results are read.
    """
    chosen = format or (PARQUET if out is not None and out.suffix == ".parquet" else CSV)
    if chosen == PARQUET:
        if out is None:
            raise ConfigError("--format parquet writes a file: name it with --out")
        import_optional("pyarrow", "--format parquet")
    return chosen


def render_frame(frame: pd.DataFrame, format: str) -> bytes:
    """Return a DataFrame of results as the bytes of a file.

    In CSV, text that starts like a formula is preceded by an apostrophe, as in all CSV that zoloss writes.
    """
    if format == PARQUET:
        content = io.BytesIO()
        frame.to_parquet(content, engine="pyarrow", index=False)
        return content.getvalue()
    guarded = {}
    for name in frame.select_dtypes("category").columns:  # each text is checked once
        texts = {text: guard_cell(text) for text in frame[name].cat.categories}
        if any(text != changed for text, changed in texts.items()):
            guarded[name] = frame[name].map(texts)
    return frame.assign(**guarded).to_csv(index=False, lineterminator="\n").encode()
