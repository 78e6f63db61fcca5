"""Which samples are above which in a column of the cone search: the bits of pairs, and the best threshold.

Nothing is sorted. Scores are integers whose leading 16 bits decide nearly every pair, and a register holds
those of many samples. If they are equal, the next bits decide.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.bits import count_bits, find_above, find_equal
from zoloss_cli.kernels.cone_columns import FRACTION_BITS

INDEX_BITS = 14  # of a sort key, below those of the number to sort by
MAX_SAMPLES = 2**INDEX_BITS  # of one class
BLOCK = 8  # number of keys that are sorted by insertion
DIGITS = 4  # of a score above the lowest one, which has fewer than 64 bits
DIGIT_BITS = 16


@exact_kernel
def sort_keys(keys, count, spare):
    """Sort keys[:count] in place in ascending order, by merging; `spare` is workspace of the same length."""
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
def set_digits(whole, first, base, shift, right_of, digits):
    """Set digits[d, r] to the d-th 16 bits of how far the score of the r-th copy is above `base`.

    whole[first:] holds the scores of the negative samples. Differences are shifted to the left, so that the
    largest one begins with its leading bit.
    """
    for r in range(right_of.shape[0]):
        number = np.uint64(whole[first + right_of[r]] - base) << shift
        digits[0, r] = np.uint16(number >> np.uint64(48))
        digits[1, r] = np.uint16(number >> np.uint64(32))
        digits[2, r] = np.uint16(number >> np.uint64(16))
        digits[3, r] = np.uint16(number)


@exact_kernel
def compare_all_digits(digits, number, first, words, above, higher):
    """Correct the bits of a sample for copies with an equal first digit, for which the next digits decide."""
    for w in range(words):
        equal = find_equal(digits, w << 6, np.uint16(number >> np.uint64((DIGITS - 1) * DIGIT_BITS)))
        if equal == np.uint64(0):
            continue
        more = above[first + w]
        for d in range(1, DIGITS):
            digit = np.uint16(number >> np.uint64((DIGITS - 1 - d) * DIGIT_BITS))
            offset = d * digits.shape[1] + (w << 6)
            more |= equal & find_above(digits, offset, digit)
            equal &= find_equal(digits, offset, digit)
            if equal == np.uint64(0):
                break
        above[first + w] = more | equal
        higher[first + w] = more


@exact_kernel
def find_least_loss(counts, n_copies):
    """Return the least loss of a threshold; counts[r] left copies have r right copies above them."""
    below = np.int64(0)
    for rivals in range(n_copies + 1):
        below += counts[rivals]
    least = below
    for rivals in range(n_copies + 1):
        if counts[rivals] > 0:
            below -= counts[rivals]
            least = min(least, rivals + below)
    return least


@exact_kernel
def compare_classes(scores, error, sizes, right_of, above, higher, room):
    """Set the bits of a column, and return the least loss of a threshold on it.

    `sizes` is (n_left, n_right, words, ties); `right_of` holds the negative sample of each copy.
    `left_weight` in `room` holds the number of copies of each positive sample.
    """
    n_left, n_right, words, _ = sizes
    whole, digits, counts, left_weight = room
    scale = 2.0**FRACTION_BITS
    for x in range(n_left + n_right):
        whole[x] = np.int64(np.floor(scores[x] * scale))
    gap = np.int64(np.ceil(2.0 * error * scale)) + (2 if error > 0.0 else 0)
    base, highest = whole[0], whole[0]
    for x in range(n_left + n_right):
        base, highest = min(base, whole[x]), max(highest, whole[x])
    base -= 1  # so that all numbers are above 0, the value of bits without a copy
    shift = np.uint64(0)
    while np.uint64(highest + gap - base) >> (np.uint64(63) - shift) == np.uint64(0):
        shift += np.uint64(1)
    n_copies = right_of.shape[0]
    set_digits(whole, n_left, base, shift, right_of, digits)
    for rivals in range(n_copies + 1):
        counts[rivals] = 0
    for i in range(n_left):
        number, first = np.uint64(whole[i] + gap - base) << shift, i * words
        digit = np.uint16(number >> np.uint64((DIGITS - 1) * DIGIT_BITS))
        any_equal = np.uint64(0)
        for w in range(words):
            more = find_above(digits, w << 6, digit)
            any_equal |= find_equal(digits, w << 6, digit)
            above[first + w] = more
            higher[first + w] = more
        if any_equal != np.uint64(0):
            compare_all_digits(digits, number, first, words, above, higher)
        rivals = np.int64(0)
        for w in range(words):
            if gap > 0:  # a copy above by the gap is higher, whatever the error
                higher[first + w] = above[first + w]
            rivals += count_bits(above[first + w])
        counts[rivals] += left_weight[i]
    return find_least_loss(counts, n_copies)
