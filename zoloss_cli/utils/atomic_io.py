"""Write files completely or not at all, and never over another one unless requested."""

from __future__ import annotations

import os
from pathlib import Path

from zoloss_cli.errors import OutputError

FORCE = "--force overwrites it"
ANOTHER_NAME = "nothing is overwritten: choose another name, or remove it first"


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, completely or not at all; see :func:`write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a temporary file next to `path` and rename it: readers see the old or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # before the old file is gone: a power failure leaves one of the two
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path, force: bool, inputs: list[Path], remedy: str = FORCE) -> None:
    """Raise OutputError for a path that cannot or must not be written, before computing anything.

    Parameters
    ----------
    path : Path
        The file to write.
    force : bool
        Whether an existing file may be overwritten.
    inputs : list of Path
        The input files, which must not be overwritten.
    remedy : str
        What to do about an existing file.
    """
    try:
        exists = path.exists()
        if exists and any(other.exists() and path.samefile(other) for other in inputs):
            raise OutputError(f"{path} is also an input; write to another file")
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file in it")
        if exists and not path.is_file():
            raise OutputError(f"{path} is not a regular file")
        if exists and not force:
            raise OutputError(f"{path} exists; {remedy}")
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise OutputError(f"cannot write {path}: the folder {path.parent} is not writable")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def write(path: Path, content: str | bytes, force: bool, inputs: list[Path]) -> None:
    """Write a file at once, after the checks of `check_target`; problems are raised as OutputError."""
    check_target(path, force, inputs)
    try:
        write_bytes(path, content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def check_new_files(paths: list[Path], inputs: list[Path]) -> None:
    """Raise OutputError if one of the files exists, or if two have the same name."""
    for i, path in enumerate(paths):
        check_target(path, False, inputs, ANOTHER_NAME)
        if path.resolve() in [other.resolve() for other in paths[:i]]:
            raise OutputError(f"{path} is named for two files; give one of them another name")


def write_new_files(contents: dict[Path, bytes], inputs: list[Path]) -> None:
    """Write several new files, all of them or none."""
    check_new_files(list(contents), inputs)
    written: list[Path] = []
    try:
        for path, content in contents.items():
            _write_new_file(path, content)
            written.append(path)
    except BaseException:  # including Ctrl-C: one file without the other would be misleading
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _write_new_file(path: Path, content: bytes) -> None:
    """Write one new file; a link, unlike renaming, never replaces a file that has appeared meanwhile."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise OutputError(f"{path} exists; {ANOTHER_NAME}") from None
        except OSError:  # some file systems have no links
            check_target(path, False, [], ANOTHER_NAME)
            os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)
