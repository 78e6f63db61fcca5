"""Files that another machine sent to this process: read from memory, and identified by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from zoloss_cli.errors import DataError

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
