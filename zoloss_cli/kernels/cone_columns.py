"""Columns of the cone search: the scores of all samples in one direction, and which are above which.

A direction v is a vector of integers M times a power of two. Its column holds the scores s = <x, v> of the
n_left positive samples, then those of the n_right negative samples, then the components of v, which are the
scores of unit vectors. All scores of samples are in [-1, 1].

- `scores` (columns x (n + D)), `exponents` E with v = M 2^-E, and `errors`, by how much a score may be off.
  An error of 0 means that the column is exact: M and all <x, M> are integers below 2^FRACTION_BITS.
- `above` (columns x (n_left * words)) has, for each positive sample, a bit for each copy of a negative sample
  that scores no less; `higher` has one for each copy that scores more. If scores may be off, only those bits
  are set that hold whatever the error.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

ROUNDING = 2.0**-53  # error of numbers up to 1
FRACTION_BITS = 48  # of a score
MAX_INTEGER = 2.0**61
STEPS_PER_EDGE = 16  # an edge is split at one of these steps, or exactly where pairs tie
STEP_BITS = 4


@exact_kernel
def find_common_divisor(a, b):
    """Return the greatest common divisor of two integers."""
    a, b = abs(a), abs(b)
    while b != 0:
        a, b = b, a % b
    return a


@exact_kernel
def mix_exactly(scores, exponents, a, b, p, q, new, n, whole):
    """Set column `new` to the direction (p A + q B) / g in integers; return g, or 0 if they are too large.

    A and B are the integers of columns a and b, both exact, and g is the greatest common divisor of the
    components. `whole` is workspace for the scores.
    """
    size = scores.shape[1]
    scale_a, scale_b = 2.0 ** exponents[a], 2.0 ** exponents[b]
    for x in range(size):
        if p * abs(scores[a, x] * scale_a) + q * abs(scores[b, x] * scale_b) >= MAX_INTEGER:
            return np.int64(0)
    for x in range(size):
        whole[x] = p * np.int64(scores[a, x] * scale_a) + q * np.int64(scores[b, x] * scale_b)
    divisor, largest = np.int64(0), np.int64(0)
    for x in range(n, size):
        divisor = find_common_divisor(whole[x], divisor)
    if divisor != 1:
        for x in range(size):
            whole[x] //= divisor
    for x in range(size):
        largest = max(largest, abs(whole[x]))
    if largest >= np.int64(1) << FRACTION_BITS:
        return np.int64(0)
    largest = np.int64(1)
    for x in range(n):
        largest = max(largest, abs(whole[x]))
    exponent = np.int64(0)
    while np.int64(1) << exponent < largest:
        exponent += 1
    unit = 2.0**-exponent
    for x in range(size):
        scores[new, x] = whole[x] * unit
    exponents[new] = exponent
    return divisor


@exact_kernel
def mix_roughly(scores, exponents, errors, a, b, k, new):
    """Set column `new` to (1 - t) a + t b with t = k / 16, in floating point, and set its error."""
    t = k / STEPS_PER_EDGE
    for x in range(scores.shape[1]):
        scores[new, x] = (1.0 - t) * scores[a, x] + t * scores[b, x]
    exponents[new] = max(exponents[a], exponents[b]) + STEP_BITS
    errors[new] = (1.0 - t) * errors[a] + t * errors[b] + 4.0 * ROUNDING
