"""Tables in parquet and xlsx files, whose values have types; the packages that read them are optional."""

from __future__ import annotations

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.datasets.csv_reader import MAX_FILE_BYTES, check_header
from zoloss_cli.datasets.raw_table import RawColumn, RawTable
from zoloss_cli.errors import DataError

MAX_CELLS = 50_000_000  # rows times columns: files compress equal values, and leave empty ones out
MAX_SHEET_ROWS = 1_048_576  # of a spreadsheet program

MAX_EXACT_INTEGER = 2**53  # as a floating-point number


def read_parquet(path: Path, content: bytes) -> RawTable:
    """Read a parquet file with pyarrow; rows count from 1."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise _build_extra_error(path, "a parquet file", "pyarrow") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        shape = file.metadata.num_rows, len(file.schema_arrow.names)
        if shape[0] * shape[1] > MAX_CELLS:
            raise DataError(f"{path} is too large: {shape[0]:,} rows of {shape[1]:,} columns")
        table = file.read()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a parquet file that can be read: {reason}") from None
    # The index of a data frame, which pandas stores along with its columns.
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_header(path, names)
    if not names or not table.num_rows:
        raise DataError(f"{path} has no {'rows' if names else 'columns'}")
    columns = [_convert_arrow(path, name, table.column(name), pyarrow.types) for name in names]
    return RawTable(path, names, columns, list(range(1, table.num_rows + 1)))


def _convert_arrow(path: Path, name: str, values: Any, types: Any) -> RawColumn:
    kind = values.type
    if types.is_integer(kind) and len(values) > values.null_count:
        numbers = values.to_numpy().astype(np.float64)
        if np.nanmax(np.abs(numbers)) < MAX_EXACT_INTEGER:
            return RawColumn.from_numbers(name, numbers)
    elif types.is_floating(kind):
        numbers = values.to_numpy().astype(np.float64)
        infinite = np.flatnonzero(np.isinf(numbers))
        if infinite.size:
            row = int(infinite[0])
            raise DataError(f"{path}:{row + 1}: column '{name}' is {numbers[row]}, not a finite number")
        return RawColumn.from_numbers(name, numbers)
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        raise DataError(f"{path}: column '{name}' holds {kind}, which is neither numbers nor text; --drop it")
    return RawColumn.from_texts(name, [_write_value(value) for value in values.to_pylist()])


def read_workbook(path: Path, content: bytes) -> RawTable:
    """Read the first sheet of an xlsx file with openpyxl; rows count as in spreadsheets, with header 1."""
    try:
        import openpyxl
    except ImportError:
        raise _build_extra_error(path, "an xlsx file", "openpyxl") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_FILE_BYTES:
                raise DataError(f"{path} is too large: at most {MAX_FILE_BYTES:,} bytes are read")
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = book.worksheets
        rows = _read_filled_rows(path, sheets[0])
    except DataError:
        raise
    except Exception:  # of any kind: openpyxl has no specific error for a damaged file
        raise DataError(f"{path} is not an xlsx file that can be read") from None
    if not rows:
        raise DataError(f"{path} is empty")
    width = max(len(row) for _, row in rows)
    filled = [(number, [*row, *[""] * (width - len(row))]) for number, row in rows]
    (_, header), body = filled[0], filled[1:]
    check_header(path, header)
    if not body:
        raise DataError(f"{path} has a header but no rows")
    columns = [RawColumn.from_texts(name, [row[i] for _, row in body]) for i, name in enumerate(header)]
    more = len(sheets) - 1
    notes = [f"{path}: only the first of {more + 1} sheets, '{sheets[0].title}', was read"] if more else []
    return RawTable(path, header, columns, [number for number, _ in body], notes)


def _read_filled_rows(path: Path, sheet: Any) -> list[tuple[int, list[str]]]:
    """Return the number and the values of each row that is not empty, up to its last value."""
    sheet.reset_dimensions()  # they may be wrong, and rows would be as wide as they say
    rows: list[tuple[int, list[str]]] = []
    width = cells = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        row = [_write_value(value) for value in values]
        while row and not row[-1]:
            row.pop()
        cells += len(values)
        if row:
            rows.append((number, row))
            width = max(width, len(row))
            cells = max(cells, number * width)
        if cells > MAX_CELLS or number > MAX_SHEET_ROWS:
            column = max(width, len(values))
            raise DataError(
                f"{path} is too large: its first sheet reaches row {number:,} and column {column:,}, and at "
                f"most {MAX_CELLS:,} cells in {MAX_SHEET_ROWS:,} rows are read; delete those far from it"
            )
    return rows


def _write_value(value: Any) -> str:
    """Return a value as it would appear in a text file."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value).strip()


def _build_extra_error(path: Path, what: str, package: str) -> DataError:
    return DataError(f"{path} is {what}, which {package} reads; install it with: pip install {package}")
