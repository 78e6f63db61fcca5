"""Small steps on arrays as plain loops.

numba compiles ``a[:] = b`` with the message of a mismatch of shapes, which takes it two seconds of each first fit.
"""

from __future__ import annotations

from zoloss_cli.kernels import inline_kernel


@inline_kernel
def copy_vector(source, target):
    """Set target[:] = source."""
    for j in range(target.shape[0]):
        target[j] = source[j]
