"""Read tables, column by column: text, gzip, parquet, xlsx, standard input, or a data set by name.

Every error names file, line and column. `columns.py` decides which column is used for what, and `user_table.py`
encodes them as features.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import gzip
import hashlib
import io
import itertools
import re
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import (
    FileError,
    FileMissingError,
    list_embedded_datasets,
    read_file,
    shipped_folder,
)

MAX_FILE_BYTES = 1 << 29
TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt", ".parquet", ".xlsx"})
STANDARD_INPUT = Path("-")
STANDARD_INPUT_NAME = Path("<stdin>")  # in messages
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"  # magic numbers
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
MAX_EXACT_INTEGER = 2**53  # as a floating-point number

Lines = list[tuple[int, list[str]]]  # the line that each row begins on, and its fields
# A function that returns the columns of a header that are needed as written.
ChooseTexts = Callable[[list[str]], Collection[str]]


def is_missing(value: str) -> bool:
    """Return whether a field is a missing value."""
    return value.lower() in MISSING


def is_number(value: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value  # Python allows it between digits, but tables have it in codes


@dataclass(frozen=True)
class RawColumn:
    """A column of a file."""

    name: str
    numbers: np.ndarray | None  # if all values are finite numbers or missing; NaN where missing
    texts: list[str] | None  # the values as written; None only if there are numbers
    missing: np.ndarray  # a mask

    @classmethod
    def from_texts(cls, name: str, texts: list[str]) -> RawColumn:
        """Return the column, parsed as numbers if it holds only these and missing values."""
        missing = np.zeros(len(texts), bool)
        numbers = _parse_numbers(texts)
        if numbers is None:
            lowered = {text: is_missing(text) for text in set(texts)}
            missing = np.fromiter((lowered[text] for text in texts), bool, len(texts))
            if missing.any():
                known = _parse_numbers(list(itertools.compress(texts, ~missing)))
                if known is not None:
                    numbers = np.full(len(texts), np.nan)
                    numbers[~missing] = known
        return cls(name, numbers, texts, missing)

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
        values = zip(self.numbers.tolist(), self.missing, strict=True)
        return ["" if gap else _format_number(x) for x, gap in values]

    def take(self, rows: np.ndarray) -> RawColumn:
        """Return the column with only these rows, selected by a mask."""
        texts = None if self.texts is None else list(itertools.compress(self.texts, rows))
        if self.numbers is None and texts is not None and not rows.all():
            return RawColumn.from_texts(self.name, texts)  # the remaining rows may hold only numbers
        numbers = None if self.numbers is None else self.numbers[rows]
        return RawColumn(self.name, numbers, texts, self.missing[rows])


@dataclass(frozen=True)
class RawTable:
    """A table with a header, as it is in a file."""

    path: Path  # as messages name it
    header: list[str]  # each name once
    columns: list[RawColumn]
    lines: list[int]  # the line that each row begins on, or the row's number in a file without lines
    notes: list[str] = field(default_factory=list)  # from reading the table

    def take(self, rows: np.ndarray) -> RawTable:
        """Return the table with only these rows, selected by a mask."""
        if rows.all():
            return self
        columns = [column.take(rows) for column in self.columns]
        return RawTable(self.path, self.header, columns, list(itertools.compress(self.lines, rows)), self.notes)


def _parse_numbers(texts: list[str]) -> np.ndarray | None:
    """Parse all texts as numbers in one call, which is far faster; None if any is not a finite number."""
    try:
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and "_" not in "".join(texts) else None


def _format_number(number: float) -> str:
    is_exact = number.is_integer() and abs(number) < MAX_EXACT_INTEGER
    return str(int(number)) if is_exact else repr(number)


def read_raw_table(
    path: Path, content: bytes | None = None, choose_texts: ChooseTexts | None = None
) -> RawTable:
    """Read a table, whose format is detected by content or suffix; `-` is standard input.

    `content` is the file's, if already read. Without `choose_texts`, all values are kept as written.
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


# --- Bytes: of files, of standard input, and of files received from another machine

SENT = "sent:"  # prefix of such a file's path


class SentFile(NamedTuple):
    """A file to send to another machine, or received from one."""

    path: str  # at its destination: its sha256, and its original name
    content: bytes
    dataset: str = ""  # the UCI data set that it is; empty for a user's table


_sent_contents: dict[str, bytes] = {}  # by path
_sent_datasets: dict[str, str] = {}  # path by data set


