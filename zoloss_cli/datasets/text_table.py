"""Tables in text files: commas, semicolons or tabs; UTF-8, UTF-16 or Latin-1.

Large files are read with pandas, but only if the careful reader would read them in the same way: whatever could
differ is checked first, and such a file, like one with an error, is left to the careful reader, which knows the
line and the column of everything.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.datasets.csv_reader import (
    MISSING,
    check_header,
    find_separator,
    parse_rows,
    read_first_record,
)
from zoloss_cli.datasets.raw_table import RawColumn, RawTable
from zoloss_cli.errors import DataError

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
