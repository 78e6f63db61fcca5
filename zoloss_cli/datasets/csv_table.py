"""A user's CSV as features: numbers as they are, and one indicator per level of a column of text.

`fit`, `evaluate` and the `csv:` of a config read it here. Which columns are text, and their levels, is seen
from all rows, before any split; labels are not looked at, so test samples tell nothing of their classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import (
    MISSING,
    Lines,
    find_label_column,
    is_missing,
    is_number,
    read_numbers,
    read_rows,
)
from zoloss_cli.datasets.labels import index_labels, join_names
from zoloss_cli.errors import DataError, suggest_nearest

MAX_LEVELS = 100
MAX_CLASSES = 100  # a column with more is hardly one of classes
MAX_LISTED_COLUMNS = 10
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class CsvColumn:
    """A column of the CSV: numbers, or text of known levels."""

    name: str
    levels: tuple[str, ...] | None = None

    @property
    def features(self) -> list[str]:
        """The names of the features that the column becomes."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]


@dataclass(frozen=True)
class CsvTable:
    """A table to learn from, or to predict.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of CsvColumn
        The columns but that of labels.
    X : ndarray of shape (n_samples, n_features)
        The features.
    label : str
        The name of the label column.
    labels : list of str or None
        The label of each row; None if there is no such column.
    lines : list of int
        The line of the file that each row begins on.
    dropped : int
        The number of rows with missing values that were left out.
    notes : list of str
        What was noticed on the way.
    """

    path: Path
    columns: tuple[CsvColumn, ...]
    X: np.ndarray
    label: str
    labels: list[str] | None
    lines: list[int]
    dropped: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return list_feature_names(self.columns)

    def index_classes(self, positive: str | None) -> tuple[np.ndarray, list[str]]:
        """Return class indices and classes; of two the last is positive, by name or else in order."""
        where = f"{self.path}: the label column '{self.label}'"
        if self.labels is None:
            raise DataError(f"{where} is missing")
        names = sorted(set(self.labels))
        if len(names) > MAX_CLASSES and positive is None:
            raise DataError(
                f"{where} holds {len(names)} classes ({join_names(names)}), more than the {MAX_CLASSES} that "
                "there may be; set label to the right column, or positive to one of them, against the rest"
            )
        return index_labels(self.labels, positive, where)

    def list_levels(self) -> list[str]:
        """Return how each column of text became numbers, a sentence each."""
        return [
            f"'{column.name}' has one indicator, 1 or 0, for each of: {', '.join(column.levels)}"
            for column in self.columns
            if column.levels is not None
        ]

    def list_notes(self) -> list[str]:
        """Return what became of the file on the way to numbers, a sentence each."""
        dropped = [f"{self.path}: {self.dropped:,} rows with missing values left out"] if self.dropped else []
        return [*self.notes, *dropped, *(f"{self.path}: {text}" for text in self.list_levels())]


def list_feature_names(columns: tuple[CsvColumn, ...]) -> list[str]:
    """Return the names of the features that columns become."""
    return [name for column in columns for name in column.features]


