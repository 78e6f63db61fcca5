"""Numba kernels: pure functions of arrays and scalars, in the papers' symbols.

Conventions: `X` holds one example a row with the constant x_0 = 1 first, `y` is -1.0 or +1.0, `w` is a
weight vector with the bias first. Nothing here knows of classes, files or configs, and every random
number comes from a seed or an array that the caller hands in.
"""

from numba import njit

# numpy's division semantics let loops with a division vectorize; reassociation lets sums vectorize.
# NaN and infinity keep their meaning, so a kernel fed with bad numbers shows it.
KERNEL = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}

kernel = njit(**KERNEL)
# Exact arithmetic as written: for the parts whose results must equal a NumPy twin to the last bit.
exact_kernel = njit(cache=True, nogil=True, error_model="numpy")
inline_kernel = njit(inline="always", error_model="numpy")
