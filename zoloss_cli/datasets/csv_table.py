"""One's own CSV as features: numbers as they are, and one indicator per level of a column of text.

`fit`, `evaluate` and the `csv:` of a config read it here. Which columns are text, and their levels, is seen
from all rows, before any split; no label is looked at, so test rows tell nothing of their answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import (
    MISSING,
    is_missing,
    is_number,
    label_column,
    read_numbers,
    read_rows,
)
from zoloss_cli.datasets.labels import index_labels, join_names
from zoloss_cli.errors import DataError, suggest_nearest

MAX_LEVELS = 100
MAX_CLASSES = 100  # a column with more is hardly one of classes
SHOWN = 10
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")

Lines = list[tuple[int, list[str]]]


@dataclass(frozen=True)
class CsvColumn:
    """A column of the CSV: numbers, or text of known levels."""

    name: str
    levels: tuple[str, ...] | None = None

    @property
    def features(self) -> list[str]:
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]


@dataclass(frozen=True)
class CsvTable:
    """Rows to learn from, or to predict: then `labels` is None if there is no label column."""

    path: Path
    columns: tuple[CsvColumn, ...]
    X: np.ndarray
    label: str
    labels: list[str] | None
    lines: list[int]  # where in the file each row begins
    dropped: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def features(self) -> list[str]:
        return feature_names(self.columns)

    def classes(self, positive: str | None) -> tuple[np.ndarray, list[str]]:
        """Class indices, and the classes; of two the last is positive: the one named, else the last by name."""
        where = f"{self.path}: the label column '{self.label}'"
        names = sorted(set(self.labels))
        if len(names) > MAX_CLASSES and positive is None:
            raise DataError(
                f"{where} holds {len(names)} classes ({join_names(names)}), more than the {MAX_CLASSES} that "
                "there may be; set label to the right column, or positive to one of them, against the rest"
            )
        return index_labels(self.labels, positive, where)

    def level_texts(self) -> list[str]:
        """How each column of text became numbers."""
        return [
            f"'{column.name}' has one indicator, 1 or 0, for each of: {', '.join(column.levels)}"
            for column in self.columns
            if column.levels is not None
        ]

    def all_notes(self) -> list[str]:
        """What became of the file on the way to numbers, a sentence each."""
        dropped = [f"{self.path}: {self.dropped:,} rows with missing values left out"] if self.dropped else []
        return [*self.notes, *dropped, *(f"{self.path}: {text}" for text in self.level_texts())]


def feature_names(columns: tuple[CsvColumn, ...]) -> list[str]:
    return [name for column in columns for name in column.features]


def read_for_training(
    path: Path, label: str | int | None = None, missing: str = "error", content: bytes | None = None
) -> CsvTable:
    """A table with labels; which columns are text is seen from its values, and their levels are sorted.

    `label` is the label column's name or index (default: the column `label`, else the last one). `missing`
    says what to do with missing values: 'error', 'drop' the row, or 'zero': the number 0, and no level at all
    in a column of text. `content` is that of the file if it was read before.
    """
    header, lines = read_rows(path, content)
    _check_names(path, header)
    at = _label_index(path, header, label)
    places = [i for i in range(len(header)) if i != at]
    if not places:
        raise DataError(f"{path} has a label column but no features")
    kept = _complete(path, header, lines, at, missing)
    notes = []
    if all(is_number(name) for name in header):
        notes.append(f"the first line of {path} holds only numbers and was read as the header")
    columns = tuple(_seen_column(path, header[i], kept, i, notes) for i in places)
    names = feature_names(columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two features would be called '{twice}'; rename a column")
    return CsvTable(
        path,
        columns,
        _encoded(path, columns, kept, places),
        header[at],
        [row[at] for _, row in kept],
        [number for number, _ in kept],
        len(lines) - len(kept),
        notes,
    )


def read_for_prediction(
    path: Path, columns: tuple[CsvColumn, ...], label: str, missing: str = "error"
) -> CsvTable:
    """A table with at least the given columns, found by name. Rows are never dropped: each gets an answer."""
    header, lines = read_rows(path)
    wanted = [column.name for column in columns]
    extra = [name for name in header if name not in wanted and name != label]
    absent = [name for name in wanted if name not in header]
    if absent:
        named = [f"{path} has no column '{name}'{suggest_nearest(name, extra)}" for name in absent[:SHOWN]]
        more = [f"and {len(absent) - SHOWN} more columns"] if len(absent) > SHOWN else []
        raise DataError("\n".join(named + more))
    places = [header.index(name) for name in wanted]
    if missing != "zero":
        for number, row in lines:
            if MISSING.isdisjoint(map(str.lower, row)):
                continue
            for name, i in zip(wanted, places, strict=True):
                if is_missing(row[i]):
                    raise DataError(f"{path}, line {number}: column '{name}' has no value")
    notes = []
    if extra:
        shown = ", ".join(extra[:SHOWN]) + (f" and {len(extra) - SHOWN} more" if len(extra) > SHOWN else "")
        notes.append(f"{path}: ignored columns that the model does not know: {shown}")
    labels = [row[header.index(label)] for _, row in lines] if label in header else None
    X = _encoded(path, columns, lines, places)
    return CsvTable(path, columns, X, label, labels, [number for number, _ in lines], 0, notes)


def _check_names(path: Path, header: list[str]) -> None:
    for i, name in enumerate(header):
        if not name:
            raise DataError(
                f"{path}, line 1: column {i + 1} has no name; name it, or leave it out if it only counts rows"
            )


def _label_index(path: Path, header: list[str], label: str | int | None) -> int:
    """A column's name, or its index; a text may be an index where no column has that name."""
    by_index = isinstance(label, str) and label not in header and re.fullmatch(r"-?\d+", label)
    return label_column(path, header, int(label) if by_index else label)


