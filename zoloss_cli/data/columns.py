"""The columns of a table: which are features, what they hold, class labels, and missing values."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.data.read import RawColumn, RawTable, is_missing, is_number
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest

MAX_LEVELS = 100
MIN_IDS = 10  # in fewer rows, values may be unique by chance
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
    """A column of a table: numbers, or text with known levels."""

    name: str
    levels: tuple[str, ...] | None = None  # of a text column
    fill: float | str | None = None  # the value that replaces missing ones, if these are filled
    is_marked: bool = False  # whether another feature is 1 where the value is missing, and 0 elsewhere

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
    """Detect whether a column holds numbers or text; add notes on anything unusual."""
    name = column.name
    if column.numbers is not None:
        notes += _find_odd_numbers(table.path, column)
        return CsvColumn(name)
    texts, lines = column.get_texts(), table.lines
    # In reverse, so that the first line of each value is kept.
    pairs = zip(reversed(texts), reversed(lines), strict=True)
    values = {text: line for text, line in pairs if not is_missing(text)}
    words = [text for text in values if not is_number(text)]
    if not words:
        pairs = zip(texts, lines, strict=True)
        text, line = next((t, n) for t, n in pairs if not is_missing(t) and not np.isfinite(float(t)))
        raise DataError(f"{table.path}:{line}: column '{name}' is {text}, not a finite number")
    first = min(words, key=lambda word: values[word])
    where = f"{table.path}:{values[first]}: column '{name}' holds the text '{first}'"
    if DECIMAL_COMMA.fullmatch(first):
        raise DataError(f"{where}: numbers need a decimal point, not a comma")
    probes = list(values)[:N_PROBES]
    is_date = sum(DATE.fullmatch(value) is not None for value in probes) >= DATE_SHARE * len(probes)
    if len(values) > MAX_LEVELS:
        excess = _describe_excess(name, len(values), len(texts), is_date)
        raise DataError(f"{where} and {excess}", options={"drop": [name]})
    if len(words) < len(values):
        notes.append(f"{where} among numbers, so each of its values is a level of its own")
    if is_date:
        notes.append(
            f"{table.path}: column '{name}' looks like dates ('{first}'), each a level of its own; leave it "
            f"out with --drop '{name}', or write it as a number, such as days"
        )
    elif len(values) == len(texts) >= MIN_IDS:
        notes.append(f"{table.path}: column '{name}' {_describe_id(name, 'text')}")
    return CsvColumn(name, tuple(sorted(values)))


def _describe_excess(name: str, n_levels: int, n_rows: int, is_date: bool) -> str:
    limit = f"has {n_levels} levels, more than the {MAX_LEVELS} that a column of text may have"
    if is_date:
        return f"{limit}; it looks like dates: leave it out with --drop '{name}', or write days as numbers"
    if n_levels == n_rows:
        return f"{limit}; it looks like ids: leave it out with --drop '{name}', or --id '{name}'"
    return f"{limit}; leave it out with --drop '{name}', or merge rare levels"


def _describe_id(name: str, what: str) -> str:
    return (
        f"has a different {what} in every row, like an id; if it only names rows, leave it out with --drop "
        f"'{name}', or --id '{name}'"
    )


def _find_odd_numbers(path: Path, column: RawColumn) -> list[str]:
    """Return a note on whole numbers that look like ids or dates."""
    numbers = column.numbers
    if numbers is None or len(numbers) < MIN_IDS or column.missing.any():
        return []
    if not np.array_equal(numbers, np.floor(numbers)):
        return []
    if _are_dates(numbers):
        return [
            f"{path}: column '{column.name}' looks like dates written as year, month and day; leave it out "
            f"with --drop '{column.name}', or write it as a number of days"
        ]
    for part in (numbers[:N_PROBES], numbers):  # most columns repeat a number early: few are sorted whole
        if len(np.unique(part)) < len(part):
            return []
    return [f"{path}: column '{column.name}' {_describe_id(column.name, 'whole number')}"]


def _are_dates(numbers: np.ndarray) -> bool:
    """Return whether all numbers look like 20240131."""
    if numbers.min() < 19_000_101 or numbers.max() > 21_001_231:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


LABEL_NAMES = ("label", "class", "target", "y", "outcome")  # in order of preference


@dataclass(frozen=True)
class ColumnSelection:
    """The columns that a user names, apart from the label.

    Each text of `drop` and `features` is the name of a column, or several names separated by commas.
    """

    drop: tuple[str, ...] = ()  # columns to leave out
    features: tuple[str, ...] = ()  # the only columns to use as features; empty for all
    id: str | None = None  # a column that only identifies rows: not a feature, but copied to predictions

    def to_keys(self) -> dict[str, Any]:
        """Return what was named, as keys of a config's data set."""
        keys: dict[str, Any] = {"drop": list(self.drop), "features": list(self.features), "id": self.id}
        return {key: value for key, value in keys.items() if value}


