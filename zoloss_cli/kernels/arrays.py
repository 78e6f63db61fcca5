"""Small operations on arrays, written as plain loops.

numba compiles ``a[:] = b`` with the error message for mismatched shapes, which adds two seconds to each first
fit.
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
    """Return the largest component of x, which has no negative ones."""
    largest = 0.0
    for j in range(x.shape[0]):
        largest = max(largest, x[j])
    return largest


@inline_kernel
def compute_squared_norm(x):
    """Return the sum of the squares of x; np.dot is a call to BLAS, which takes longer for a short x."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total
