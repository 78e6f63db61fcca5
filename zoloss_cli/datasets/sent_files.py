"""Files that another machine sent to this process: read from memory, and named by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from zoloss_cli.errors import DataError

SENT = "sent:"  # what the path of such a file begins with


class SentFile(NamedTuple):
    """A file to send, or that was sent.

    Attributes
    ----------
    path : str
        By which it is read: its sha256, and the name that it has where it comes from.
    content : bytes
        What it holds.
    dataset : str
        The data set from UCI that it is; empty for a table of your own.
    """

    path: str
    content: bytes
    dataset: str = ""


_contents: dict[str, bytes] = {}  # by path
_fetched: dict[str, str] = {}  # path by data set


def name_sent_file(path: Path, sha256: str) -> str:
    """Return the path of a file where it is sent: no other content has it."""
    return f"{SENT}/{sha256}/{path.name}"


def receive_file(file: SentFile) -> None:
    """Let this process read a file that was sent.

    Raises
    ------
    DataError
        If it is not what its path says, or another version of a data set from UCI than was sent before.
    """
    if file.path != name_sent_file(Path(file.path), hashlib.sha256(file.content).hexdigest()):
        raise DataError(f"{Path(file.path).name} is damaged: it is not the file that was to be sent")
    if file.dataset and _fetched.setdefault(file.dataset, file.path) != file.path:
        raise DataError(
            f"another run on this worker uses another version of '{file.dataset}' from UCI; restart the worker"
        )
    _contents[file.path] = file.content


def is_sent(path: Path) -> bool:
    """Return whether a path is that of a file that was, or was to be, sent."""
    return str(path).startswith(SENT)


def read_sent_file(path: Path) -> bytes:
    """Return the content of a file that was sent."""
    try:
        return _contents[str(path)]
    except KeyError:
        raise DataError(f"there is no file {path}: it was not sent to this machine") from None


def find_sent_table(dataset: str) -> Path | None:
    """Return the path of a data set from UCI that was sent; None if it was not."""
    return Path(_fetched[dataset]) if dataset in _fetched else None
