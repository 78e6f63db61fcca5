"""Compilation of kernels: floating-point semantics, and the cache of compiled code.

numba takes seconds to compile a kernel, so compiled kernels are cached: next to the package, in the user's
cache folder, or, if neither is writable, in a temporary folder that worker processes share.
"""

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event

# Environment variable with the temporary cache of the parent process, which worker processes reuse.
CACHE_VARIABLE = "ZOLOSS_KERNEL_CACHE"


def _find_cache_folder() -> str | None:
    """Return the folder for compiled kernels: '' for numba's default, a temporary one, or None for no cache."""
    folder = os.environ.get(CACHE_VARIABLE, "")
    if _can_cache(folder):
        return folder
    with contextlib.suppress(OSError):
        folder, owner = tempfile.mkdtemp(prefix="zoloss-kernels-"), os.getpid()
        # Only the process that created the folder deletes it at exit, not its forks.
        atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
        if _can_cache(folder):
            os.environ[CACHE_VARIABLE] = folder
            return folder
    return None


def _can_cache(folder: str) -> bool:
    try:
        _define(_can_cache, folder)  # a placeholder for any kernel, never compiled
    except (RuntimeError, OSError):  # no folder is writable ("no locator available"), or it is gone
        return False
    return True


def _define(function: Callable, folder: str | None, **options: Any) -> Any:
    """Return a kernel that is cached in `folder`: '' is numba's default, None keeps it in memory only."""
    default_folder = numba.config.CACHE_DIR
    if folder:
        numba.config.CACHE_DIR = folder  # for this definition only: other packages keep their own
    try:
        # Divisions by 0 as in NumPy, so that loops with a division vectorize. No kernel is a C callback.
        options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        return njit(cache=folder is not None, **options)(function)
    finally:
        numba.config.CACHE_DIR = default_folder


class _CompilationListener(event.Listener):
    """Report at the first compilation that it will not be cached; commands that compile nothing stay silent."""

    has_reported = False

    def on_start(self, event: event.Event) -> None:
        """Write the message to stderr, once."""
        if not self.has_reported:
            self.has_reported = True
            message = (
                "zoloss: compiled kernels are not cached beyond this process and its workers: neither "
                f"{Path(__file__).parent} nor the home folder is writable; set NUMBA_CACHE_DIR to one that is"
            )
            print(message, file=sys.stderr)  # a warning would be ignored in the warm-up of learners

    def on_end(self, event: event.Event) -> None:
        """Do nothing: numba requires this method."""


_INHERITED_FOLDER = os.environ.get(CACHE_VARIABLE)
_CACHE_FOLDER = _find_cache_folder()
KEEPS_KERNELS = _CACHE_FOLDER == ""  # whether the next process finds them compiled
if not KEEPS_KERNELS and _CACHE_FOLDER != _INHERITED_FOLDER:
    event.register("numba:compile", _CompilationListener())


def kernel(function: Callable) -> Any:
    """Define a kernel with fast-math arithmetic: sums may be reassociated, so that they vectorize.

    NaN and infinity propagate, so that invalid input is visible in the output.
    """
    return _define(function, _CACHE_FOLDER, fastmath={"reassoc", "contract", "nsz", "arcp"})


def exact_kernel(function: Callable) -> Any:
    """Define a kernel without fast-math, whose results equal those of a NumPy twin bit for bit."""
    # Without the option, a kernel inherits the fast-math flags of the caller that it is compiled for.
    return _define(function, _CACHE_FOLDER, fastmath=False)


# Inlined into its caller, whose arithmetic it then follows: for a handful of operations in an inner loop.
inline_kernel = njit(inline="always", error_model="numpy")


def _drop_stale_kernels() -> None:
    """Delete stale kernels: those compiled from other sources than the current ones.

    numba checks only the file of a kernel, but its compiled code contains kernels from other files.
    """
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    stamp = folder / "__pycache__" / "kernel_sources.sha256"
    with contextlib.suppress(OSError):  # a read-only installation is never edited
        if stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return
        for compiled in stamp.parent.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest.hexdigest())


_drop_stale_kernels()
