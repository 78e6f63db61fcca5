"""A user's table as features: numbers unchanged, and text columns one-hot encoded.

`fit`, `evaluate` and the `csv:` of a config read it here. Which columns are text, and their levels, is
determined from all rows, before any split; labels are not used, so that nothing leaks about test labels.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from zoloss_cli.data.columns import (
    ALL_COLUMNS,
    ChosenColumns,
    ColumnSelection,
    CsvColumn,
    Gap,
    check_spellings,
    choose_columns,
    compute_fill,
    detect_column,
    guess_label,
    index_labels,
    is_continuous,
    join_names,
    list_feature_names,
    refill,
)
from zoloss_cli.data.read import (
    STANDARD_INPUT_NAME,
    RawColumn,
    RawTable,
    is_missing,
    is_number,
    read_header,
    read_raw_table,
)
from zoloss_cli.errors import DataError
from zoloss_cli.utils.text import list_options

MAX_CLASSES = 100  # more are unlikely to be classes
MAX_SAFE_LENGTH = 15
MAX_DIGITS = 400  # of a number in a proof, and its largest exponent: floating-point numbers have smaller ones
FILLING = ("impute", "indicator")  # policies for missing values that fill them by statistics


@dataclass(frozen=True)
class CsvTable:
    """A table to learn from or to predict."""

    path: Path
    columns: tuple[CsvColumn, ...]  # except the label
    X: np.ndarray
    label: str  # the name of the label column
    labels: list[str] | None  # of each row; None if there is no label column
    lines: list[int]  # the line of the file that each row begins on
    dropped: int = 0  # rows with missing values
    notes: list[str] = field(default_factory=list)
    gaps: tuple[Gap, ...] = ()  # where missing values were filled by the median or the most frequent level
    id: str | None = None  # the column that only identifies rows
    # The values, as written, of features that do not round-trip through floating-point numbers.
    long_numbers: dict[int, list[str]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # of commands, as given, to read it again

    def suggest(self, command: str, **options: Any) -> str:
        """Return a command on this table, with the options that it was read with, ready to paste."""
        path = "FILE" if self.path == STANDARD_INPUT_NAME else str(self.path)
        return shlex.join(["zoloss", command, path, *list_options({**self.options, **options})])

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return list_feature_names(self.columns)

    def index_classes(self, positive: str | None) -> tuple[np.ndarray, list[str]]:
        """Return class indices and classes; of two, the last is positive: as named, or by order."""
        where = f"{self.path}: the label column '{self.label}'"
        if self.labels is None:
            raise DataError(f"{where} is missing")
        if self.dropped:
            where += f", without the {self.dropped:,} rows that were left out,"
        names = sorted(set(self.labels))
        if positive is None and is_continuous(names, len(self.labels)):
            raise DataError(
                f"{where} holds {len(names):,} different numbers ({join_names(names)}), like a measurement; "
                "name the column of classes with --label, or bin the numbers into classes"
            )
        if len(names) > MAX_CLASSES and positive is None:
            raise DataError(
                f"{where} holds {len(names)} classes ({join_names(names)}), more than the {MAX_CLASSES} that "
                "there may be; set label to the right column, or positive to one of them, against the rest"
            )
        return index_labels(self.labels, positive, where)

    def list_levels(self, indicators: Mapping[str, tuple[str, str]] = MappingProxyType({})) -> list[str]:
        """Return how each text column was encoded, one sentence each.

        Columns in `indicators` have a single indicator: 0 for their first level, 1 for the second.
        """
        lines = []
        for column in self.columns:
            if column.name in indicators:
                zero, one = indicators[column.name]
                lines.append(f"'{column.name}' has one indicator: 1 for {one}, 0 for {zero}")
            elif column.levels is not None:
                levels = ", ".join(column.levels)
                lines.append(f"'{column.name}' has one indicator, 1 or 0, for each of: {levels}")
        return lines

    def list_notes(self) -> list[str]:
        """Return notes on how the file was encoded, one sentence each."""
        dropped = [f"{self.path}: {self.dropped:,} rows with missing values left out"] if self.dropped else []
        notes = [f"{self.path}: {note}" if note.startswith("label: ") else note for note in self.notes]
        return [*notes, *dropped, *(f"{self.path}: {text}" for text in self.list_levels())]


def read_for_training(
    path: Path,
    label: str | int | None = None,
    missing: str = "error",
    content: bytes | None = None,
    selection: ColumnSelection = ALL_COLUMNS,
    as_written: bool = False,
) -> CsvTable:
    """Read a table with labels; its values determine which columns are text, and their levels are sorted.

    Missing values are an error ('error'), drop their rows ('drop'), are read as 0, or as no level in a text
    column ('zero'), are imputed by the median or the most frequent level ('impute'), or are imputed and marked
    by another feature ('indicator'). Proofs need all values `as_written`, even of a large file. `content` is
    that of the file, if already read.
    """

    def choose_texts(header: list[str]) -> list[str]:
        names = header if header[0] else header[1:]
        chosen = choose_columns(path, names, label, selection)
        return [names[i] for i in (chosen.label, chosen.id) if i is not None]

    raw = _leave_out_counter(read_raw_table(path, content, None if as_written else choose_texts))
    path, header = raw.path, raw.header
    if "" in header:
        at = header.index("") + 1
        raise DataError(f"{path}:1: column {at} has no name; name it, or leave it out if it only counts rows")
    chosen = choose_columns(path, header, label, selection)
    if not chosen.features:
        raise DataError(f"{path} has a label column but no features")
    errors = list(_find_missing(raw, chosen, missing))
    doubts: list[DataError] = []  # about columns, which are only complained about with errors
    kept = raw.take(_select_rows(raw, chosen, missing))
    if not kept.lines:
        raise _join_errors(errors, selection)
    labels = kept.columns[chosen.label].get_texts()
    with _collect_errors(errors):
        check_spellings(path, header[chosen.label], labels, kept.lines)
    notes = [*raw.notes, *_describe_choices(kept, chosen)]
    fields = [kept.columns[i] for i in chosen.features]
    described: list[CsvColumn] = []
    for each in fields:
        before = len(notes)
        with _collect_errors(errors):
            described.append(_describe_fill(detect_column(kept, each, notes), each, path, missing))
        doubts += [
            DataError(note, options={"drop": [each.name]}) for note in notes[before:] if "--drop" in note
        ]
    columns = tuple(described)
    names = list_feature_names(columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        errors.append(DataError(f"{path}: two features would be called '{twice}'; rename a column"))
    if errors:
        raise _join_errors([*errors, *doubts], selection)
    X, gaps = _encode(columns, fields, missing)
    if count := sum(len(gap.rows) for gap in gaps):
        notes.append(f"{path}: {count:,} missing values filled by medians and most frequent levels")
    return CsvTable(
        path,
        columns,
        X,
        header[chosen.label],
        labels,
        kept.lines,
        len(raw.lines) - len(kept.lines),
        notes,
        gaps,
        None if chosen.id is None else header[chosen.id],
        _find_long_numbers(columns, fields),
        {"label": label, "missing": None if missing == "error" else missing, **selection.to_keys()},
    )


def _leave_out_counter(raw: RawTable) -> RawTable:
    """Drop a nameless first column that counts the rows, such as the index of a data frame."""
    if raw.header[0] or len(raw.header) < 2 or len(raw.lines) < 2:
        return raw
    numbers = raw.columns[0].numbers
    if numbers is None or not np.array_equal(numbers - numbers[0], np.arange(len(numbers))):
        return raw
    notes = [*raw.notes, f"{raw.path}: the first column, which has no name and counts the rows, was left out"]
    return RawTable(raw.path, raw.header[1:], raw.columns[1:], raw.lines, notes)


@contextlib.contextmanager
def _collect_errors(errors: list[DataError]) -> Iterator[None]:
    try:
        yield
    except DataError as error:
        errors.append(error)


def _join_errors(errors: list[DataError], selection: ColumnSelection) -> DataError:
    """Return one error with all complaints about a table: first those that only the file can answer."""
    errors = sorted(errors, key=lambda error: bool(error.options))
    options = {key: [each for e in errors for each in e.options.get(key, ())] for key in ("drop", "missing")}
    options = {key: list(dict.fromkeys(values)) for key, values in options.items()}
    if len(errors) == 1 or not any(options.values()) or (selection.features and options["drop"]):
        return DataError(*map(str, errors))
    advice = "run" if errors[0].options else "correct the file where no option helps, then run"
    return DataError(*map(str, errors), options=options, advice=advice)


def _find_missing(table: RawTable, chosen: ChosenColumns, missing: str) -> Iterator[DataError]:
    """Yield an error for each column with missing values that the policy does not allow."""
    label, advice = (
        table.columns[chosen.label],
        "; set missing to 'drop' to leave such rows out, or to 'zero', ",
    )
    advice += "'impute' or 'indicator' to fill them (--missing)"
    for i in (chosen.label, *(chosen.features if missing == "error" else ())):
        column = table.columns[i]
        if not (count := int(column.missing.sum())):
            continue
        at = f"{table.path}:{table.lines[int(np.argmax(column.missing))]}"
        more = f" (as in {count - 1:,} more line{'s' * (count > 2)})" if count > 1 else ""
        if column is label:
            yield DataError(f"{at}: the label column '{label.name}' has no value{more}")
        elif count == len(table.lines):
            yield _build_empty_error(table.path, column.name)
        else:
            text = f"{at}: column '{column.name}' has no value{more}{advice}"
            yield DataError(text, options={"missing": ["impute"]})
            advice = ""


def _build_empty_error(path: Path, name: str) -> DataError:
    text = f"{path}: column '{name}' has no values at all; leave it out with --drop"
    return DataError(text, options={"drop": [name]})


def _select_rows(table: RawTable, chosen: ChosenColumns, missing: str) -> np.ndarray:
    """Return a mask of the rows to use under the policy for missing values: those with a label."""
    has_label, gaps = ~table.columns[chosen.label].missing, np.zeros(len(table.lines), bool)
    if missing != "drop":
        return has_label
    for i in chosen.features:
        gaps |= table.columns[i].missing
    if gaps.all():
        worst = max(chosen.features, key=lambda i: int(table.columns[i].missing.sum()))
        raise DataError(
            f"{table.path} has no rows left after dropping those with missing values; set missing to 'impute', "
            f"or leave out columns such as '{table.header[worst]}' with --drop"
        )
    return has_label & ~gaps


def _describe_choices(table: RawTable, chosen: ChosenColumns) -> list[str]:
    """Return notes on what was guessed about a table, and what is unusual about its header and ids."""
    notes, header = [], table.header
    if chosen.is_guessed:
        notes.append(f"label: '{header[chosen.label]}' (guessed; --label to change)")
    if all(is_number(name) for name in header):
        notes.append(f"the first line of {table.path} holds only numbers and was read as the header")
    if chosen.id is not None:
        ids = table.columns[chosen.id].get_texts()
        if repeated := len(ids) - len(set(ids)):
            notes.append(
                f"{table.path}: the id '{header[chosen.id]}' is not unique: {repeated:,} rows repeat one, and "
                "random splits may put rows with the same id into both the training and the test part"
            )
    return notes


def _describe_fill(column: CsvColumn, raw: RawColumn, path: Path, missing: str) -> CsvColumn:
    """Return the column with the fill value for missing ones, if the policy is to impute them."""
    if missing not in FILLING:
        return column
    if raw.missing.all():
        raise _build_empty_error(path, column.name)
    is_marked = missing == "indicator" and bool(raw.missing.any())
    known = encode_column(column, raw)[~raw.missing]
    fill = compute_fill(known, column.levels is not None)
    value = float(fill[0]) if column.levels is None else column.levels[int(np.argmax(fill))]
    return replace(column, fill=value, is_marked=is_marked)


def _encode(
    columns: tuple[CsvColumn, ...], fields: Sequence[RawColumn], missing: str
) -> tuple[np.ndarray, tuple[Gap, ...]]:
    """Return the features of all rows, and where values were filled."""
    X = np.zeros((len(fields[0].missing), len(list_feature_names(columns))))
    gaps, start = [], 0
    for column, raw in zip(columns, fields, strict=True):
        stop = start + column.width
        X[:, start:stop] = encode_column(column, raw)
        if missing in FILLING and raw.missing.any():
            gaps.append(Gap(start, stop, np.flatnonzero(raw.missing), column.levels is not None))
        if column.is_marked:
            X[raw.missing, stop] = 1.0
        start += len(column.features)
    return refill(X, gaps, np.arange(len(X))), tuple(gaps)


def merge_long_numbers(
    X: np.ndarray, long_numbers: Mapping[int, Sequence[str]], names: Sequence[str]
) -> np.ndarray:
    """Return X with the columns of `long_numbers` replaced by exact fractions.

    Samples without texts, such as noise, are last; missing values keep their imputed number.
    """
    if not long_numbers:
        return X
    values = X.astype(object)
    for j, texts in long_numbers.items():
        for i, text in enumerate(texts):
            if is_missing(text):
                continue
            number = Decimal(text)
            if max(len(number.as_tuple().digits), abs(number.adjusted())) > MAX_DIGITS:
                raise DataError(
                    f"the feature '{names[j]}' has the value '{text[:30]}', and numbers in proofs have at most "
                    f"{MAX_DIGITS} digits, and exponents from -{MAX_DIGITS} to {MAX_DIGITS}; leave it out"
                )
            values[i, j] = Fraction(number)
    return values


def _find_long_numbers(columns: tuple[CsvColumn, ...], fields: Sequence[RawColumn]) -> dict[int, list[str]]:
    """Return the texts of features with numbers that do not round-trip through floating-point numbers."""
    found, at = {}, 0
    for column, raw in zip(columns, fields, strict=True):
        if column.levels is None and raw.texts is not None:
            # A decimal number of up to 15 digits without an exponent always round-trips.
            long = {text for text in raw.texts if len(text) > MAX_SAFE_LENGTH or "e" in text.lower()}
            if any(Decimal(text) != Decimal(repr(float(text))) for text in long if not is_missing(text)):
                found[at] = raw.texts
        at += len(column.features)
    return found


def encode_column(column: CsvColumn, raw: RawColumn) -> np.ndarray:
    """Return the features of a column; missing numbers are 0, missing or unknown levels have no indicator."""
    if column.levels is not None:
        place = {level: k for k, level in enumerate(column.levels)}
        places = np.array([place.get(text, -1) for text in raw.get_texts()])
        return (places[:, None] == np.arange(len(column.levels))).astype(np.float64)
    assert raw.numbers is not None, "since it is a column of numbers"
    numbers = np.where(raw.missing, 0.0, raw.numbers) if raw.missing.any() else raw.numbers
    return numbers[:, None]


def find_unusual_label(path: Path, content: bytes) -> str | None:
    """Return the label column guessed by its name, if it is neither `label` nor the last one.

    Results stored before such names were recognized have the last column in their identity, without a name.
    """
    try:
        header = read_header(path, content)
    except DataError:  # reading the table will report it
        return None
    at = guess_label(header)
    return None if at is None or header[at] == "label" or at == len(header) - 1 else header[at]