def name_sent_file(path: Path, sha256: str) -> str:
    """Return the path of a file at its destination, which depends on its content."""
    return f"{SENT}/{sha256}/{path.name}"


def receive_file(file: SentFile) -> None:
    """Register a received file in this process; DataError if it is damaged, or conflicts with another."""
    if file.path != name_sent_file(Path(file.path), hashlib.sha256(file.content).hexdigest()):
        raise DataError(f"{Path(file.path).name} is damaged: its content does not match its sha256")
    if file.dataset and _sent_datasets.setdefault(file.dataset, file.path) != file.path:
        raise DataError(
            f"another run on this worker uses another version of '{file.dataset}' from UCI; restart the worker"
        )
    _sent_contents[file.path] = file.content


def find_sent_table(dataset: str) -> Path | None:
    """Return the path of a UCI data set that was sent; None if it was not."""
    return Path(_sent_datasets[dataset]) if dataset in _sent_datasets else None


def read_content(path: Path) -> bytes:
    """Return the bytes of a file; if it is missing, a DataError suggests a similar one."""
    if str(path).startswith(SENT):
        if str(path) not in _sent_contents:
            raise DataError(f"there is no file {path}: it was not sent to this machine")
        return _sent_contents[str(path)]
    try:
        return read_file(path, MAX_FILE_BYTES)
    except FileMissingError:
        beside = []
        if path.parent.is_dir():
            beside = [each.name for each in path.parent.iterdir() if TABLE_SUFFIXES.intersection(each.suffixes)]
        raise DataError(f"there is no file {path}{suggest_nearest(path.name, beside)}") from None
    except FileError as error:
        raise DataError(f"{path} {error}") from None


def compute_file_sha256(path: Path) -> str:
    """Return the sha256 of a file as hexadecimal digits."""
    return hashlib.sha256(read_content(path)).hexdigest()


def name_source(path: Path) -> Path:
    """Return the name of a file in messages."""
    return STANDARD_INPUT_NAME if path == STANDARD_INPUT else path


def read_source(path: Path) -> bytes:
    """Return the bytes of a file or of standard input."""
    if path != STANDARD_INPUT:
        return read_content(path)
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError("- is standard input, but nothing is piped into it; name a file, or pipe a table")
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


# --- Text

CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # absent from text in Latin-1
WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")


def read_text_table(path: Path, content: bytes, choose_texts: ChooseTexts | None = None) -> RawTable:
    """Read a table from the bytes of a text file; a large one with pandas if some texts are not needed."""
    encoded, notes = convert_to_utf8(path, content)
    if len(encoded) >= MIN_FAST_BYTES and choose_texts is not None:
        table = read_fast(path, encoded, choose_texts)
        if table is not None:
            return RawTable(path, table.header, table.columns, table.lines, notes)
    header, lines = parse_rows(path, encoded.decode())
    columns = [RawColumn.from_texts(name, [row[i] for _, row in lines]) for i, name in enumerate(header)]
    return RawTable(path, header, columns, [number for number, _ in lines], notes)


def convert_to_utf8(path: Path, content: bytes) -> tuple[bytes, list[str]]:
    """Return a text as UTF-8 with LF line endings, and a note if it had another encoding."""
    notes = []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError:
            raise DataError(
                f"{path} has a UTF-16 byte order mark but is not UTF-16; save it as UTF-8"
            ) from None
        notes.append(f"{path} was read as UTF-16")
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        _ = content.isascii() or content.decode()
    except UnicodeDecodeError:
        if CONTROLS.search(content):
            raise DataError(f"{path} is neither UTF-8 text nor a table in another known format") from None
        encoding = "Windows-1252" if WINDOWS_ONLY.search(content) else "Latin-1"
        content = content.decode(encoding, "replace").encode()
        notes.append(f"{path} is not UTF-8 and was read as {encoding}; save it as UTF-8 if letters are wrong")
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content, notes


def parse_rows(path: Path, text: str) -> tuple[list[str], Lines]:
    """Return the header and the rows of a table, all of the same length; `text` has LF line endings."""
    try:
        rows = list(_iterate_records(text, find_separator(path, text)))
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise DataError(f"{path} is empty")
    (_, header), lines = rows[0], rows[1:]
    check_header(path, header)
    if not lines:
        raise DataError(f"{path} has a header but no rows")
    if wrong := [(number, len(row)) for number, row in lines if len(row) != len(header)]:
        expected = f"fields where the header has {len(header)}"
        raise DataError(*(f"{path}:{number}: {count} {expected}" for number, count in wrong))
    return header, lines


