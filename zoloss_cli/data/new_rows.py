"""Read new rows for a fitted model: match columns by name, and explain unusable rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.data.columns import CsvColumn, join_names, list_feature_names, resolve_columns
from zoloss_cli.data.read import RawColumn, RawTable, is_missing, is_number, name_source, read_raw_table
from zoloss_cli.data.user_table import FILLING, CsvTable, encode_column
from zoloss_cli.errors import DataError, suggest_nearest

MAX_LISTED_COLUMNS = 10


@dataclass(frozen=True)
class ModelColumns:
    """The columns of the table that a model was fitted to."""

    columns: tuple[CsvColumn, ...]  # of features
    label: str  # the label column, which new tables need not have
    missing: str = "error"  # the policy for missing values that the model was fitted with
    id: str | None = None  # the column that only identifies rows, which new tables need not have


@dataclass(frozen=True)
class NewRows:
    """Rows to predict."""

    table: CsvTable  # all rows; the features of those with a reason must not be used
    reasons: dict[int, str]  # why a row cannot be predicted
    kept: dict[str, list[str]]  # columns to copy to the predictions


def read_for_prediction(
    path: Path, known: ModelColumns, unknown: str | None = None, keep: Sequence[str] = ()
) -> NewRows:
    """Read a table to predict, which must have at least the features of the training table, matched by name.

    Missing values are filled as in training; if the model does not fill them, their rows are not predicted. A
    level unseen in training is an error if `unknown` is 'error', is read as no level with 'ignore', and as a
    missing value otherwise. With 'error', any row that cannot be predicted raises DataError.
    """

    def choose_texts(header: list[str]) -> list[str]:
        levelled = [column.name for column in known.columns if column.levels is not None]
        return [known.label, *levelled, *_list_kept(name_source(path), header, known, keep)]

    return encode_rows(read_raw_table(path, None, choose_texts), known, unknown, keep)


def encode_rows(
    raw: RawTable, known: ModelColumns, unknown: str | None = None, keep: Sequence[str] = ()
) -> NewRows:
    """Encode the rows of a table, like `read_for_prediction`; the parameters are the same."""
    path, columns = raw.path, dict(zip(raw.header, raw.columns, strict=True))
    wanted = [column.name for column in known.columns]
    kept = _list_kept(path, raw.header, known, keep)
    extra = [name for name in raw.header if name and name not in {*wanted, *kept, known.label}]
    if absent := [name for name in wanted if name not in columns]:
        shown = absent[:MAX_LISTED_COLUMNS]
        messages = [f"{path} has no column '{name}'{suggest_nearest(name, extra)}" for name in shown]
        if len(absent) > MAX_LISTED_COLUMNS:
            messages.append(f"and {len(absent) - MAX_LISTED_COLUMNS} more columns")
        raise DataError("\n".join(messages))
    encoder = _RowEncoder(raw, known, unknown)
    X = np.hstack([encoder.encode(each, columns[each.name]) for each in known.columns])
    reasons, notes = encoder.reasons, list(raw.notes)
    if reasons and (unknown == "error" or len(reasons) == len(raw.lines)):
        row = min(reasons)
        raise DataError(f"{path}:{raw.lines[row]}: {reasons[row]}")
    if extra:
        notes.append(f"{path}: ignored columns unknown to the model: {join_names(extra)}")
    notes += [
        f"{path}: {count:,} row{'s' * (count != 1)} with a level of '{name}' unseen in training, "
        "read as missing values"
        for name, count in encoder.unseen.items()
    ]
    labels = columns[known.label].get_texts() if known.label in columns else None
    assert X.shape[1] == len(list_feature_names(known.columns))
    table = CsvTable(path, known.columns, np.ascontiguousarray(X), known.label, labels, raw.lines, 0, notes)
    return NewRows(table, reasons, {name: columns[name].get_texts() for name in kept})


def _list_kept(path: Path, header: list[str], known: ModelColumns, keep: Sequence[str]) -> list[str]:
    ids = [known.id] if known.id is not None and known.id in header else []
    return list(dict.fromkeys([*ids, *resolve_columns(path, header, keep, "keep")]))


class _RowEncoder:
    """Encode columns as features, and collect the reasons why rows cannot be predicted."""

    def __init__(self, raw: RawTable, known: ModelColumns, unknown: str | None) -> None:
        self.raw = raw
        self.missing = known.missing
        self.unknown = unknown
        self.reasons: dict[int, str] = {}
        self.unseen: dict[str, int] = {}  # levels read as missing values, by column

    def encode(self, column: CsvColumn, raw: RawColumn) -> np.ndarray:
        """Return the features of a column; those of rows with a reason are undefined."""
        gaps = raw.missing.copy()
        if column.levels is None and raw.numbers is None:
            block = self._parse_numbers(raw)
        else:
            block = encode_column(column, raw)
        if column.levels is not None:
            self._handle_unseen(column, raw, ~block.any(axis=1) & ~raw.missing, gaps)
        if self.missing in FILLING:
            fill = [column.fill] if column.levels is None else [level == column.fill for level in column.levels]
            block[gaps] = np.array(fill, np.float64)
        elif self.missing != "zero":
            for row in np.flatnonzero(gaps).tolist():
                self.reasons.setdefault(row, f"column '{column.name}' has no value")
        return np.column_stack([block, gaps.astype(np.float64)]) if column.is_marked else block

    def _parse_numbers(self, raw: RawColumn) -> np.ndarray:
        numbers = np.zeros((len(raw.missing), 1))
        for row, text in enumerate(raw.get_texts()):
            if is_missing(text):
                continue
            if not is_number(text):
                reason = f"holds the text '{text}' where a number is needed"
            elif not np.isfinite(float(text)):
                reason = f"is {text}, not a finite number"
            else:
                numbers[row] = float(text)
                continue
            self.reasons.setdefault(row, f"column '{raw.name}' {reason}")
        return numbers

    def _handle_unseen(self, column: CsvColumn, raw: RawColumn, unseen: np.ndarray, gaps: np.ndarray) -> None:
        """Mark unseen levels as missing if the model fills missing values; otherwise add reasons."""
        assert column.levels is not None
        if self.unknown == "ignore" or not unseen.any():
            return
        if self.unknown is None and self.missing in ("zero", *FILLING):
            gaps |= unseen
            self.unseen[column.name] = int(unseen.sum())
            return
        texts = raw.get_texts()
        for row in np.flatnonzero(unseen).tolist():
            level = f"column '{column.name}' holds '{texts[row]}', a level unseen in training"
            self.reasons.setdefault(row, level + suggest_nearest(texts[row], column.levels))
