"""Users' tables of any kind: text, compressed or not, parquet, xlsx, standard input, or a data set's name."""

from __future__ import annotations

import datetime
import gzip
import io
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.data.csv_files import (
    MAX_FILE_BYTES,
    ChooseTexts,
    RawColumn,
    RawTable,
    check_header,
    convert_to_utf8,
    find_separator,
    read_content,
    read_first_record,
    read_text_table,
)
from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import list_embedded_datasets, shipped_folder

STANDARD_INPUT = Path("-")
STANDARD_INPUT_NAME = Path("<stdin>")  # in messages
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"  # first bytes of such files


def read_raw_table(
    path: Path, content: bytes | None = None, choose_texts: ChooseTexts | None = None
) -> RawTable:
    """Read a table of any known kind; the content of a file counts, not its name.

    Parameters
    ----------
    path : Path
        The file; `-` for standard input.
    content : bytes or None
        Its content, if already read.
    choose_texts : callable or None
        Takes the header; returns the columns whose values are needed as written. None for all.

    Returns
    -------
    RawTable
        All its columns.
    """
    name = name_source(path)
    content = unpack(name, read_source(path) if content is None else content)
    if content.startswith(PARQUET) or ".parquet" in name.suffixes:
        return read_parquet(name, content)
    if content.startswith(ZIP) or ".xlsx" in name.suffixes:
        return read_workbook(name, content)
    return read_text_table(name, content, choose_texts)


def read_header(path: Path, content: bytes) -> list[str]:
    """Return the names of the columns of a text file; empty for any other file."""
    content = unpack(path, content)
    if content.startswith((PARQUET, ZIP)):
        return []
    text = convert_to_utf8(path, content)[0].decode()
    return read_first_record(text, find_separator(path, text))


def name_source(path: Path) -> Path:
    """Return the name of a file in messages."""
    return STANDARD_INPUT_NAME if path == STANDARD_INPUT else path


def read_source(path: Path) -> bytes:
    """Return the bytes of a file or of standard input."""
    if path != STANDARD_INPUT:
        return read_content(path)
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError(
            "- stands for standard input, and nothing is piped into it; name a file, or pipe a table"
        )
    content = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if not content:
        raise DataError("standard input is empty: the command before the pipe wrote no table")
    if len(content) > MAX_FILE_BYTES:
        raise DataError(f"standard input is too large: at most {MAX_FILE_BYTES:,} bytes are read")
    return content


def unpack(path: Path, content: bytes) -> bytes:
    """Return the bytes of a file, decompressed if it is in gzip format."""
    if not content.startswith(GZIP):
        return content
    try:
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged: it cannot be decompressed ({error})") from None
    if len(unpacked) > MAX_FILE_BYTES:
        raise DataError(f"{path} is too large: at most {MAX_FILE_BYTES:,} decompressed bytes are read")
    return unpacked


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


FOLDER = "datasets"


def resolve_table(path: Path) -> Path:
    """Return the file that a path or the name of a data set refers to.

    Parameters
    ----------
    path : Path
        A file; or 'heart' or 'datasets/heart.csv', which is the data set that comes with zoloss unless there is
        such a file.

    Returns
    -------
    Path
        The path itself, even if nothing is there: readers report that. A shipped file in or below the working
        folder has a relative path.

    Raises
    ------
    DataError
        If it is the name of a generator, which has no table, or almost the name of a data set.
    """
    if path.is_absolute() or _is_there(path):
        return path
    if path.parts == (FOLDER, path.name) and path.suffix == ".csv" and path.stem in list_embedded_datasets():
        return _shorten(shipped_folder(FOLDER) / path.name)
    if len(path.parts) != 1:
        return path
    if (name := str(path)) in list_embedded_datasets():
        return _shorten(shipped_folder(FOLDER) / f"{name}.csv")
    return _resolve_other_name(path)


def _resolve_other_name(path: Path) -> Path:
    """Return the file of another package's data set with this name; report what else may be meant."""
    from zoloss_cli.config.catalog import find_plugin_file, has_generator

    name = str(path)
    if name in GENERATORS or (name in DATASET_PLUGINS and has_generator(name)):
        raise DataError(
            f"'{name}' is a generator, which configs and `zoloss plot --dataset` take; here a table is needed: "
            "a file, or one of `zoloss datasets`"
        )
    if name in DATASET_PLUGINS:
        return find_plugin_file(DATASET_PLUGINS[name])
    if path.suffix == ".csv" and path.stem in list_embedded_datasets():
        raise DataError(
            f"there is no file {path}; the data set that comes with zoloss is called '{path.stem}', "
            "without .csv"
        )
    nearest = "" if path.suffix else suggest_nearest(name, list_embedded_datasets())
    if nearest and not _list_beside(path):
        raise DataError(f"there is no file or data set '{name}'{nearest}")
    return path


def _list_beside(path: Path) -> list[str]:
    """Return files whose names begin with this one: then the reader's own message is better."""
    return [each.name for each in Path().glob("*") if each.is_file() and each.stem == str(path)]


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: readers report what is wrong
        return True


def _shorten(path: Path) -> Path:
    """Return a shipped file by a path relative to the working folder, if possible."""
    here = Path(FOLDER, path.name)
    try:
        return here if here.is_file() and here.samefile(path) else path.relative_to(Path.cwd())
    except (OSError, ValueError):
        return path