ALL_COLUMNS = ColumnSelection()


@dataclass(frozen=True)
class ChosenColumns:
    """Columns of a header by position."""

    label: int
    is_guessed: bool  # the label
    features: tuple[int, ...]
    id: int | None


def choose_columns(
    path: Path, header: list[str], label: str | int | None, selection: ColumnSelection
) -> ChosenColumns:
    """Return what each column of a header is used for; `label` is a name, an index, or None to guess it."""
    dropped = set(resolve_columns(path, header, selection.drop, "drop"))
    chosen = set(resolve_columns(path, header, selection.features, "features"))
    ids = set() if selection.id is None else {_find_column(path, header, selection.id, "id")}
    if both := (dropped & chosen) | (ids & chosen):
        raise ConfigError(f"{path}: the column '{min(both)}' is both used and left out: name it once")
    left_out = dropped | ids
    if label is None:
        at = guess_label(header, left_out | chosen)
        if at is None:
            raise DataError(f"{path} has no column left for the labels; name it with --label")
    else:
        at = _find_label(path, header, label)
        if header[at] in left_out | chosen:
            raise ConfigError(
                f"{path}: '{header[at]}' is the label column, which is not a feature; name it once"
            )
    wanted = chosen or set(header) - left_out - {header[at]}
    places = tuple(i for i, name in enumerate(header) if name in wanted)
    return ChosenColumns(at, label is None, places, header.index(min(ids)) if ids else None)


def guess_label(header: Sequence[str], taken: Iterable[str] = ()) -> int | None:
    """Return the index of the column with a usual label name, or else of the last one; None if all are taken.

    Examples
    --------
    >>> guess_label(["Class", "size", "colour"])
    0
    >>> guess_label(["id", "size", "colour"])
    2
    """
    others = set(taken)
    free = [i for i, name in enumerate(header) if name not in others]
    for usual in LABEL_NAMES:
        if usual in header and usual not in others:
            return header.index(usual)
        for i in free:
            if header[i].lower() == usual:
                return i
    return free[-1] if free else None


def resolve_columns(path: Path, header: list[str], texts: Iterable[str], option: str) -> list[str]:
    """Return the columns that texts name: a whole text if a column has that name, or else its parts."""
    names = []
    for text in texts:
        parts = [text] if text in header else [part.strip() for part in text.split(",")]
        names += [_find_column(path, header, part, option) for part in parts]
    return list(dict.fromkeys(names))


def _find_column(path: Path, header: list[str], name: str, option: str) -> str:
    if name not in header:
        raise DataError(f"{path} has no column '{name}', which --{option} names{suggest_nearest(name, header)}")
    return name


def _find_label(path: Path, header: list[str], label: str | int) -> int:
    """Return the index of the label column; a text may be an index if no column has that name."""
    if isinstance(label, str) and label not in header and re.fullmatch(r"-?\d+", label):
        label = int(label)
    if isinstance(label, int):
        if not -len(header) <= label < len(header):
            raise DataError(f"{path}: label: {label} is not a column index; there are {len(header)} columns")
        return label % len(header)
    if label not in header:
        raise DataError(f"{path} has no label column '{label}'{suggest_nearest(label, header)}")
    return header.index(label)


MAX_LISTED_CLASSES = 10
MIN_FRACTIONS = 5  # distinct numbers, not all integers; fewer may be class labels
MIN_WHOLE_NUMBERS = 20  # likewise, all integers


