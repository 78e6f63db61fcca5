"""Small operations on arrays as plain loops.

numba compiles ``a[:] = b`` with the message for mismatched shapes, which takes two seconds of each first fit.
"""

from __future__ import annotations

from zoloss_cli.kernels import exact_kernel, inline_kernel


@inline_kernel
def copy_vector(source, target):
    """Set target[:] = source."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@exact_kernel
def compute_max_abs(w):
    """Return the largest absolute component of w."""
    largest = 0.0
    for j in range(w.shape[0]):
        largest = max(largest, abs(w[j]))
    return largest


@exact_kernel
def find_largest(x):
    """Return the largest component of x, none of which is negative."""
    largest = 0.0
    for j in range(x.shape[0]):
        largest = max(largest, x[j])
    return largest


@inline_kernel
def compute_squared_norm(x):
    """Return the sum of the squares of x: np.dot is a call of BLAS, which takes longer for a short x."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total