def check_header(path: Path, header: list[str]) -> None:
    """Raise DataError for a duplicate column name."""
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError(f"{path}: the header names the column '{name}' {count} times; rename one")


def find_separator(path: Path, text: str) -> str:
    """Return the separator of fields: a comma, or another one from the header if that has no comma.

    A file named .tsv has tabs if its header has one.
    """
    separators = [",", ";", "\t"]
    if {".tsv", ".tab"}.intersection(path.suffixes):
        separators.insert(0, "\t")
    return next((each for each in separators if len(read_first_record(text, each)) > 1), ",")


def _iterate_records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record that is not blank: a quoted field may span several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    for row in reader:
        if row:
            yield before + 1, [value.strip() for value in row]
        before = reader.line_num


def read_first_record(text: str, separator: str) -> list[str]:
    """Return the fields of the first record; empty if it is malformed or missing."""
    try:
        return next(_iterate_records(text, separator), (0, []))[1]
    except csv.Error:
        return []


# --- Embedded tables


class LabelledTable(NamedTuple):
    """A complete table of numbers with the label of each row."""

    features: list[str]
    X: np.ndarray
    labels: list[str]


def read_rows(path: Path) -> tuple[list[str], Lines]:
    """Return the header and the rows of a text file."""
    return parse_rows(path, convert_to_utf8(path, read_content(path))[0].decode())


def read_table(path: Path) -> LabelledTable:
    """Read an embedded table without missing values; codes are replaced by their ranks 1, 2, ..."""
    header, lines = read_rows(path)
    at = header.index("label") if "label" in header else len(header) - 1
    for number, row in lines:
        for name, value in zip(header, row, strict=True):
            if is_missing(value):
                raise DataError(f"{path}:{number}: column '{name}' has no value")
    columns = [i for i in range(len(header)) if i != at]
    X = np.column_stack([_rank_codes(path, header[i], lines, i) for i in columns])
    return LabelledTable([header[i] for i in columns], X, [row[at] for _, row in lines])


def _rank_codes(path: Path, column: str, lines: Lines, i: int) -> np.ndarray:
    """Return field i of all rows as finite numbers; if any is text, the ranks of its values."""
    values = [row[i] for _, row in lines]
    numbers = _parse_numbers(values)
    if numbers is not None:
        return numbers
    if all(map(is_number, values)):
        number, value = next((n, row[i]) for n, row in lines if not np.isfinite(float(row[i])))
        raise DataError(f"{path}:{number}: column '{column}' is {value}, not a finite number")
    codes = sorted(set(values), key=_split_numbers)
    return np.array([1.0 + codes.index(value) for value in values])


