"""Read files that users name: regular ones only, and not without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class FileError(Exception):
    """Why a file cannot be read; what follows its name in a sentence."""


class FileMissingError(FileError):
    """There is no such file."""


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int
        The most that it may hold.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    FileError
        If it is a folder, a pipe or a device, too large, or may not be read: a pipe is never waited for.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            _check_kind(os.fstat(file.fileno()), max_bytes)  # of what was opened, not of what is there now
            content = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise FileMissingError(f"cannot be read: {error.strerror}") from None
    except (OSError, ValueError) as error:  # ValueError: a path that holds a zero byte
        raise FileError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > max_bytes:  # it has grown, or it is one of the system's own, which have no size
        raise FileError(f"is too large: at most {max_bytes:,} bytes are read")
    return content


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for somebody to write into it, as a pipe would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_kind(status: os.stat_result, max_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise FileError("is not a regular file")
    if status.st_size > max_bytes:
        raise FileError(f"is too large: {status.st_size:,} bytes, where at most {max_bytes:,} are read")
