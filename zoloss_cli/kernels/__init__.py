"""Numba kernels: pure functions of arrays and scalars, in the papers' symbols.

Conventions, for N samples of m features: `X` is N x (m + 1), a sample a row with the constant x_0 = 1 first;
`y` holds N labels, -1.0 or +1.0; `w` is a weight vector of length m + 1 with the bias first; `phi` holds N
sample weights. `Z` and `Y` are rows y_i x_i, so that <w, z_i> is the margin of sample i. Where a function
has room for intermediate values handed in, the caller owns it and its contents mean nothing afterwards.

Nothing here knows of classes, files or configs, and every random number comes from a seed or an array that the
caller hands in.
"""

import contextlib
import hashlib
from pathlib import Path

from numba import njit

# numpy's division semantics let loops with a division vectorize; reassociation lets sums vectorize.
# NaN and infinity keep their meaning, so a kernel fed with bad numbers shows it.
kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
# Exact arithmetic as written: for the parts whose results must equal a NumPy twin to the last bit.
exact_kernel = njit(cache=True, nogil=True, error_model="numpy")
# Copied into its caller, whose arithmetic it then follows: for a handful of operations in an innermost loop.
inline_kernel = njit(inline="always", error_model="numpy")


def _drop_stale_kernels() -> None:
    """Delete compiled kernels that were built from other sources than these.

    numba checks only the file that a kernel stands in, but a compiled kernel contains the kernels of
    other files that it calls: without this, editing one file would leave old code running in another.
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
