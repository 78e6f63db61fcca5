"""Columns of the DataFrame of results as arrays: values that a cell has once, and fields of records."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.frame_columns import FrameColumn
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.cell_file import StoredCell
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import FailedRecord, RecordKind

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
