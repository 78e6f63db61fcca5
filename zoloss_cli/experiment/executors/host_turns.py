"""Compile kernels once per host: the first worker compiles, and leaves a marker while it lives."""

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
    """Yield whether this process should compile kernels; the others on a host wait for the first.

    Parameters
    ----------
    name : str
        The name of what is compiled for.
    """
    folder = open_host_folder()
    if folder is None or not KEEPS_KERNELS:
        yield True  # each process compiles for itself
        return
    from filelock import FileLock

    marker = folder / name
    with FileLock(folder / LOCK):
        sweep_markers(folder)  # nobody is writing one at the moment
        if not marker.exists():
            yield True
            marker.write_text(str(os.getpid()), encoding="ascii")
            return
    yield False


def leave_host(name: str = "") -> None:
    """Remove the marker of what has ended, and those of killed workers."""
    folder = name_host_folder()
    if not _is_safe(folder):
        return
    if name:
        (folder / name).unlink(missing_ok=True)
    from filelock import FileLock, Timeout

    with contextlib.suppress(OSError, Timeout), FileLock(folder / LOCK, timeout=0):
        sweep_markers(folder)  # unless another process is taking its turn, and does so


def sweep_markers(folder: Path) -> None:
    """Remove the markers of dead processes: the next one compiles or finds kernels itself."""
    with contextlib.suppress(OSError):
        for marker in folder.iterdir():
            if marker.name != LOCK and not _is_alive(marker):
                marker.unlink(missing_ok=True)


def _is_alive(marker: Path) -> bool:
    """Return whether the process that wrote a marker is alive."""
    try:
        os.kill(int(marker.read_text(encoding="ascii")), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def open_host_folder() -> Path | None:
    """Return a folder shared by all workers of this user on this host, to which nobody else can write."""
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
