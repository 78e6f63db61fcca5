"""CSV files as numbers and class labels; every error names file, line and column."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoloss_cli.datasets.sent_files import is_sent, read_sent_file
from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.utils.files import FileError, FileMissingError, read_file

MAX_FILE_BYTES = 1 << 29
TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt", ".parquet", ".xlsx"})
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}

Lines = list[tuple[int, list[str]]]  # the line that each row begins on, and its fields


class LabelledTable(NamedTuple):
    """A complete table of numbers with the label of each row."""

    features: list[str]
    X: np.ndarray
    labels: list[str]


def read_table(path: Path) -> LabelledTable:
    """Read an embedded table: complete, and columns of codes become their ranks 1, 2, ..."""
    header, lines = read_rows(path)
    at = header.index("label") if "label" in header else len(header) - 1
    for number, row in lines:
        for name, value in zip(header, row, strict=True):
            if is_missing(value):
                raise DataError(f"{path}:{number}: column '{name}' has no value")
    columns = [i for i in range(len(header)) if i != at]
    X = np.column_stack([read_numbers(path, header[i], lines, i, symbolic=True) for i in columns])
    return LabelledTable([header[i] for i in columns], X, [row[at] for _, row in lines])


def compute_file_sha256(path: Path) -> str:
    """Return the sha256 of a file as hexadecimal digits."""
    if is_sent(path):
        return hashlib.sha256(read_sent_file(path)).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_content(path: Path) -> bytes:
    """Return the bytes of a file; if it is missing, a DataError suggests a similar one."""
    if is_sent(path):
        return read_sent_file(path)
    try:
        return read_file(path, MAX_FILE_BYTES)
    except FileMissingError:
        beside = []
        if path.parent.is_dir():
            beside = [each.name for each in path.parent.iterdir() if TABLE_SUFFIXES.intersection(each.suffixes)]
        raise DataError(f"there is no file {path}{suggest_nearest(path.name, beside)}") from None
    except FileError as error:
        raise DataError(f"{path} {error}") from None


def read_rows(path: Path, content: bytes | None = None) -> tuple[list[str], Lines]:
    """Read a UTF-8 CSV file whose rows all have the length of the header.

    Parameters
    ----------
    path : Path
        The file.
    content : bytes or None
        Its content, if already read.

    Returns
    -------
    header : list of str
        The names of the columns.
    lines : list of tuple of (int, list of str)
        The line that each row begins on, and its fields.
    """
    try:
        text = (read_content(path) if content is None else content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a UTF-8 text file") from None
    return parse_rows(path, text.replace("\r\n", "\n").replace("\r", "\n"))


def parse_rows(path: Path, text: str) -> tuple[list[str], Lines]:
    """Return the header and the rows of a table, like `read_rows`; lines of the text end with line feeds."""
    separator = find_separator(path, text)
    try:
        rows = list(_iterate_records(text, separator))
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise DataError(f"{path} is empty")
    (_, header), lines = rows[0], rows[1:]
    check_header(path, header)
    if not lines:
        raise DataError(f"{path} has a header but no rows")
    for number, row in lines:
        if len(row) != len(header):
            raise DataError(f"{path}:{number}: {len(row)} fields where the header has {len(header)}")
    return header, lines


def check_header(path: Path, header: list[str]) -> None:
    """Refuse a header that names a column twice."""
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError(f"{path}: the header names the column '{name}' {count} times; rename one")


def find_separator(path: Path, text: str) -> str:
    """Return the separator of fields: a comma, or another one from the header if that has no comma.

    A file named .tsv has tabs if its header has one.
    """
    if {".tsv", ".tab"}.intersection(path.suffixes) and _count_header_fields(text, "\t") > 1:
        return "\t"
    return next((each for each in (",", ";", "\t") if _count_header_fields(text, each) > 1), ",")


def _iterate_records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record that is not blank: a quoted field may span several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    for row in reader:
        if row:
            yield before + 1, [value.strip() for value in row]
        before = reader.line_num


def read_first_record(text: str, separator: str) -> list[str]:
    """Return the fields of the first record; empty if it is faulty or missing."""
    try:
        return next(_iterate_records(text, separator), (0, []))[1]
    except csv.Error:
        return []


def _count_header_fields(text: str, separator: str) -> int:
    return len(read_first_record(text, separator))


def read_numbers(path: Path, column: str, lines: Lines, i: int, symbolic: bool = False) -> np.ndarray:
    """Return field i of all rows as finite numbers.

    Parameters
    ----------
    path, column : Path, str
        The file and the column's name, for messages.
    lines : list of tuple of (int, list of str)
        The rows, as from `read_rows`.
    i : int
        The index of the field.
    symbolic : bool
        Whether a column with text is replaced by the ranks of its values.
    """
    values = [row[i] for _, row in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        if symbolic:
            codes = sorted(set(values), key=_split_numbers)
            return np.array([1.0 + codes.index(v) for v in values])
        number, value = next((n, row[i]) for n, row in lines if not is_number(row[i]))
        raise DataError(
            f"{path}:{number}: column '{column}' holds the text '{value}' where a number is needed"
        ) from None
    if not np.all(np.isfinite(numbers)):
        number, row = lines[int(np.flatnonzero(~np.isfinite(numbers))[0])]
        raise DataError(f"{path}:{number}: column '{column}' is {row[i]}, not a finite number")
    return numbers


def _split_numbers(code: str) -> list[int | str]:
    """Return a sort key that puts codes such as A49 and A410 in the order of their numbers."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", code)]


def is_missing(value: str) -> bool:
    """Return whether a field stands for a missing value."""
    return value.lower() in MISSING


def is_number(value: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value  # Python allows it between digits, but it appears in codes
