"""Safe reads, atomic writes, and the files that come with zoloss."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from zoloss_cli.errors import OutputError

CHUNK_BYTES = 1 << 20
# Opening must not block on a pipe without a writer.
NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class FileError(Exception):
    """Why a file cannot be read; the message follows its name in a sentence."""


class FileMissingError(FileError):
    """There is no such file."""


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file; raise FileError if it is not a regular one, too large, or unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | NONBLOCKING)
        try:
            size = _check_kind(os.fstat(descriptor), max_bytes)  # of the opened file, to avoid a race condition
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


FORCE = "--force overwrites it"
ANOTHER_NAME = "nothing is overwritten: choose another name, or remove it first"


def write_bytes(path: Path, content: bytes) -> None:
    """Write atomically: to a temporary file next to `path`, which is renamed when it is complete."""
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

    An existing file is overwritten only with `force`, and one of the `inputs` never.
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
    """Write a file atomically, after the checks of `check_target`; raise OutputError on failure."""
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
        except OSError:  # some file systems have no hard links
            check_target(path, False, [], ANOTHER_NAME)
            os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
PUBLISHED_FOLDER = PACKAGE_FOLDER / "report" / "published"


def shipped_folder(name: str) -> Path:
    """Return the folder `datasets` or `configs`: inside an installed wheel, or at the top of a checkout."""
    in_wheel = PACKAGE_FOLDER / "shipped" / name
    return in_wheel if in_wheel.is_dir() else PACKAGE_FOLDER.parent / name


def list_embedded_datasets() -> list[str]:
    """Return the names of the data sets that come with zoloss, in order, without reading them."""
    return sorted(path.stem for path in shipped_folder("datasets").glob("*.csv"))


def find_shipped_config(path: Path) -> Path | None:
    """Return the config that comes with zoloss for a path such as configs/table2.yaml or table2."""
    parts = path.parts[1:] if path.parts[:1] == ("configs",) else path.parts
    if path.is_absolute() or not parts or ".." in parts:
        return None
    ours = shipped_folder("configs").joinpath(*parts)
    named = ours.with_name(f"{ours.name}.yaml")
    return ours if ours.is_file() else named if named.is_file() else None


def list_shipped_configs() -> list[str]:
    """Return the short names of the configs that come with zoloss, such as table2 and thesis/table3.1."""
    folder = shipped_folder("configs")
    return sorted(path.relative_to(folder).as_posix()[: -len(".yaml")] for path in folder.rglob("*.yaml"))