def read_for_training(
    path: Path, label: str | int | None = None, missing: str = "error", content: bytes | None = None
) -> CsvTable:
    """Read a table with labels; which columns are text is seen from its values, and their levels are sorted.

    Parameters
    ----------
    path : Path
        The CSV file.
    label : str, int or None
        The label column's name or index; None for the column `label`, else the last one.
    missing : {'error', 'drop', 'zero'}
        What to do with missing values: refuse them, leave the row out, or read them as the number 0, and as
        no level at all in a column of text.
    content : bytes or None
        The file's content, if it was read before.
    """
    header, lines = read_rows(path, content)
    _check_names(path, header)
    at = _find_label(path, header, label)
    places = [i for i in range(len(header)) if i != at]
    if not places:
        raise DataError(f"{path} has a label column but no features")
    kept = _select_rows(path, header, lines, at, missing)
    _check_labels(path, header[at], kept, at)
    notes = []
    if all(is_number(name) for name in header):
        notes.append(f"the first line of {path} holds only numbers and was read as the header")
    columns = tuple(_detect_column(path, header[i], kept, i, notes) for i in places)
    names = list_feature_names(columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two features would be called '{twice}'; rename a column")
    return CsvTable(
        path,
        columns,
        _encode(path, columns, kept, places),
        header[at],
        [row[at] for _, row in kept],
        [number for number, _ in kept],
        len(lines) - len(kept),
        notes,
    )


def read_for_prediction(
    path: Path, columns: tuple[CsvColumn, ...], label: str, missing: str = "error"
) -> CsvTable:
    """Read a table to predict, which has at least the columns of the training table.

    Parameters
    ----------
    path : Path
        The CSV file.
    columns : tuple of CsvColumn
        The columns of the training table; they are found by name.
    label : str
        The label column, which may be absent.
    missing : {'error', 'zero'}
        As in `read_for_training`, but rows are never left out: each gets a prediction.
    """
    header, lines = read_rows(path)
    wanted = [column.name for column in columns]
    extra = [name for name in header if name not in wanted and name != label]
    absent = [name for name in wanted if name not in header]
    if absent:
        shown = absent[:MAX_LISTED_COLUMNS]
        messages = [f"{path} has no column '{name}'{suggest_nearest(name, extra)}" for name in shown]
        more = [f"and {len(absent) - len(shown)} more columns"] if len(absent) > len(shown) else []
        raise DataError("\n".join(messages + more))
    places = [header.index(name) for name in wanted]
    if missing != "zero":
        _check_no_value_missing(path, header, lines, places)
    notes = []
    if extra:
        shown = extra[:MAX_LISTED_COLUMNS]
        more_text = f" and {len(extra) - len(shown)} more" if len(extra) > len(shown) else ""
        notes.append(f"{path}: ignored columns that the model does not know: {', '.join(shown)}{more_text}")
    labels = [row[header.index(label)] for _, row in lines] if label in header else None
    X = _encode(path, columns, lines, places)
    return CsvTable(path, columns, X, label, labels, [number for number, _ in lines], 0, notes)


def _check_no_value_missing(path: Path, header: list[str], lines: Lines, places: list[int]) -> None:
    for number, row in lines:
        if MISSING.isdisjoint(map(str.lower, row)):  # nearly all rows, in one step
            continue
        for i in places:
            if is_missing(row[i]):
                raise DataError(f"{path}:{number}: column '{header[i]}' has no value")


def _check_names(path: Path, header: list[str]) -> None:
    for i, name in enumerate(header):
        if not name:
            raise DataError(
                f"{path}:1: column {i + 1} has no name; name it, or leave it out if it only counts rows"
            )


def _find_label(path: Path, header: list[str], label: str | int | None) -> int:
    """Return the index of the label column; a text may be an index where no column has that name."""
    if isinstance(label, str) and label not in header and re.fullmatch(r"-?\d+", label):
        label = int(label)
    return find_label_column(path, header, label)


def _select_rows(path: Path, header: list[str], lines: Lines, at: int, missing: str) -> Lines:
    """Return the rows to use by the policy for missing values, which a label must not be."""
    kept = []
    for number, row in lines:
        if MISSING.isdisjoint(map(str.lower, row)):  # nearly all rows, in one step
            kept.append((number, row))
            continue
        if is_missing(row[at]):
            raise DataError(f"{path}:{number}: the label column '{header[at]}' has no value")
        gaps = [name for name, value in zip(header, row, strict=True) if is_missing(value)]
        if gaps and missing == "error":
            raise DataError(
                f"{path}:{number}: column '{gaps[0]}' has no value; set missing to 'drop' to leave such "
                "rows out, or to 'zero' to read them as 0"
            )
        if not gaps or missing == "zero":
            kept.append((number, row))
    if not kept:
        raise DataError(f"{path} has no rows left after dropping those with missing values")
    return kept


def _check_labels(path: Path, name: str, lines: Lines, at: int) -> None:
    """Refuse labels such as 1 and 1.0: one class to a statistician, but two to whoever compares text."""
    first = {row[at]: number for number, row in reversed(lines)}
    same: dict[Decimal, str] = {}
    for label in sorted(filter(is_number, first), key=lambda label: first[label]):
        try:
            other = same.setdefault(Decimal(label), label)  # exact, unlike float, for long numbers of accounts
        except InvalidOperation:  # an exponent beyond all bounds
            continue
        if other != label:
            raise DataError(
                f"{path}:{first[label]}: the label column '{name}' holds '{label}' and, in line "
                f"{first[other]}, '{other}', which are the same number; write the labels of a class in one way"
            )


def _detect_column(path: Path, name: str, lines: Lines, i: int, notes: list[str]) -> CsvColumn:
    """Return whether field i holds numbers or text; what is odd about it is added to the notes."""
    if _parse_numbers(lines, i) is not None:
        return CsvColumn(name)
    # Backwards, so that the line kept for a value is the first.
    values = {row[i]: number for number, row in reversed(lines) if not is_missing(row[i])}
    texts = [value for value in values if not is_number(value)]
    if not texts:
        return CsvColumn(name)
    first = min(texts, key=lambda text: values[text])
    where = f"{path}:{values[first]}: column '{name}' holds the text '{first}'"
    if DECIMAL_COMMA.fullmatch(first):
        raise DataError(f"{where}: numbers need a decimal point, not a comma")
    if len(values) > MAX_LEVELS:
        raise DataError(
            f"{where} and has {len(values)} levels, more than the {MAX_LEVELS} that a column of text may have"
        )
    if len(texts) < len(values):
        notes.append(f"{where} beside numbers, so each of its values is a level of its own")
    return CsvColumn(name, tuple(sorted(values)))


def _parse_numbers(lines: Lines, i: int) -> np.ndarray | None:
    """Return field i of all rows if each is a finite number, at once, far faster than one by one; else None."""
    values = [row[i] for _, row in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and "_" not in "".join(values) else None


def _encode(path: Path, columns: tuple[CsvColumn, ...], lines: Lines, places: list[int]) -> np.ndarray:
    """Return the features of all rows; `places` are the fields of the columns."""
    blocks = []
    for column, i in zip(columns, places, strict=True):
        if column.levels is not None:
            blocks.append(_encode_levels(path, column.name, column.levels, lines, i))
        elif (numbers := _parse_numbers(lines, i)) is not None:
            blocks.append(numbers[:, None])
        else:
            filled = [(number, ["0" if is_missing(row[i]) else row[i]]) for number, row in lines]
            blocks.append(read_numbers(path, column.name, filled, 0)[:, None])
    return np.ascontiguousarray(np.hstack(blocks))


def _encode_levels(path: Path, name: str, levels: tuple[str, ...], lines: Lines, i: int) -> np.ndarray:
    """Return one indicator a level; a missing value has none."""
    place = {level: k for k, level in enumerate(levels)}
    block = np.zeros((len(lines), len(place)))
    for r, (number, row) in enumerate(lines):
        if row[i] in place:
            block[r, place[row[i]]] = 1.0
        elif not is_missing(row[i]):
            raise DataError(
                f"{path}:{number}: column '{name}' holds '{row[i]}', a level that was not there in "
                f"training{suggest_nearest(row[i], levels)}"
            )
    return block
