"""Tables in text files, column by column; every error names file, line and column."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.utils.files import FileError, FileMissingError, read_file

SENT = "sent:"  # prefix of such a file's path


class SentFile(NamedTuple):
    """A file to send, or one that was sent.

    Attributes
    ----------
    path : str
        The path by which it is read: its sha256, and its original name.
    content : bytes
        Its bytes.
    dataset : str
        The UCI data set that it is; empty for a user's table.
    """

    path: str
    content: bytes
    dataset: str = ""


_contents: dict[str, bytes] = {}  # by path
_fetched: dict[str, str] = {}  # path by data set


def name_sent_file(path: Path, sha256: str) -> str:
    """Return the path of a file at its destination, which depends on its content."""
    return f"{SENT}/{sha256}/{path.name}"


def receive_file(file: SentFile) -> None:
    """Make a file that was sent readable in this process.

    Raises
    ------
    DataError
        If it does not match its path, or is another version of a UCI data set than was sent before.
    """
    if file.path != name_sent_file(Path(file.path), hashlib.sha256(file.content).hexdigest()):
        raise DataError(f"{Path(file.path).name} is damaged: it is not the file that should have been sent")
    if file.dataset and _fetched.setdefault(file.dataset, file.path) != file.path:
        raise DataError(
            f"another run on this worker uses another version of '{file.dataset}' from UCI; restart the worker"
        )
    _contents[file.path] = file.content


def is_sent(path: Path) -> bool:
    """Return whether a path is that of a file that was, or should have been, sent."""
    return str(path).startswith(SENT)


def read_sent_file(path: Path) -> bytes:
    """Return the content of a file that was sent."""
    try:
        return _contents[str(path)]
    except KeyError:
        raise DataError(f"there is no file {path}: it was not sent to this machine") from None


def find_sent_table(dataset: str) -> Path | None:
    """Return the path of a UCI data set that was sent; None if it was not."""
    return Path(_fetched[dataset]) if dataset in _fetched else None


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


@dataclass(frozen=True)
class RawColumn:
    """A column of a file.

    Attributes
    ----------
    name : str
        The name.
    numbers : ndarray of float or None
        The values if all are finite numbers or missing; NaN where missing.
    texts : list of str or None
        The values as text; None only if there are numbers.
    missing : ndarray of bool
        Where a value is missing.
    """

    name: str
    numbers: np.ndarray | None
    texts: list[str] | None
    missing: np.ndarray

    @classmethod
    def from_texts(cls, name: str, texts: list[str]) -> RawColumn:
        """Return the column with its numbers, if it holds only these and missing values."""
        missing = np.zeros(len(texts), bool)
        numbers = _parse_numbers(texts)
        if numbers is None:
            lowered = {text: text.lower() in MISSING for text in set(texts)}
            missing = np.fromiter((lowered[text] for text in texts), bool, len(texts))
            if missing.any():
                known = _parse_numbers(list(itertools.compress(texts, ~missing)))
                if known is not None:
                    numbers = np.full(len(texts), np.nan)
                    numbers[~missing] = known
        return cls(name, numbers, texts, missing)

    @classmethod
    def from_levels(cls, name: str, levels: list[str], codes: np.ndarray) -> RawColumn:
        """Return the column with these levels by index, -1 for a missing value."""
        column = cls.from_texts(name, [*levels, ""])  # for codes of -1
        texts = np.array(column.texts, dtype=object)[codes].tolist()
        return cls(
            name, None if column.numbers is None else column.numbers[codes], texts, column.missing[codes]
        )

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
        return ["" if gap else _show(x) for x, gap in zip(self.numbers.tolist(), self.missing, strict=True)]

    def take(self, rows: np.ndarray) -> RawColumn:
        """Return the column with only these rows, selected by a mask."""
        texts = None if self.texts is None else list(itertools.compress(self.texts, rows))
        if self.numbers is None and texts is not None and not rows.all():
            return RawColumn.from_texts(self.name, texts)  # the remaining rows may hold only numbers
        numbers = None if self.numbers is None else self.numbers[rows]
        return RawColumn(self.name, numbers, texts, self.missing[rows])


@dataclass(frozen=True)
class RawTable:
    """A table with a header, as it is in a file.

    Attributes
    ----------
    path : Path
        The file, as messages name it.
    header : list of str
        The names of the columns, each once.
    columns : list of RawColumn
        The columns.
    lines : list of int
        The line of the file that each row begins on, or the row's number if there are no lines.
    notes : list of str
        Notes from reading the table.
    """

    path: Path
    header: list[str]
    columns: list[RawColumn]
    lines: list[int]
    notes: list[str] = field(default_factory=list)

    def take(self, rows: np.ndarray) -> RawTable:
        """Return the table with only these rows, selected by a mask."""
        if rows.all():
            return self
        columns = [column.take(rows) for column in self.columns]
        return RawTable(self.path, self.header, columns, list(itertools.compress(self.lines, rows)), self.notes)


def _parse_numbers(texts: list[str]) -> np.ndarray | None:
    """Return texts as numbers, all at once, which is far faster than one by one; None if any is not finite."""
    try:
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return None
    # Python allows underscores between digits, but they appear in codes.
    return numbers if np.isfinite(numbers).all() and "_" not in "".join(texts) else None


def _show(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


# Large files are read with pandas, but only if the careful reader would read them in the same way: whatever
# could differ is checked first, and such a file, like one with an error, is left to the careful reader, which
# knows the line and the column of everything.

MIN_FAST_BYTES = 1 << 20  # below this, importing pandas takes longer than everything else
HEADER_BYTES = 1 << 20  # a longer header is read carefully
COUNTED_BYTES = 1 << 18  # at once, in the processor's cache
MISSING_SPELLINGS = sorted({form(text) for text in MISSING for form in (str, str.upper, str.title)})
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # absent from text in Latin-1
WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")

ChooseTexts = Callable[[list[str]], Collection[str]]


def read_text_table(path: Path, content: bytes, choose_texts: ChooseTexts | None = None) -> RawTable:
    """Read a table from the bytes of a text file.

    Parameters
    ----------
    path : Path
        The file, for messages.
    content : bytes
        Its content.
    choose_texts : callable or None
        Takes the header; returns the columns whose values are needed as written. None for all.

    Returns
    -------
    RawTable
        All its columns.
    """
    encoded, notes = convert_to_utf8(path, content)
    if len(encoded) >= MIN_FAST_BYTES and choose_texts is not None:
        table = read_fast(path, encoded, choose_texts)
        if table is not None:
            return RawTable(path, table.header, table.columns, table.lines, notes)
    header, lines = parse_rows(path, encoded.decode())
    columns = [RawColumn.from_texts(name, [row[i] for _, row in lines]) for i, name in enumerate(header)]
    return RawTable(path, header, columns, [number for number, _ in lines], notes)


def convert_to_utf8(path: Path, content: bytes) -> tuple[bytes, list[str]]:
    """Return a text in UTF-8 with lines that end in line feeds, and a note if it had another encoding."""
    notes = []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError:
            raise DataError(f"{path} begins like UTF-16 text but is not; save it as UTF-8") from None
        notes.append(f"{path} was read as UTF-16")
    content = content.removeprefix(codecs.BOM_UTF8)
    if not content.isascii() and not _is_utf8(content):
        if CONTROLS.search(content):
            raise DataError(f"{path} is not a UTF-8 text file, nor a table of another kind")
        encoding = "Windows-1252" if WINDOWS_ONLY.search(content) else "Latin-1"
        content = content.decode(encoding, "replace").encode()
        notes.append(f"{path} is not UTF-8 and was read as {encoding}; save it as UTF-8 if letters are wrong")
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content, notes


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_fast(path: Path, content: bytes, choose_texts: ChooseTexts) -> RawTable | None:
    """Read a table with pandas, or return None if only the careful reader is sure to be right.

    Parameters
    ----------
    path : Path
        The file, for messages.
    content : bytes
        Its content, in UTF-8.
    choose_texts : callable
        As in `read_text_table`.
    """
    start, end = content.find(b"\n") + 1, len(content)
    while end > start and content[end - 1] == ord("\n"):
        end -= 1
    # A quoted field may hold anything, and whatever follows a zero byte would be lost.
    is_plain = all(content.find(character, start, end) < 0 for character in (b'"', b"\0"))
    if not is_plain or not 0 < start <= min(HEADER_BYTES, end):
        return None
    first = content[: start - 1].decode()
    separator = find_separator(path, first)
    header = read_first_record(first, separator)
    sep, n_between, first_end = separator.encode(), len(header) - 1, content.find(b"\n", start)
    n_first = content.count(sep, start, end if first_end < 0 else first_end)
    n_ends, n_separators = _count_bytes(content, start, end, b"\n" + sep)
    n_rows = n_ends + 1
    # No row is longer than the first, which pandas refuses, so all have the same length if the sum is right.
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
    """Return the columns of what begins at `start`, those in `texts` as written; None if it is faulty."""
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    options: dict[str, Any] = {
        "sep": separator,
        "header": None,
        "names": list(range(len(header))),
        "quoting": csv.QUOTE_NONE,
        "keep_default_na": False,
        "na_values": MISSING_SPELLINGS,
        # To the nearest number, as in Python; pandas has no other way from 3.1 on.
        **({} if version >= (3, 1) else {"float_precision": "round_trip"}),
    }

    def read(**more: Any) -> Any:
        file = io.BytesIO(content)  # which shares the bytes
        file.seek(start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # about what is read again below
            return pd.read_csv(file, **options, **more)

    try:
        frame = read(dtype=dict.fromkeys(texts, str))
        # Truth values, long integers and mixtures are no longer text, but their text is needed.
        changed = [i for i in frame if i not in texts and not _is_plain(frame[i])]
        again = read(usecols=changed, dtype=str) if changed else frame
    except (ValueError, OverflowError):  # base classes of pandas' own errors
        return None
    columns = []
    for i, name in enumerate(header):
        series = again[i] if i in changed else frame[i]
        if series.dtype.kind in "iuf" and i not in texts:
            column = RawColumn.from_numbers(name, series.to_numpy(np.float64))
            if np.isinf(column.numbers).any():  # type: ignore[arg-type]
                return None
        else:
            codes, values = pd.factorize(series)
            column = RawColumn.from_levels(name, [value.strip() for value in values], codes)
        columns.append(column)
    return columns


def _count_bytes(content: bytes, start: int, end: int, wanted: bytes) -> list[int]:
    """Return how often each byte occurs between two places; far faster than `bytes.count` for frequent ones."""
    values, counts = np.frombuffer(content, np.uint8), [0] * len(wanted)
    for first in range(start, end, COUNTED_BYTES):
        part = values[first : min(first + COUNTED_BYTES, end)]
        counts = [n + int(np.count_nonzero(part == byte)) for n, byte in zip(counts, wanted, strict=True)]
    return counts


def _is_plain(series: Any) -> bool:
    """Return whether a column holds numbers, or the text as in the file."""
    if series.dtype.kind in "iuf":
        return True
    return series.dtype.kind != "b" and all(isinstance(value, str) for value in series.dropna())