def index_labels(labels: list[str], positive: str | None, where: str) -> tuple[np.ndarray, list[str]]:
    """Return the class index of each label, and the names of the classes; with two, the last is positive.

    A `positive` class is separated from all others. Messages begin with `where`.
    """
    names = sorted(set(labels))
    if len(names) < 2:
        raise DataError(f"{where} holds one class only, '{names[0]}'; two are needed")
    if positive is not None:
        if str(positive) not in names:
            raise DataError(f"{where} has no class '{positive}'{suggest_nearest(positive, names)}")
        others = [n for n in names if n != str(positive)]
        rest = others[0] if len(others) == 1 else "rest" if str(positive) != "rest" else "others"
        y = np.array([int(label == str(positive)) for label in labels])
        return y, [rest, str(positive)]
    if len(names) > 2:  # ties go to the first class: 2 before 10
        with contextlib.suppress(ValueError):
            names.sort(key=float)
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels]), names


def check_spellings(path: Path, column: str, labels: list[str], lines: list[int]) -> None:
    """Raise DataError for labels such as 1 and 1.0, which are the same number but different text."""
    first = dict(zip(reversed(labels), reversed(lines), strict=True))
    same: dict[Decimal, str] = {}
    for label in sorted(filter(is_number, first), key=lambda label: first[label]):
        try:
            other = same.setdefault(Decimal(label), label)  # exact, unlike float, for long account numbers
        except InvalidOperation:  # an exponent out of bounds
            continue
        if other != label:
            raise DataError(
                f"{path}:{first[label]}: the label column '{column}' holds '{label}' and, in line "
                f"{first[other]}, '{other}', which are the same number; write each class in one way"
            )


def is_continuous(names: list[str], n_samples: int) -> bool:
    """Return whether the distinct labels of some samples are numbers, and too many to be classes.

    Examples
    --------
    >>> is_continuous(["0.5", "1.25", "2.5", "3.125", "7.5"], 6)
    True
    >>> is_continuous(["1", "2", "3", "4", "5"], 6)
    False
    """
    if len(names) < MIN_FRACTIONS or not all(map(is_number, names)):
        return False
    if all(float(name).is_integer() for name in names):
        return len(names) > MIN_WHOLE_NUMBERS and len(names) > n_samples / 4
    return len(names) > min(MIN_WHOLE_NUMBERS, n_samples / 2)


def join_names(names: list[str]) -> str:
    """Join the names of classes or columns for a message; only the first if there are many."""
    more = f" and {len(names) - MAX_LISTED_CLASSES} more" if len(names) > MAX_LISTED_CLASSES else ""
    return ", ".join(names[:MAX_LISTED_CLASSES]) + more


@dataclass(frozen=True)
class Gap:
    """The missing values of a column, among the features made from it."""

    start: int  # of the column's features
    stop: int  # without the one that marks missing values
    rows: np.ndarray  # the samples without a value
    is_text: bool  # whether the features are indicators of levels


def refill(X: np.ndarray, gaps: Sequence[Gap], samples: np.ndarray) -> np.ndarray:
    """Return the features with missing values imputed from some samples, usually the training samples.

    If no sample has a value, it is 0.
    """
    if not gaps:
        return X
    filled = np.array(X)
    for gap in gaps:
        is_known = np.ones(len(X), bool)
        is_known[gap.rows] = False
        known = X[samples[is_known[samples]], gap.start : gap.stop]
        filled[gap.rows, gap.start : gap.stop] = compute_fill(known, gap.is_text)
    return filled


def compute_fill(known: np.ndarray, is_text: bool) -> np.ndarray:
    """Return the features that replace a missing value; among equally frequent levels, the first.

    Examples
    --------
    >>> compute_fill(np.array([[1.0], [5.0], [2.0]]), False)
    array([2.])
    >>> compute_fill(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), True)
    array([0., 1.])
    """
    fill = np.zeros(known.shape[1])
    if not len(known):
        return fill
    if is_text:
        fill[np.argmax(known.sum(axis=0))] = 1.0
    else:
        fill[0] = np.median(known[:, 0])
    return fill
