"""One reader for users' tables: text, compressed or not, parquet, xlsx, and standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path

from zoloss_cli.datasets.csv_reader import MAX_FILE_BYTES, find_separator, read_content, read_first_record
from zoloss_cli.datasets.raw_table import RawTable
from zoloss_cli.datasets.text_table import ChooseTexts, convert_to_utf8, read_text_table
from zoloss_cli.errors import DataError

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
        from zoloss_cli.datasets.sheet_table import read_parquet

        return read_parquet(name, content)
    if content.startswith(ZIP) or ".xlsx" in name.suffixes:
        from zoloss_cli.datasets.sheet_table import read_workbook

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
