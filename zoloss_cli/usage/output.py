"""Files that a command writes: whole or not at all, and none in the place of another unless asked."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.errors import OutputError
from zoloss_cli.experiment.store import write_bytes


def check_target(path: Path, force: bool, inputs: list[Path]) -> None:
    """Refuse a path that cannot or must not be written, before anything is computed."""
    try:
        exists = path.exists()
        if exists and any(other.exists() and path.samefile(other) for other in inputs):
            raise OutputError(f"{path} is also what is read; write to another file")
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file in it")
        if exists and not path.is_file():
            raise OutputError(f"{path} is not a regular file")
        if exists and not force:
            raise OutputError(f"{path} exists; --force overwrites it")
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def write(path: Path, content: str | bytes, force: bool, inputs: list[Path]) -> None:
    """Write the file at once; whatever has appeared in its place since the first check stays."""
    check_target(path, force, inputs)
    try:
        write_bytes(path, content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
