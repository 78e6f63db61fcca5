"""Kernels compiled once a host: the first worker compiles, and leaves a marker while it lives."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from zoloss_cli.kernels import KEEPS_KERNELS

LOCK = "warm-up.lock"


@contextlib.contextmanager
def take_turn_on_host(name: str) -> Iterator[bool]:
    """Yield whether this process is to compile kernels; the others of a host wait until the first one has.

    Parameters
    ----------
    name : str
        What is compiled for.
    """
    folder = open_host_folder()
    if folder is None or not KEEPS_KERNELS:
        yield True  # each for itself
        return
    from filelock import FileLock

    marker = folder / name
    with FileLock(folder / LOCK):
        sweep_markers(folder)  # nobody is writing one just now
        if not marker.exists():
            yield True
            marker.write_text(str(os.getpid()), encoding="ascii")
            return
    yield False


def leave_host(name: str = "") -> None:
    """Remove the marker of what has ended, and those of workers that were killed."""
    folder = name_host_folder()
    if not _is_safe(folder):
        return
    if name:
        (folder / name).unlink(missing_ok=True)
    from filelock import FileLock, Timeout

    with contextlib.suppress(OSError, Timeout), FileLock(folder / LOCK, timeout=0):
        sweep_markers(folder)  # unless somebody takes a turn, and does


def sweep_markers(folder: Path) -> None:
    """Remove the markers of processes that are gone: whoever comes next compiles, or finds, kernels itself."""
    with contextlib.suppress(OSError):
        for marker in folder.iterdir():
            if marker.name != LOCK and not _is_alive(marker):
                marker.unlink(missing_ok=True)


def _is_alive(marker: Path) -> bool:
    """Return whether the process that wrote a marker lives."""
    try:
        os.kill(int(marker.read_text(encoding="ascii")), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def open_host_folder() -> Path | None:
    """Return a folder that all workers of this user on this host share, and nobody else can write to."""
    folder = name_host_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder if _is_safe(folder) else None


def name_host_folder() -> Path:
    """Return the path of that folder."""
    return Path(tempfile.gettempdir()) / f"zoloss-{os.getuid()}"


def _is_safe(folder: Path) -> bool:
    try:
        return folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    except OSError:
        return False
