"""Results as one DataFrame, one record per row, and as a file for other programs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from zoloss_cli.choices import EXPORT_FORMATS
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.report.loading import CellReader, open_results, select_runs
from zoloss_cli.report.render.csv import guard_cell
from zoloss_cli.report.runs import RunResult
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import FailedRecord, FitRecord, Measurement, MeasureRecord, RecordKind
from zoloss_cli.results.store import StoredCell
from zoloss_cli.utils.imports import import_optional
from zoloss_cli.utils.processes import pause_garbage_collection

if TYPE_CHECKING:
    import pandas as pd

ColumnType = Literal["text", "count", "number", "truth"]
# Their names in pandas. Counts may be missing without becoming floats.
DTYPES: dict[ColumnType, str] = {
    "text": "category",
    "count": "Int64",
    "number": "float64",
    "truth": "boolean",
}


class FrameColumn(NamedTuple):
    """A column: its name, its type and its meaning."""

    name: str
    type: ColumnType
    meaning: str


# Of the cell, and so the same in all its records.
PLACE = (
    FrameColumn("run", "text", "name of the run, as in `zoloss status`"),
    FrameColumn("table", "text", "paper and number of the table or figure that the run mirrors"),
    FrameColumn("also_in", "text", "other runs that show the same record, separated by commas"),
    FrameColumn("dataset", "text", "name of the data set in that run"),
    FrameColumn("learner", "text", "label of the learner's or measure's column in that run"),
    FrameColumn("variant", "text", "settings of the cell, where the column shows the best of several"),
    FrameColumn("kind", "text", "`fit` for learners, `measure` for measures of data"),
)
SIZES = (
    FrameColumn("seed", "count", "master seed of splits and learners"),
    FrameColumn("n_train", "count", "training samples"),
    FrameColumn("n_test", "count", "test samples; 0 if all samples train"),
)
ORIGIN = (
    FrameColumn("data", "text", "what the data are, as JSON: sha256 or generator, noise, flipped labels"),
    FrameColumn("protocol", "text", "split rule, scaling, pruning and tuning, as JSON"),
    FrameColumn("learner_name", "text", "registered name or class of the learner or measure"),
    FrameColumn("learner_version", "text", "version of the algorithm"),
    FrameColumn("learner_package", "text", "package that it is from, or sha256 of its file; none if zoloss"),
    FrameColumn("parameters", "text", "all parameters, as JSON"),
    FrameColumn("key", "text", "key of the cell, a hash of all that its results depend on"),
    FrameColumn("zoloss", "text", "version of zoloss; several if runs of several added tasks"),
    FrameColumn("python", "text", "version of Python, likewise"),
    FrameColumn("numpy", "text", "version of NumPy, likewise"),
    FrameColumn("platform", "text", "operating system and processor, likewise"),
)
# Of the record.
SPLIT = (FrameColumn("split", "count", "number of the split"),)
ERRORS = (
    FrameColumn("train_errors", "count", "training errors; a margin of 0 is one"),
    FrameColumn("test_errors", "count", "misclassified test samples"),
)
RATES = (
    FrameColumn("train_error", "number", "training errors in % of the training samples"),
    FrameColumn("test_error", "number", "test errors in % of the test samples"),
)
CONFUSION = tuple(
    FrameColumn(f"{part}_{name}", "count", f"{part} samples: {meaning}")
    for part in ("train", "test")
    for name, meaning in (
        ("tn", "negative and predicted so (two classes; the last is positive)"),
        ("fp", "negative but predicted positive"),
        ("fn", "positive but predicted negative"),
        ("tp", "positive and predicted so"),
    )
)
MATRICES = tuple(
    FrameColumn(f"{part}_confusion", "text", f"{part} samples by true and predicted class, as JSON")
    for part in ("train", "test")
)
FIT = (
    FrameColumn("train_errors_lenient", "count", "those if a margin of 0 is right, where that differs"),
    FrameColumn("n_pruned", "count", "training samples left out as noise"),
    FrameColumn("n_flipped", "count", "training samples with flipped labels"),
    FrameColumn("n_flipped_pruned", "count", "training samples that are both"),
    FrameColumn("n_unseen", "count", "test samples of classes that no training sample has"),
    FrameColumn("choice", "text", "settings chosen by cross-validation"),
    FrameColumn("time_to_best", "number", "seconds of fitting until a search found its result"),
    FrameColumn("lower_bound", "number", "training errors that no linear rule can go below, as proved"),
    FrameColumn("time_to_bound", "number", "seconds of fitting until that was proved"),
    FrameColumn("proof", "text", "what the bound rests on"),
    FrameColumn("n_cones", "count", "cones of directions that were searched for the last bound"),
    FrameColumn("part_bound", "number", "the same bound for rules whose direction is in the split's part"),
    FrameColumn("n_parts", "count", "parts that all directions are divided into"),
    FrameColumn("iterations", "count", "rounds of boosting"),
    FrameColumn("error_counts", "count", "how often the pocket algorithm counted its training errors"),
    FrameColumn("cost", "number", "value of the cost that boosting minimizes"),
    FrameColumn("n_unsplit", "count", "1 if a code ended because no weight was left between the classes"),
    FrameColumn("counted", "number", "what a theorem bounds"),
    FrameColumn("bound", "number", "its bound"),
    FrameColumn("success_share", "number", "share of epochs that found as few errors as the best weights have"),
    FrameColumn("success_bound", "number", "lower bound on its expectation, by a theorem"),
)
TIMES = (
    FrameColumn("fit_time", "number", "seconds of fitting or measuring"),
    FrameColumn("wall_time", "number", "seconds of the whole task, with loading and counting"),
)
MEASURE = (FrameColumn("draw", "count", "number of the measured data set among several draws"),)
MEASURED = (
    FrameColumn("complexity", "count", "support vectors of the hard-margin SVM"),
    FrameColumn("principal_points", "count", "principal points"),
    FrameColumn("principal_subsets", "count", "principal subsets"),
    FrameColumn("exact", "truth", "whether every union of clusters was accounted for"),
    FrameColumn("solves", "count", "SVMs that were solved"),
    FrameColumn("permutations", "count", "random orders"),
)
FAILED = (FrameColumn("failed", "text", "why the task failed; such a record has no numbers"),)

COLUMNS = (
    *(*PLACE, *SPLIT, *SIZES, *ERRORS, *RATES),
    *(*CONFUSION, *MATRICES, *FIT, *TIMES, *MEASURE, *MEASURED, *FAILED, *ORIGIN),
)
# What does not fit into a cell of a frame: one value per sample, epoch or moment.
LISTS = {
    *("trace", "epochs", "train_curve", "test_curve", "cost_curve", "test_scores", "test_probabilities"),
    *("points", "pairs", "clusters", "growth", "times", "least_squares", "growth_by_size"),
    *("flipped_growth_by_size", "flipped_times_by_size", "scores", "flipped"),
}


def find_unlisted_fields() -> set[str]:
    """Return record fields that are neither a column nor a list: every new field must be one of them."""
    fields = {name for kind in (FitRecord, MeasureRecord, Measurement) for name in kind.__struct_fields__}
    return fields - LISTS - {"measured"} - {column.name for column in COLUMNS}


MAX_EXACT_COUNT = 1 << 53  # from here on, floats skip integers


class CellPart(NamedTuple):
    """The records of one cell in the order of splits, followed by its failed tasks, and their place."""

    run: RunResult
    cell: ManifestCell
    stored: StoredCell
    records: list[Any]
    failed: list[FailedRecord]


def encode_json(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return msgspec.json.encode(value).decode()


def repeat_values(column: FrameColumn, values: list[Any], lengths: np.ndarray) -> Any:
    """Return the values that each cell has once as a column: text by its code, and integers."""
    if column.type == "text":
        codes, texts = _factorize(values)
        return pd.Categorical.from_codes(np.repeat(codes, lengths), categories=texts)
    return _build_counts(np.repeat(_convert_numbers(values), lengths))


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
        """Return a field of all records."""
        return list(map(attrgetter(name), self.records))


def build_column(column: FrameColumn, selections: list[RecordSelection]) -> Any:
    """Return a field of the selected records as a column; other rows have none."""
    n_rows = selections[0].n_rows
    if column.type == "text":
        (selection,) = selections
        codes, texts = _factorize(selection.get_values(column.name))
        all_codes = np.full(n_rows, -1, dtype=codes.dtype)
        all_codes[selection.rows] = codes
        return pd.Categorical.from_codes(all_codes, categories=texts)
    numbers = np.full(n_rows, np.nan)
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


def collect_confusion(fits: RecordSelection) -> dict[str, Any]:
    """Return confusion counts: the four of two classes separately, and all of them as JSON."""
    built: dict[str, Any] = {}
    for part in ("train", "test"):
        matrices = fits.get_values(f"{part}_confusion")
        four = np.full((fits.n_rows, 4), np.nan)
        texts: list[str | None] = [None] * len(matrices)
        if matrices.count(None) < len(matrices):
            texts = [None if matrix is None else encode_json(matrix) for matrix in matrices]
            for row, matrix in zip(fits.rows.tolist(), matrices, strict=True):
                if matrix is not None and [len(line) for line in matrix] == [2, 2]:
                    four[row] = [*matrix[0], *matrix[1]]
        for name, counts in zip(("tn", "fp", "fn", "tp"), four.T, strict=True):
            built[f"{part}_{name}"] = _build_counts(counts)
        codes, categories = _factorize(texts)
        all_codes = np.full(fits.n_rows, -1, dtype=codes.dtype)
        all_codes[fits.rows] = codes
        built[f"{part}_confusion"] = pd.Categorical.from_codes(all_codes, categories=categories)
    return built


def _factorize(texts: list[Any]) -> tuple[np.ndarray, pd.Index]:
    """Return the code of each text, -1 for None, and the texts by their codes."""
    if texts.count(None) == len(texts):
        return np.full(len(texts), -1), pd.Index([], dtype="str")
    codes, uniques = pd.factorize(np.array(texts, dtype=object))
    return codes, pd.Index(uniques, dtype="str")


def _convert_numbers(values: list[Any]) -> np.ndarray:
    """Return values as floats; None becomes nan in the same pass."""
    try:
        return np.array(values, dtype=float)
    except OverflowError:
        raise ResultsError("a record holds a number that is too large to be one") from None


def _build_counts(numbers: np.ndarray) -> Any:
    missing = np.isnan(numbers)
    if np.any(numbers >= MAX_EXACT_COUNT):
        raise ResultsError(f"a record holds a count of {MAX_EXACT_COUNT:,} or more, which can be none")
    return pd.arrays.IntegerArray(np.where(missing, 0.0, numbers).astype(np.int64), missing)


# Columns are built from whole cells: what a cell has once is repeated by its code, and a field of all records
# is read in one pass. There are hundreds of thousands of records, and none of them becomes a dict.

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
        for column in (*PLACE, *SIZES, *ORIGIN)
    }
    fits = RecordSelection.take(parts, lengths, "fit")
    measures = RecordSelection.take(parts, lengths, "measure")
    failures = RecordSelection.take(parts, lengths, None)
    for column in (*SPLIT, *TIMES):
        selections = [fits, measures, *([] if column.name == "fit_time" else [failures])]
        built[column.name] = build_column(column, selections)
    for column in (*ERRORS, *FIT):
        built[column.name] = build_column(column, [fits])
    for column in MEASURE:
        built[column.name] = build_column(column, [measures])
    measured = measures._replace(records=[record.measured for record in measures.records])
    for column in MEASURED:
        built[column.name] = build_column(column, [measured])
    for column in FAILED:
        built[column.name] = build_column(column, [failures])
    built |= collect_confusion(fits)
    for part in ("train", "test"):
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


CSV, PARQUET = EXPORT_FORMATS


def choose_export_format(format: str | None, out: Path | None) -> str:
    """Return the requested format, or the one implied by the file's name, or CSV.

    Parquet needs a file and a package, and what is missing is reported before anything is read.
    """
    chosen = format or (PARQUET if out is not None and out.suffix == ".parquet" else CSV)
    if chosen == PARQUET:
        if out is None:
            raise ConfigError("--format parquet is for a file: name it with --out")
        import_optional("pyarrow", "--format parquet")
    return chosen


def render_frame(frame: pd.DataFrame, format: str) -> bytes:
    """Return a DataFrame of results as the content of a file.

    Parameters
    ----------
    frame : pandas.DataFrame
        The DataFrame from `load_results`.
    format : {'csv', 'parquet'}
        In CSV, text that starts like a formula is preceded by an apostrophe, as in all CSV that zoloss writes.

    Returns
    -------
    bytes
        The content.
    """
    if format == PARQUET:
        content = io.BytesIO()
        frame.to_parquet(content, engine="pyarrow", index=False)
        return content.getvalue()
    return _guard_texts(frame).to_csv(index=False, lineterminator="\n").encode()


def _guard_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with texts that no spreadsheet treats as formulas; each text is checked once."""
    guarded = {}
    for name in frame.columns:
        if frame[name].dtype != "category":
            continue
        texts = {text: guard_cell(text) for text in frame[name].cat.categories}
        if any(text != changed for text, changed in texts.items()):
            guarded[name] = frame[name].map(texts)
    return frame.assign(**guarded)
