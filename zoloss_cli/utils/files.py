"""Read files that users name: only regular ones, and only up to a maximum size."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

CHUNK_BYTES = 1 << 20
# Do not wait for somebody to write into a pipe.
AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class FileError(Exception):
    """Why a file cannot be read; the message follows its name in a sentence."""


class FileMissingError(FileError):
    """There is no such file."""


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int
        The maximum size.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    FileError
        If it is a folder, a pipe or a device, too large, or unreadable: a pipe is never waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | AT_ONCE)
        try:
            size = _check_kind(os.fstat(descriptor), max_bytes)  # of the opened file, not of what is there now
            content = _read_all(descriptor, size, max_bytes)
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        raise FileMissingError(f"cannot be read: {error.strerror}") from None
    except (OSError, ValueError) as error:  # ValueError: a path that holds a zero byte
        raise FileError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > max_bytes:  # it has grown, or is a system file without a size
        raise FileError(f"is too large: at most {max_bytes:,} bytes are read")
    return content


def _read_all(descriptor: int, size: int, max_bytes: int) -> bytes:
    """Return all bytes, or one more than allowed; a file of its declared size is read in one step."""
    content = os.read(descriptor, size + 1)
    if len(content) == size and size:
        return content
    parts, length = [content], len(content)
    while parts[-1] and length <= max_bytes:
        parts.append(os.read(descriptor, min(CHUNK_BYTES, max_bytes + 1 - length)))
        length += len(parts[-1])
    return b"".join(parts)


def _check_kind(status: os.stat_result, max_bytes: int) -> int:
    """Return the size of a regular file that is not too large."""
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"cannot be read: {os.strerror(errno.EISDIR)}")
    if not stat.S_ISREG(status.st_mode):
        raise FileError("is not a regular file")
    if status.st_size > max_bytes:
        raise FileError(f"is too large: {status.st_size:,} bytes, where at most {max_bytes:,} are read")
    return status.st_size
