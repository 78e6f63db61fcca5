"""Numba kernels: pure functions of arrays and scalars, in the papers' symbols.

Conventions, for N samples of m features: `X` is N x (m + 1), with a sample per row and the constant x_0 = 1
first; `y` holds N labels, -1.0 or +1.0; `w` is a weight vector of length m + 1 with the bias first; `phi`
holds N sample weights. `Z` and `Y` have rows y_i x_i, so that <w, z_i> is the margin of sample i. Workspace
arrays that are passed to a function belong to the caller; their contents are undefined afterwards.

Nothing here knows about classes, files or configs, and every random number comes from a seed or an array that
the caller provides.
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

# Holds the temporary folder of a parent process whose kernels cannot be kept, so that its workers do not
# compile them again.
CACHE_VARIABLE = "ZOLOSS_KERNEL_CACHE"


def _find_cache_folder() -> str | None:
    """Return the folder for compiled kernels: '' for numba's default, a temporary one, or None for no cache.

    numba refuses to define a cached kernel if neither the package nor the user's cache folder is writable, as
    in another user's installation without a home folder.
    """
    folder = os.environ.get(CACHE_VARIABLE, "")
    if _can_cache(folder):
        return folder
    with contextlib.suppress(OSError):
        folder = tempfile.mkdtemp(prefix="zoloss-kernels-")
        atexit.register(_remove_cache_folder, folder, os.getpid())
        if _can_cache(folder):
            os.environ[CACHE_VARIABLE] = folder
            return folder
    return None


def _remove_cache_folder(folder: str, owner: int) -> None:
    """Remove a temporary folder at the end of the process that made it, but not at the end of its forks."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _can_cache(folder: str) -> bool:
    try:
        _define(_probe, folder)
    except (RuntimeError, OSError):  # numba's "no locator available", or a folder that is gone
        return False
    return True


def _probe() -> None:
    """Stand in for any kernel; this one is never compiled."""


def _define(function: Callable, folder: str | None, **options: Any) -> Any:
    """Return a kernel that is cached in `folder`: '' is numba's default, None keeps it in memory only."""
    numbas_own = numba.config.CACHE_DIR
    if folder:
        numba.config.CACHE_DIR = folder  # for this definition only: other packages keep their own
    try:
        # No kernel is used as a C callback, so that wrapper need not be compiled.
        options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        return njit(cache=folder is not None, **options)(function)
    finally:
        numba.config.CACHE_DIR = numbas_own


class _CompilationListener(event.Listener):
    """Report at the first compilation that it will not be kept; commands that compile nothing stay silent."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        """Write the message to stderr, once."""
        if not self.said:
            self.said = True
            print(  # not a warning: most kernels are compiled in a warm-up, which ignores learners' warnings
                "zoloss: kernels are compiled for this process alone: nothing may be written into "
                f"{__path__[0]} or the home folder; NUMBA_CACHE_DIR names a folder to keep them in",
                file=sys.stderr,
            )

    def on_end(self, event: event.Event) -> None:
        """Do nothing: numba requires this method."""


_INHERITED_FOLDER = os.environ.get(CACHE_VARIABLE)
_CACHE_FOLDER = _find_cache_folder()
KEEPS_KERNELS = _CACHE_FOLDER == ""  # whether the next process finds them compiled
if not KEEPS_KERNELS and _CACHE_FOLDER != _INHERITED_FOLDER:
    event.register("numba:compile", _CompilationListener())


def kernel(function: Callable) -> Any:
    """Define a kernel with fast arithmetic.

    NumPy's division semantics let loops with a division vectorize; reassociation lets sums vectorize. NaN and
    infinity keep their meaning, so that invalid input shows in the output.
    """
    return _define(function, _CACHE_FOLDER, fastmath={"reassoc", "contract", "nsz", "arcp"})


def exact_kernel(function: Callable) -> Any:
    """Define a kernel with arithmetic as written, whose results must equal a NumPy twin to the last bit.

    `fastmath=False` is passed explicitly, since a kernel without the option takes on the arithmetic of the
    kernel that it is compiled for.
    """
    return _define(function, _CACHE_FOLDER, fastmath=False)


# Copied into its caller, whose arithmetic it then follows: for a handful of operations in an inner loop.
inline_kernel = njit(inline="always", error_model="numpy")


def _drop_stale_kernels() -> None:
    """Delete compiled kernels that were built from other sources than the current ones.

    numba checks only the file that a kernel is in, but a compiled kernel contains the kernels that it calls
    from other files: without this, editing one file would leave old code running in another.
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
