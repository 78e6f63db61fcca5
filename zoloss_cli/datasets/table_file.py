"""CSV files as numbers and class labels, with every fault named by file, line and column."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoloss_cli.errors import DataError, nearest

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}


class Table(NamedTuple):
    features: list[str]
    X: np.ndarray
    labels: list[str]
    dropped: int


def read_table(
    path: Path, label: str | int | None = None, missing: str = "error", symbolic: bool = False
) -> Table:
    """Read a CSV file with a header.

    `label` is the label column's name or index (default: the column `label`, else the last one).
    `missing` says what to do with missing values: 'error', 'drop' the row, or read them as 'zero'.
    `symbolic` turns columns of codes into their ranks 1, 2, ... instead of refusing them.
    """
    header, lines = read_rows(path)
    at = label_column(path, header, label)
    kept, dropped = [], 0
    for number, row in lines:
        gaps = [i for i, value in enumerate(row) if value.lower() in MISSING]
        if gaps and (missing == "error" or at in gaps):
            raise DataError(
                f"{path}, line {number}: column '{header[gaps[0]]}' has no value; "
                f"set missing: drop or missing: zero to accept that"
                if at not in gaps
                else f"{path}, line {number}: the label column '{header[at]}' has no value"
            )
        if gaps and missing == "drop":
            dropped += 1
            continue
        for i in gaps:
            row[i] = "0"
        kept.append((number, row))
    if not kept:
        raise DataError(f"{path} has no rows left after dropping those with missing values")
    columns = [i for i in range(len(header)) if i != at]
    if not columns:
        raise DataError(f"{path} has a label column but no features")
    X = np.column_stack([read_numbers(path, header[i], kept, i, symbolic) for i in columns])
    return Table([header[i] for i in columns], X, [row[at] for _, row in kept], dropped)


def read_rows(path: Path, semicolons: bool = False) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and each row with the line that it begins on; all rows have the header's length.

    `semicolons` accepts them as separators where the header has no comma between its names.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.csv")] if path.parent.is_dir() else []
        raise DataError(f"there is no file {path}{nearest(path.name, beside)}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a UTF-8 text file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    separator = ";" if semicolons and _header_fields(text, ",") <= 1 < _header_fields(text, ";") else ","
    try:
        rows = list(_records(text, separator))
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise DataError(f"{path} is empty")
    (_, header), lines = rows[0], rows[1:]
    if len(header) == 1 and ";" in header[0]:
        raise DataError(f"{path} is separated by semicolons; zoloss reads commas")
    for name in header:
        if header.count(name) > 1:
            raise DataError(f"{path}: the header names the column '{name}' {header.count(name)} times")
    if not lines:
        raise DataError(f"{path} has a header but no rows")
    for number, row in lines:
        if len(row) != len(header):
            raise DataError(f"{path}, line {number}: {len(row)} fields where the header has {len(header)}")
    return header, lines


def _records(text: str, separator: str):
    """(first line, fields) of each record that is not blank: a quoted field may go over several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    for row in reader:
        if row:
            yield before + 1, [value.strip() for value in row]
        before = reader.line_num


def _header_fields(text: str, separator: str) -> int:
    try:
        return len(next(_records(text, separator), (0, []))[1])
    except csv.Error:
        return 0


def label_column(path: Path, header: list[str], label: str | int | None) -> int:
    """The index of the label column: as named or counted, else `label`, else the last one."""
    if label is None:
        return header.index("label") if "label" in header else len(header) - 1
    if isinstance(label, int):
        if not -len(header) <= label < len(header):
            raise DataError(f"{path}: label: {label} is no column index; there are {len(header)} columns")
        return label % len(header)
    if label not in header:
        raise DataError(f"{path} has no label column '{label}'{nearest(label, header)}")
    return header.index(label)


def read_numbers(path: Path, column: str, rows, i: int, symbolic: bool = False) -> np.ndarray:
    """Field i of all rows as finite numbers."""
    values = [row[i] for _, row in rows]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        if symbolic:
            codes = sorted(set(values), key=_by_number)
            return np.array([1.0 + codes.index(v) for v in values])
        number, value = next((n, row[i]) for n, row in rows if not is_number(row[i]))
        raise DataError(
            f"{path}, line {number}: column '{column}' holds the text '{value}' where a number is needed"
        ) from None
    if not np.all(np.isfinite(numbers)):
        number, row = rows[int(np.flatnonzero(~np.isfinite(numbers))[0])]
        raise DataError(f"{path}, line {number}: column '{column}' is {row[i]}, not a finite number")
    return numbers


def _by_number(code: str):
    """Codes such as A49 and A410 in the order of their numbers."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", code)]


def is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
