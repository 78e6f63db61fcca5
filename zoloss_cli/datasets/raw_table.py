"""Tables as they are read, column by column: numbers if all values are, otherwise text."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import MISSING


@dataclass(frozen=True)
class RawColumn:
    """A column of a file.

    Attributes
    ----------
    name : str
        The name.
    numbers : ndarray of float or None
        The values if all are finite numbers or missing; NaN where missing.
    texts : list of str or None
        The values as text; None only if there are numbers.
    missing : ndarray of bool
        Where a value is missing.
    """

    name: str
    numbers: np.ndarray | None
    texts: list[str] | None
    missing: np.ndarray

    @classmethod
    def from_texts(cls, name: str, texts: list[str]) -> RawColumn:
        """Return the column with its numbers, if it holds only these and missing values."""
        missing = np.zeros(len(texts), bool)
        numbers = _parse_numbers(texts)
        if numbers is None:
            lowered = {text: text.lower() in MISSING for text in set(texts)}
            missing = np.fromiter((lowered[text] for text in texts), bool, len(texts))
            if missing.any():
                known = _parse_numbers(list(itertools.compress(texts, ~missing)))
                if known is not None:
                    numbers = np.full(len(texts), np.nan)
                    numbers[~missing] = known
        return cls(name, numbers, texts, missing)

    @classmethod
    def from_levels(cls, name: str, levels: list[str], codes: np.ndarray) -> RawColumn:
        """Return the column with these levels by index, -1 for a missing value."""
        column = cls.from_texts(name, [*levels, ""])  # for codes of -1
        texts = np.array(column.texts, dtype=object)[codes].tolist()
        return cls(
            name, None if column.numbers is None else column.numbers[codes], texts, column.missing[codes]
        )

    @classmethod
    def from_numbers(cls, name: str, numbers: np.ndarray) -> RawColumn:
        """Return a column of numbers, where NaN means missing."""
        values = np.asarray(numbers, np.float64)
        return cls(name, values, None, np.isnan(values))

    def get_texts(self) -> list[str]:
        """Return the values as text; numbers in their shortest form."""
        if self.texts is not None:
            return self.texts
        assert self.numbers is not None
        return ["" if gap else _show(x) for x, gap in zip(self.numbers.tolist(), self.missing, strict=True)]

    def take(self, rows: np.ndarray) -> RawColumn:
        """Return the column with only these rows, selected by a mask."""
        texts = None if self.texts is None else list(itertools.compress(self.texts, rows))
        if self.numbers is None and texts is not None and not rows.all():
            return RawColumn.from_texts(self.name, texts)  # the remaining rows may hold only numbers
        numbers = None if self.numbers is None else self.numbers[rows]
        return RawColumn(self.name, numbers, texts, self.missing[rows])


@dataclass(frozen=True)
class RawTable:
    """A table with a header, as it is in a file.

    Attributes
    ----------
    path : Path
        The file, as messages name it.
    header : list of str
        The names of the columns, each once.
    columns : list of RawColumn
        The columns.
    lines : list of int
        The line of the file that each row begins on, or the row's number if there are no lines.
    notes : list of str
        Notes from reading the table.
    """

    path: Path
    header: list[str]
    columns: list[RawColumn]
    lines: list[int]
    notes: list[str] = field(default_factory=list)

    def take(self, rows: np.ndarray) -> RawTable:
        """Return the table with only these rows, selected by a mask."""
        if rows.all():
            return self
        columns = [column.take(rows) for column in self.columns]
        return RawTable(self.path, self.header, columns, list(itertools.compress(self.lines, rows)), self.notes)


def _parse_numbers(texts: list[str]) -> np.ndarray | None:
    """Return texts as numbers, all at once, which is far faster than one by one; None if any is not finite."""
    try:
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return None
    # Python allows underscores between digits, but they appear in codes.
    return numbers if np.isfinite(numbers).all() and "_" not in "".join(texts) else None


def _show(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
