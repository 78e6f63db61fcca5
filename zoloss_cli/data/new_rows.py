"""New rows for a fitted model: its columns, found by name, and for each unusable row the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.data.columns import CsvColumn, list_feature_names, resolve_columns
from zoloss_cli.data.csv_files import RawColumn, RawTable, is_missing, is_number
from zoloss_cli.data.table_files import name_source, read_raw_table
from zoloss_cli.data.user_table import FILLING, CsvTable, index_levels
from zoloss_cli.errors import DataError, suggest_nearest

MAX_LISTED_COLUMNS = 10


@dataclass(frozen=True)
class ModelColumns:
    """What a model knows about the columns of a table.

    Attributes
    ----------
    columns : tuple of CsvColumn
        The columns of features.
    label : str
        The label column, which new tables need not have.
    missing : str
        The policy for missing values that the model was fitted with.
    id : str or None
        The column that only identifies rows, which new tables need not have.
    """

    columns: tuple[CsvColumn, ...]
    label: str
    missing: str = "error"
    id: str | None = None


@dataclass(frozen=True)
class NewRows:
    """Rows to predict.

    Attributes
    ----------
    table : CsvTable
        All rows; the features of those with a reason must not be used.
    reasons : dict of int to str
        Why a row cannot be predicted.
    kept : dict of str to list of str
        Columns to copy to the predictions.
    """

    table: CsvTable
    reasons: dict[int, str]
    kept: dict[str, list[str]]


def read_for_prediction(
    path: Path, known: ModelColumns, unknown: str | None = None, keep: Sequence[str] = ()
) -> NewRows:
    """Read a table to predict, which must have at least the columns of the training table.

    Parameters
    ----------
    path : Path
        The file; `-` for standard input.
    known : ModelColumns
        What the model knows; columns are found by name.
    unknown : {'error', 'ignore'} or None
        What to do with a level unseen in training: refuse the table, read it as no level at all, or as a
        missing value. With 'error', any row that cannot be predicted is refused.
    keep : sequence of str
        Columns to copy.

    Returns
    -------
    NewRows
        All rows of the table. A missing value is filled as the model says, or is the reason for no prediction.
    """

    def choose_texts(header: list[str]) -> list[str]:
        levelled = [column.name for column in known.columns if column.levels is not None]
        return [known.label, *levelled, *_list_kept(name_source(path), header, known, keep)]

    return encode_rows(read_raw_table(path, None, choose_texts), known, unknown, keep)


def encode_rows(
    raw: RawTable, known: ModelColumns, unknown: str | None = None, keep: Sequence[str] = ()
) -> NewRows:
    """Encode the rows of a table, like `read_for_prediction`; the parameters are the same."""
    path, header = raw.path, raw.header
    wanted = [column.name for column in known.columns]
    kept = _list_kept(path, header, known, keep)
    extra = [name for name in header if name and name not in {*wanted, *kept, known.label}]
    _check_columns(path, wanted, header, extra)
    encoder = _RowEncoder(raw, known, unknown)
    X = np.hstack([encoder.encode(each, raw.columns[header.index(each.name)]) for each in known.columns])
    encoder.refuse()
    notes = [*raw.notes, *_describe_extra(path, extra), *encoder.list_notes()]
    labels = raw.columns[header.index(known.label)].get_texts() if known.label in header else None
    assert X.shape[1] == len(list_feature_names(known.columns))
    table = CsvTable(path, known.columns, np.ascontiguousarray(X), known.label, labels, raw.lines, 0, notes)
    return NewRows(table, encoder.reasons, {name: raw.columns[header.index(name)].get_texts() for name in kept})


def _list_kept(path: Path, header: list[str], known: ModelColumns, keep: Sequence[str]) -> list[str]:
    ids = [known.id] if known.id in header else []
    return list(dict.fromkeys([*filter(None, ids), *resolve_columns(path, header, keep, "keep")]))


def _check_columns(path: Path, wanted: list[str], header: list[str], extra: list[str]) -> None:
    absent = [name for name in wanted if name not in header]
    if absent:
        shown = absent[:MAX_LISTED_COLUMNS]
        messages = [f"{path} has no column '{name}'{suggest_nearest(name, extra)}" for name in shown]
        more = [f"and {len(absent) - len(shown)} more columns"] if len(absent) > len(shown) else []
        raise DataError("\n".join(messages + more))


def _describe_extra(path: Path, extra: list[str]) -> list[str]:
    if not extra:
        return []
    shown = extra[:MAX_LISTED_COLUMNS]
    more = f" and {len(extra) - len(shown)} more" if len(extra) > len(shown) else ""
    return [f"{path}: ignored columns that the model does not know: {', '.join(shown)}{more}"]


class _RowEncoder:
    """Turn columns into features, and collect what is wrong with which row."""

    def __init__(self, raw: RawTable, known: ModelColumns, unknown: str | None) -> None:
        self.raw = raw
        self.missing = known.missing
        self.unknown = unknown
        self.reasons: dict[int, str] = {}
        self.unseen: dict[str, int] = {}  # levels read as missing values, by column

    def encode(self, column: CsvColumn, raw: RawColumn) -> np.ndarray:
        """Return the features of a column; those of rows with a reason do not matter."""
        gaps = raw.missing.copy()
        block = self._encode_numbers(raw) if column.levels is None else self._encode_levels(column, raw, gaps)
        if self.missing in FILLING:
            block[gaps] = _encode_fill(column)
        elif self.missing != "zero":
            for row in np.flatnonzero(gaps).tolist():
                self._add(row, f"column '{column.name}' has no value")
        return np.column_stack([block, gaps.astype(np.float64)]) if column.is_marked else block

    def _encode_numbers(self, raw: RawColumn) -> np.ndarray:
        if raw.numbers is not None:
            return np.where(raw.missing, 0.0, raw.numbers)[:, None]
        numbers = np.zeros(len(raw.missing))
        for row, text in enumerate(raw.get_texts()):
            if is_missing(text):
                continue
            if not is_number(text):
                self._add(row, f"column '{raw.name}' holds the text '{text}' where a number is needed")
            elif not np.isfinite(float(text)):
                self._add(row, f"column '{raw.name}' is {text}, not a finite number")
            else:
                numbers[row] = float(text)
        return numbers[:, None]

    def _encode_levels(self, column: CsvColumn, raw: RawColumn, gaps: np.ndarray) -> np.ndarray:
        """Return one indicator per level; unknown levels count as missing if the model fills these."""
        assert column.levels is not None
        texts = raw.get_texts()
        places = index_levels(column.levels, texts)
        unseen = (places < 0) & ~raw.missing
        if unseen.any() and self.unknown != "ignore":
            if self.unknown is None and self.missing in ("zero", *FILLING):
                gaps |= unseen
                self.unseen[column.name] = int(unseen.sum())
            else:
                for row in np.flatnonzero(unseen).tolist():
                    hint = suggest_nearest(texts[row], column.levels)
                    level = (
                        f"column '{column.name}' holds '{texts[row]}', a level that was not there in training"
                    )
                    self._add(row, level + hint)
        return (places[:, None] == np.arange(len(column.levels))).astype(np.float64)

    def _add(self, row: int, reason: str) -> None:
        self.reasons.setdefault(row, reason)

    def refuse(self) -> None:
        """Raise the first reason if no row can be predicted, or if every row must be."""
        if self.reasons and (self.unknown == "error" or len(self.reasons) == len(self.raw.lines)):
            row = min(self.reasons)
            raise DataError(f"{self.raw.path}:{self.raw.lines[row]}: {self.reasons[row]}")

    def list_notes(self) -> list[str]:
        """Return which levels were read as missing values."""
        return [
            f"{self.raw.path}: {count:,} row{'s' * (count != 1)} with a level of '{name}' that was not there "
            "in training, read as missing values"
            for name, count in self.unseen.items()
        ]


def _encode_fill(column: CsvColumn) -> np.ndarray:
    if column.levels is None:
        return np.array([column.fill], np.float64)
    return np.array([level == column.fill for level in column.levels], np.float64)
