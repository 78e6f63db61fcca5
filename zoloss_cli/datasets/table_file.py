"""CSV files as numbers and class labels, with every fault named by file, line and column."""

from __future__ import annotations

import csv
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
    header, lines = _read_rows(path)
    at = _label_column(path, header, label)
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
    X = np.column_stack([_numbers(path, header[i], kept, i, symbolic) for i in columns])
    return Table([header[i] for i in columns], X, [row[at] for _, row in kept], dropped)


def _read_rows(path: Path):
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.csv")] if path.parent.is_dir() else []
        raise DataError(f"there is no file {path}{nearest(path.name, beside)}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a UTF-8 text file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    try:
        reader = csv.reader(text.splitlines(keepends=True), strict=True)
        rows = [(reader.line_num, [value.strip() for value in row]) for row in reader if row]
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


def _label_column(path: Path, header: list[str], label: str | int | None) -> int:
    if label is None:
        return header.index("label") if "label" in header else len(header) - 1
    if isinstance(label, int):
        if not -len(header) <= label < len(header):
            raise DataError(f"{path}: label: {label} is no column index; there are {len(header)} columns")
        return label % len(header)
    if label not in header:
        raise DataError(f"{path} has no label column '{label}'{nearest(label, header)}")
    return header.index(label)


def _numbers(path: Path, column: str, rows, i: int, symbolic: bool) -> np.ndarray:
    values = [row[i] for _, row in rows]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        if symbolic:
            codes = sorted(set(values), key=_by_number)
            return np.array([1.0 + codes.index(v) for v in values])
        number, value = next((n, row[i]) for n, row in rows if not _is_number(row[i]))
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


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
