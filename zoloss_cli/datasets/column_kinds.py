"""What a column holds: numbers, text with few levels, or no feature, such as ids and dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import is_missing, is_number
from zoloss_cli.datasets.raw_table import RawColumn, RawTable
from zoloss_cli.errors import DataError

MAX_LEVELS = 100
MIN_IDS = 10  # fewer rows may have different values by chance
N_PROBES = 100
DATE_SHARE = 0.9
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2}|[AaPp][Mm])?)?"
DATE = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[ -][A-Za-z]{{3,9}}[ -]\d{{2,4}}|[A-Za-z]{{3,9}} \d{{1,2}},? \d{{4}}){TIME}"
)


@dataclass(frozen=True)
class CsvColumn:
    """A column of a table: numbers, or text with known levels.

    Attributes
    ----------
    name : str
        The name.
    levels : tuple of str or None
        The levels of a text column.
    fill : float, str or None
        The value that replaces missing ones, if these are filled.
    is_marked : bool
        Whether another feature is 1 where the value is missing, and 0 elsewhere.
    """

    name: str
    levels: tuple[str, ...] | None = None
    fill: float | str | None = None
    is_marked: bool = False

    @property
    def features(self) -> list[str]:
        """The names of the features that the column becomes."""
        own = [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]
        return [*own, f"{self.name} missing"] if self.is_marked else own

    @property
    def width(self) -> int:
        """The number of features without the one that marks missing values."""
        return 1 if self.levels is None else len(self.levels)


def list_feature_names(columns: tuple[CsvColumn, ...]) -> list[str]:
    """Return the names of the features that columns become."""
    return [name for column in columns for name in column.features]


def detect_column(table: RawTable, column: RawColumn, notes: list[str]) -> CsvColumn:
    """Return whether a column holds numbers or text; add notes on what is unusual about it."""
    name = column.name
    if column.numbers is not None:
        notes += _find_odd_numbers(table.path, column)
        return CsvColumn(name)
    texts, lines = column.get_texts(), table.lines
    # Backwards, so that the first line of a value is kept.
    pairs = zip(reversed(texts), reversed(lines), strict=True)
    values = {text: line for text, line in pairs if not is_missing(text)}
    words = [text for text in values if not is_number(text)]
    if not words:
        text, line = min((pair for pair in values.items() if not np.isfinite(float(pair[0]))), key=_get_line)
        raise DataError(f"{table.path}:{line}: column '{name}' is {text}, not a finite number")
    first = min(words, key=lambda word: values[word])
    where = f"{table.path}:{values[first]}: column '{name}' holds the text '{first}'"
    if DECIMAL_COMMA.fullmatch(first):
        raise DataError(f"{where}: numbers need a decimal point, not a comma")
    is_date = _look_like_dates(list(values))
    if len(values) > MAX_LEVELS:
        raise DataError(f"{where} and {_describe_excess(name, len(values), len(texts), is_date)}")
    if len(words) < len(values):
        notes.append(f"{where} beside numbers, so each of its values is a level of its own")
    if is_date:
        notes.append(
            f"{table.path}: column '{name}' looks like dates ('{first}'), each a level of its own; leave it "
            f"out with --drop '{name}', or write it as a number, such as days"
        )
    elif len(values) == len(texts) >= MIN_IDS:
        notes.append(f"{table.path}: column '{name}' {_describe_id(name, 'text')}")
    return CsvColumn(name, tuple(sorted(values)))


def _get_line(pair: tuple[str, int]) -> int:
    return pair[1]


def _describe_excess(name: str, n_levels: int, n_rows: int, is_date: bool) -> str:
    limit = f"has {n_levels} levels, more than the {MAX_LEVELS} that a column of text may have"
    if is_date:
        return f"{limit}; it looks like dates: leave it out with --drop '{name}', or write days as numbers"
    if n_levels == n_rows:
        return f"{limit}; it looks like ids: leave it out with --drop '{name}', or --id '{name}'"
    return f"{limit}; leave it out with --drop '{name}', or merge rare levels"


def _describe_id(name: str, what: str) -> str:
    return (
        f"has another {what} in every row, as ids do; if it only names rows, leave it out with --drop "
        f"'{name}', or --id '{name}'"
    )


def _find_odd_numbers(path: Path, column: RawColumn) -> list[str]:
    """Return a note on whole numbers that look like ids or dates."""
    numbers = column.numbers
    if numbers is None or len(numbers) < MIN_IDS or column.missing.any():
        return []
    if not _are_whole(numbers[:N_PROBES]) or not _are_whole(numbers):
        return []
    if _are_dates(numbers):
        return [
            f"{path}: column '{column.name}' looks like dates written as year, month and day; leave it out "
            f"with --drop '{column.name}', or write it as a number of days"
        ]
    if len(np.unique(numbers[:N_PROBES])) < min(len(numbers), N_PROBES) or len(np.unique(numbers)) < len(
        numbers
    ):
        return []
    return [f"{path}: column '{column.name}' {_describe_id(column.name, 'whole number')}"]


def _are_whole(numbers: np.ndarray) -> bool:
    return bool(np.all(numbers == np.floor(numbers)))


def _are_dates(numbers: np.ndarray) -> bool:
    """Return whether all numbers look like 20240131."""
    if numbers.min() < 19_000_101 or numbers.max() > 21_001_231:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


def _look_like_dates(values: list[str]) -> bool:
    probes = values[:N_PROBES]
    return sum(DATE.fullmatch(value) is not None for value in probes) >= DATE_SHARE * len(probes)
