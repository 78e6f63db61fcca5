"""Linear systems inside kernels, solved by LAPACK."""

from __future__ import annotations

import numpy as np
from numba import types

from zoloss_cli.kernels import kernel

# LAPACK's gesv, getrf, getri and potrf, under the names by which numba's own np.linalg.solve, inv and
# cholesky call them. Those take seconds more to compile, for error messages that cannot occur here.
_numbers, _pivots = types.CPointer(types.float64), types.CPointer(types.int32)
_solve = types.ExternalFunction(
    "numba_xgesv",
    types.intc(types.char, types.intp, types.intp, _numbers, types.intp, _pivots, _numbers, types.intp),
)
_factor = types.ExternalFunction(
    "numba_xxgetrf",
    types.intc(types.char, types.intp, types.intp, _numbers, types.intp, _pivots),
)
_invert = types.ExternalFunction(
    "numba_ez_xxgetri", types.intc(types.char, types.intp, _numbers, types.intp, _pivots)
)
_factor_symmetric = types.ExternalFunction(
    "numba_xxpotrf", types.intc(types.char, types.char, types.intp, _numbers, types.intp)
)
DOUBLE = ord("d")
UPPER = ord("U")  # in columns: the lower triangle in rows


@kernel
def is_finite(x):
    """Return whether all components of a vector are finite."""
    finite = True
    for j in range(x.shape[0]):
        finite &= np.isfinite(x[j])
    return finite


@kernel
def solve_in_place(A, b):
    """Overwrite b with the x of A x = b, as np.linalg.solve returns it; raise LinAlgError if none exists."""
    size = b.shape[0]
    columns = np.empty((size, size))
    for j in range(size):
        for i in range(size):
            columns[j, i] = A[i, j]
    if not (is_finite(columns.reshape(size * size)) and is_finite(b)):
        raise np.linalg.LinAlgError("the system holds numbers that are not finite")
    pivots = np.empty(size, np.int32)
    fault = _solve(DOUBLE, size, 1, columns.ctypes, size, pivots.ctypes, b.ctypes, size)
    if fault != 0 or pivots[0] < 0:  # the second is never true: it keeps the arrays alive until here
        raise np.linalg.LinAlgError("the matrix is singular")


@kernel
def invert_in_place(columns):
    """Overwrite the columns of a matrix with those of its inverse; return False if there is none."""
    size = columns.shape[0]
    entries = columns.reshape(size * size)
    if not is_finite(entries):
        return False
    pivots = np.empty(size, np.int32)
    fault = _factor(DOUBLE, size, size, columns.ctypes, size, pivots.ctypes)
    if fault == 0:
        fault = _invert(DOUBLE, size, columns.ctypes, size, pivots.ctypes)
    is_solved = fault == 0 and pivots[0] >= 0  # the second is always true: it keeps the pivots alive
    return is_solved and is_finite(entries)


@kernel
def factor_in_place(A):
    """Overwrite the lower triangle of a symmetric A with its Cholesky factor; return False without one."""
    size = A.shape[0]
    fault = _factor_symmetric(DOUBLE, UPPER, size, A.ctypes, size)
    return fault == 0 and np.isfinite(A[size - 1, size - 1])


@kernel
def solve_by_factor(L, b):
    """Overwrite b with the x of L L' x = b, where L is lower triangular."""
    for i in range(b.shape[0]):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * b[j]
        b[i] = total / L[i, i]
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]