def _complete(path: Path, header: list[str], lines: Lines, at: int, missing: str) -> Lines:
    """The rows to use by the policy for missing values, which a label must not be."""
    kept = []
    for number, row in lines:
        if MISSING.isdisjoint(map(str.lower, row)):  # nearly all rows, in one step
            kept.append((number, row))
            continue
        if is_missing(row[at]):
            raise DataError(f"{path}, line {number}: the label column '{header[at]}' has no value")
        gaps = [name for name, value in zip(header, row, strict=True) if is_missing(value)]
        if gaps and missing == "error":
            raise DataError(
                f"{path}, line {number}: column '{gaps[0]}' has no value; set missing to 'drop' to leave such "
                "rows out, or to 'zero' to read them as 0"
            )
        if not gaps or missing == "zero":
            kept.append((number, row))
    if not kept:
        raise DataError(f"{path} has no rows left after dropping those with missing values")
    return kept


def _seen_column(path: Path, name: str, lines: Lines, i: int, notes: list[str]) -> CsvColumn:
    if _plain_numbers(lines, i) is not None:
        return CsvColumn(name)
    # Backwards, so that the line kept for a value is the first.
    values = {row[i]: number for number, row in reversed(lines) if not is_missing(row[i])}
    texts = [value for value in values if not is_number(value)]
    if not texts:
        return CsvColumn(name)
    first = min(texts, key=values.get)
    where = f"{path}, line {values[first]}: column '{name}' holds the text '{first}'"
    if DECIMAL_COMMA.fullmatch(first):
        raise DataError(f"{where}: numbers need a decimal point, not a comma")
    if len(values) > MAX_LEVELS:
        raise DataError(
            f"{where} and has {len(values)} levels, more than the {MAX_LEVELS} that a column of text may have"
        )
    if len(texts) < len(values):
        notes.append(f"{where} beside numbers, so each of its values is a level of its own")
    return CsvColumn(name, tuple(sorted(values)))


def _plain_numbers(lines: Lines, i: int) -> np.ndarray | None:
    """Field i of all rows if each is a finite number: the rule, and far faster to read than one by one."""
    values = [row[i] for _, row in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and "_" not in "".join(values) else None


def _encoded(path: Path, columns: tuple[CsvColumn, ...], lines: Lines, places: list[int]) -> np.ndarray:
    blocks = []
    for column, i in zip(columns, places, strict=True):
        if column.levels is None:
            numbers = _plain_numbers(lines, i)
            if numbers is not None:
                blocks.append(numbers[:, None])
                continue
            filled = [(number, ["0" if is_missing(row[i]) else row[i]]) for number, row in lines]
            blocks.append(read_numbers(path, column.name, filled, 0)[:, None])
            continue
        place = {level: k for k, level in enumerate(column.levels)}
        block = np.zeros((len(lines), len(place)))
        for r, (number, row) in enumerate(lines):
            if row[i] in place:
                block[r, place[row[i]]] = 1.0
            elif not is_missing(row[i]):
                raise DataError(
                    f"{path}, line {number}: column '{column.name}' holds '{row[i]}', a level that was not "
                    f"there in training{suggest_nearest(row[i], column.levels)}"
                )
        blocks.append(block)
    return np.ascontiguousarray(np.hstack(blocks))
