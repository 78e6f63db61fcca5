"""Columns of the cone search: the scores of all samples in one direction, and who is above whom.

A direction v is a vector of integers M times a power of two. Its column holds the scores s = <x, v> of the
samples, those of the n_left positive class first, then those of the n_right negative class, then the components
of v, which are the scores of unit vectors. All scores of samples are in [-1, 1].

- `scores` (columns x (n + D)), `exponents` E with v = M 2^-E, and `errors`, by how much a score may be off.
  An error of 0 means: exact, and then M and all <x, M> are whole numbers below 2^FRACTION_BITS.
- `above` (columns x (n_left * words)) has for each positive sample a bit for each copy of a negative sample
  that scores no less, and `higher` for those that score more: where scores are off, only what holds whatever
  the error.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

ROUNDING = 2.0**-53  # of numbers up to 1
INDEX_BITS = 14  # of a sort key, below those of the score: so many samples of a class, to the power of two
FRACTION_BITS = 48  # of a score in a sort key
MAX_SAMPLES = 2**INDEX_BITS  # of one class
MAX_INTEGER = 2.0**61
STEPS_PER_EDGE = 16  # an edge is split at one of these steps, or exactly where pairs tie
STEP_BITS = 4
BLOCK = 8  # keys that are sorted by insertion


@exact_kernel
def sort_keys(keys, count, spare):
    """Sort keys[:count] in place, upward, by merging; `spare` is as long."""
    for first in range(0, count, BLOCK):
        for at in range(first + 1, min(first + BLOCK, count)):
            key, to = keys[at], at
            while to > first and keys[to - 1] > key:
                keys[to] = keys[to - 1]
                to -= 1
            keys[to] = key
    width = BLOCK
    while width < count:
        for first in range(0, count - width, 2 * width):
            middle, end = first + width, min(first + 2 * width, count)
            if keys[middle - 1] <= keys[middle]:
                continue
            for x in range(first, middle):
                spare[x] = keys[x]
            left, right, to = first, middle, first
            while left < middle:
                if right < end and keys[right] < spare[left]:
                    keys[to] = keys[right]
                    right += 1
                else:
                    keys[to] = spare[left]
                    left += 1
                to += 1
        width *= 2


@exact_kernel
def fill_keys(scores, first, count, keys, spare):
    """Set keys[:count] to the scores from `first` on with their index, sorted upward."""
    scale = 2.0**FRACTION_BITS
    for x in range(count):
        keys[x] = (np.int64(np.floor(scores[first + x] * scale)) << INDEX_BITS) + x
    sort_keys(keys, count, spare)


@exact_kernel
def compare_classes(scores, error, sizes, right_start, above, higher, room):
    """Set the bits of a column, and return the least loss of a threshold on it.

    `sizes` is (n_left, n_right, words, ...); `right_start` has the first copy of each negative sample, and the
    number of copies at the end. `left_weight` of `room` has the copies of each positive sample.
    """
    n_left, n_right, words, _ = sizes
    left_keys, right_keys, spare, run, strict, left_weight = room
    fill_keys(scores, 0, n_left, left_keys, spare)
    fill_keys(scores, n_left, n_right, right_keys, spare)
    gap = np.int64(np.ceil(2.0 * error * 2.0**FRACTION_BITS)) + (2 if error > 0.0 else 0)
    strict_gap = max(gap, 1)
    for w in range(words):
        run[w] = np.uint64(0)
        strict[w] = np.uint64(0)
    below = np.int64(0)
    for i in range(n_left):
        below += left_weight[i]
    least, copies = below, np.int64(0)
    at, strict_at = n_right - 1, n_right - 1
    for x in range(n_left - 1, -1, -1):
        i, score = left_keys[x] & (MAX_SAMPLES - 1), left_keys[x] >> INDEX_BITS
        while at >= 0 and (right_keys[at] >> INDEX_BITS) - score >= gap:
            j = right_keys[at] & (MAX_SAMPLES - 1)
            for r in range(right_start[j], right_start[j + 1]):
                run[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
            copies += right_start[j + 1] - right_start[j]
            at -= 1
        while strict_at >= 0 and (right_keys[strict_at] >> INDEX_BITS) - score >= strict_gap:
            j = right_keys[strict_at] & (MAX_SAMPLES - 1)
            for r in range(right_start[j], right_start[j + 1]):
                strict[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
            strict_at -= 1
        for w in range(words):
            above[i * words + w] = run[w]
            higher[i * words + w] = strict[w]
        below -= left_weight[i]
        least = min(least, copies + below)
    return least


@exact_kernel
def find_common_divisor(a, b):
    """Return the greatest common divisor of two integers."""
    a, b = abs(a), abs(b)
    while b != 0:
        a, b = b, a % b
    return a


@exact_kernel
def mix_exactly(scores, exponents, a, b, p, q, new, n, whole):
    """Set column `new` to the direction (p A + q B) / g in integers; return g, or 0 if that is too large.

    A and B are the integers of columns a and b, both exact, and g the divisor that the components share.
    `whole` is room for the scores.
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
    for x in range(size):
        whole[x] //= divisor
        largest = max(largest, abs(whole[x]))
    if largest >= np.int64(1) << FRACTION_BITS:
        return np.int64(0)
    largest = np.int64(1)
    for x in range(n):
        largest = max(largest, abs(whole[x]))
    exponent = np.int64(0)
    while np.int64(1) << exponent < largest:
        exponent += 1
    for x in range(size):
        scores[new, x] = whole[x] * 2.0**-exponent
    exponents[new] = exponent
    return divisor


@exact_kernel
def mix_roughly(scores, exponents, errors, a, b, k, new):
    """Set column `new` to (1 - t) a + t b with t = k / 16, in floating point, and its error."""
    t = k / STEPS_PER_EDGE
    for x in range(scores.shape[1]):
        scores[new, x] = (1.0 - t) * scores[a, x] + t * scores[b, x]
    exponents[new] = max(exponents[a], exponents[b]) + STEP_BITS
    errors[new] = (1.0 - t) * errors[a] + t * errors[b] + 4.0 * ROUNDING
