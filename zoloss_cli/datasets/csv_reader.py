"""CSV files as numbers and class labels, with every fault named by file, line and column."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoloss_cli.errors import DataError, suggest_nearest

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}


class Table(NamedTuple):
    features: list[str]
    X: np.ndarray
    labels: list[str]


def read_table(path: Path) -> Table:
    """Read one of our own files: complete, and columns of codes stand for their ranks 1, 2, ..."""
    header, lines = read_rows(path)
    at = label_column(path, header, None)
    for number, row in lines:
        for name, value in zip(header, row, strict=True):
            if is_missing(value):
                raise DataError(f"{path}, line {number}: column '{name}' has no value")
    columns = [i for i in range(len(header)) if i != at]
    X = np.column_stack([read_numbers(path, header[i], lines, i, symbolic=True) for i in columns])
    return Table([header[i] for i in columns], X, [row[at] for _, row in lines])


def read_content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.csv")] if path.parent.is_dir() else []
        raise DataError(f"there is no file {path}{suggest_nearest(path.name, beside)}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from None


def read_rows(path: Path, content: bytes | None = None) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and each row with the line that it begins on; all rows have the header's length.

    Semicolons are the separators where the header has no comma between its names. `content` is that of the
    file if it was read before.
    """
    try:
        text = (read_content(path) if content is None else content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a UTF-8 text file") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    separator = ";" if _header_fields(text, ",") <= 1 < _header_fields(text, ";") else ","
    try:
        rows = list(_records(text, separator))
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise DataError(f"{path} is empty")
    (_, header), lines = rows[0], rows[1:]
    for name in header:
        if header.count(name) > 1:
            raise DataError(f"{path}: the header names the column '{name}' {header.count(name)} times")
    if len(header) == 1 and "\t" in text.partition("\n")[0]:
        raise DataError(f"{path}: columns are separated by tabs; commas or semicolons are needed")
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
        raise DataError(f"{path} has no label column '{label}'{suggest_nearest(label, header)}")
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


def is_missing(value: str) -> bool:
    return value.lower() in MISSING


def is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value  # which Python allows between digits, and codes have