def _split_numbers(code: str) -> list[int | str]:
    """Return a natural sort key, by which A49 precedes A410."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", code)]


# --- Large text files: read with pandas, but only if the result is sure to be that of `parse_rows`. Files that
# could differ, or that have an error, are left to `parse_rows`, which reports line and column.

MIN_FAST_BYTES = 1 << 20  # below this, importing pandas takes longer than everything else
COUNTED_BYTES = 1 << 18  # at once, in the processor's cache
HEADER_BYTES = 1 << 20  # a longer header is left to `parse_rows`


def read_fast(path: Path, content: bytes, choose_texts: ChooseTexts) -> RawTable | None:
    """Read a table in UTF-8 with pandas, or return None if `parse_rows` could differ."""
    start, end = content.find(b"\n") + 1, len(content)
    while end > start and content[end - 1] == ord("\n"):
        end -= 1
    # Quoted fields may contain separators, and what follows a null byte would be lost.
    is_special = any(content.find(character, start, end) >= 0 for character in (b'"', b"\0"))
    if is_special or not 0 < start <= min(HEADER_BYTES, end):
        return None
    first = content[: start - 1].decode()
    separator = find_separator(path, first)
    header = read_first_record(first, separator)
    sep, n_between, first_end = separator.encode(), len(header) - 1, content.find(b"\n", start)
    n_first = content.count(sep, start, end if first_end < 0 else first_end)
    n_ends, n_separators = _count_bytes(content, start, end, b"\n" + sep)
    n_rows = n_ends + 1
    # pandas rejects rows longer than the first, so all have the same length if the total is right.
    if n_first != n_between or n_separators != n_rows * n_between:
        return None
    check_header(path, header)
    wanted = set(choose_texts(header))
    texts = {i for i, name in enumerate(header) if name in wanted}
    columns = _parse_by_pandas(content, start, separator, header, texts)
    if columns is None or len(columns[0].missing) != n_rows:  # pandas skips blank lines
        return None
    return RawTable(path, header, columns, list(range(2, n_rows + 2)))


def _parse_by_pandas(
    content: bytes, start: int, separator: str, header: list[str], texts: set[int]
) -> list[RawColumn] | None:
    """Return the columns of the rows from offset `start` on, those in `texts` as written; None on an error."""
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    options: dict[str, Any] = {
        "sep": separator,
        "header": None,
        "names": list(range(len(header))),
        "quoting": csv.QUOTE_NONE,
        "keep_default_na": False,
        "na_values": sorted({form(text) for text in MISSING for form in (str, str.upper, str.title)}),
        # Correctly rounded, as in Python; pandas 3.1 and later has no other mode.
        **({} if version >= (3, 1) else {"float_precision": "round_trip"}),
    }

    def read(**more: Any) -> Any:
        file = io.BytesIO(content)  # a view of the bytes, no copy
        file.seek(start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # such columns are read again below
            return pd.read_csv(file, **options, **more)

    try:
        frame = read(dtype=dict.fromkeys(texts, str))
        # Booleans, long integers and mixed columns were converted, but are needed as written.
        changed = [i for i in frame if i not in texts and not _is_plain(frame[i])]
        again = read(usecols=changed, dtype=str) if changed else frame
    except (ValueError, OverflowError):  # base classes of pandas' errors
        return None
    columns = []
    for i, name in enumerate(header):
        series = again[i] if i in changed else frame[i]
        if series.dtype.kind in "iuf" and i not in texts:
            column = RawColumn.from_numbers(name, series.to_numpy(np.float64))
            if np.isinf(column.numbers).any():  # type: ignore[arg-type]
                return None
        else:
            codes, values = pd.factorize(series)  # each level is parsed once; the last one is for codes of -1
            levels = RawColumn.from_texts(name, [*(value.strip() for value in values), ""])
            numbers = None if levels.numbers is None else levels.numbers[codes]
            column = RawColumn(
                name, numbers, np.array(levels.texts, object)[codes].tolist(), levels.missing[codes]
            )
        columns.append(column)
    return columns


def _count_bytes(content: bytes, start: int, end: int, wanted: bytes) -> list[int]:
    """Return how often each byte occurs; of frequent ones, `bytes.count` takes seven times as long."""
    values, counts = np.frombuffer(content, np.uint8), [0] * len(wanted)
    for first in range(start, end, COUNTED_BYTES):
        part = values[first : min(first + COUNTED_BYTES, end)]
        counts = [n + int(np.count_nonzero(part == byte)) for n, byte in zip(counts, wanted, strict=True)]
    return counts


def _is_plain(series: Any) -> bool:
    """Return whether a column holds numbers or unconverted text."""
    if series.dtype.kind in "iuf":
        return True
    return series.dtype.kind != "b" and all(isinstance(value, str) for value in series.dropna())


# --- Parquet files and spreadsheets

MAX_CELLS = 50_000_000  # rows times columns, since compressed files may be far smaller
MAX_SHEET_ROWS = 1_048_576  # of a spreadsheet program


def read_parquet(path: Path, content: bytes) -> RawTable:
    """Read a parquet file with pyarrow; rows are numbered from 1."""
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
    """Read the first sheet of an xlsx file with openpyxl; the header is row 1, as in spreadsheets."""
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
    sheet.reset_dimensions()  # declared dimensions may be wrong, and rows would be padded to them
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


# --- Names of data sets in place of files

FOLDER = "datasets"


def resolve_table(path: Path) -> Path:
    """Return the file that a path refers to: itself, or a data set such as 'heart' or 'datasets/heart.csv'.

    Existing files take precedence. Readers report a missing file; DataError for the name of a generator, which
    has no table, and for a misspelled data set.
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
    """Return the file of another package's data set with this name; suggest what else may be meant."""
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
    # Beside a file such as heart.csv, the reader's own message is better.
    if nearest and not any(each.is_file() and each.stem == name for each in Path().glob("*")):
        raise DataError(f"there is no file or data set '{name}'{nearest}")
    return path


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # not a valid file name: readers report what is wrong
        return True


def _shorten(path: Path) -> Path:
    """Return a shipped file by a path relative to the working folder, if possible."""
    here = Path(FOLDER, path.name)
    try:
        return here if here.is_file() and here.samefile(path) else path.relative_to(Path.cwd())
    except (OSError, ValueError):
        return path
