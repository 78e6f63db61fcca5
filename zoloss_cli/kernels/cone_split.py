"""Columns of the cone search: the scores of all samples in one direction, and which are above which.

A direction v is a vector of integers M times a power of two. Its column holds the scores s = <x, v> of the
n_left positive samples, then those of the n_right negative samples, then the components of v, which are the
scores of unit vectors. All scores of samples are in [-1, 1].

- `scores` (columns x (n + D)), `exponents` E with v = M 2^-E, and `errors`, by how much a score may be off.
  An error of 0 means that the column is exact: M and all <x, M> are integers below 2^FRACTION_BITS.
- `above` (columns x (n_left * words)) has, for each positive sample, a bit for each copy of a negative sample
  that scores no less; `higher` has one for each copy that scores more. If scores may be off, only those bits
  are set that hold for any such error.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.line_search import sort_breakpoints
from zoloss_cli.kernels.numeric import count_bits, find_above, find_equal, find_lowest_bit

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


# Comparing all pairs takes less time than sorting: the leading 16 bits of scores decide nearly every pair, and
# a register holds those of many samples. If they are equal, the next bits decide.

INDEX_BITS = 14  # of a sort key, below those of the number to sort by
MAX_SAMPLES = 2**INDEX_BITS  # of one class
DIGITS = 4  # of a score above the lowest one, which has fewer than 64 bits
DIGIT_BITS = 16


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
    """Return the smallest loss of a threshold; counts[r] left copies have r right copies above them."""
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
    """Set the bits of a column, and return the smallest loss of a threshold on it.

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


# A pair of a positive and a negative sample is open in a cone if it is out of order at one vertex (the negative
# sample scores more) and in order at another. Splitting an edge whose ends differ in the order of a pair brings
# it closer to a conflict in one child, the more so the fewer other vertices have it in order.

# Weights of an open pair that is in order at one vertex only, at two, or at more; and in deep cones.
ONE_VERTEX, TWO_VERTICES, MORE_VERTICES = 16, 4, 1
DEEP_ONE_VERTEX, DEEP_TWO_VERTICES = 5, 1
DEEP = 16  # from this depth on, so that no pair is pursued forever, and ...
LEVELS_PER_LENGTH = 4  # ... at one in this many levels, the longest edge is split
SAMPLES_PER_LENGTH = 8  # one in this many samples is used to measure the length of an edge
# Where to split: at a tie if there are few pairs; also where many pairs tie; or always at a tie. The last
# takes more cones, but it ends near a direction in which many pairs tie, where the others make ever thinner
# cones.
FEW_TIES, COMMON_TIES, ONLY_TIES = range(3)
MIN_TIED_SHARE = 8  # an edge is split at a tie if at least one in this many pairs ties there
MAX_COMPARED_CROSSINGS = 32  # up to this many pairs, the simplest of their ties is used
CROSSING_BITS = 40  # positions on an edge that agree in this many bits are the same


@exact_kernel
def gather_open_pairs(above, higher, cone, words, first, stride, room):
    """Copy the bits of every `stride`-th positive sample; return (number of words, is any pair open)."""
    ordered, raised, one, two, more = room
    count = 0
    for k in range(cone.shape[0]):
        at, column, strictly = 0, above[cone[k]], higher[cone[k]]
        for i in range(first, above.shape[1] // words, stride):
            for w in range(words):
                ordered[k, at + w] = ~column[i * words + w]
                raised[k, at + w] = strictly[i * words + w]
            at += words
        count = at
    for x in range(count):
        one[x], two[x], more[x] = ordered[0, x], np.uint64(0), np.uint64(0)
    for k in range(1, cone.shape[0]):  # vertex by vertex, so that many words are counted at once
        for x in range(count):
            low = ordered[k, x]
            more[x] |= two[x] & low
            two[x] |= one[x] & low
            one[x] |= low
    any_open = np.uint64(0)
    for x in range(count):
        out = np.uint64(0)
        for k in range(cone.shape[0]):
            out |= raised[k, x]
        any_open |= one[x] & out
        one[x] &= ~two[x]
        two[x] &= ~more[x]
    return count, any_open != np.uint64(0)


@exact_kernel
def score_edge(ordered, raised, one, two, a, b, count, one_weight, two_weight):
    """Return the total weight of the pairs whose order differs between vertices a and b."""
    score = np.int64(0)
    for x in range(count):
        differ = (ordered[a, x] & raised[b, x]) | (ordered[b, x] & raised[a, x])
        score += (
            count_bits(differ)
            + (one_weight - MORE_VERTICES) * count_bits(differ & one[x])
            + (two_weight - MORE_VERTICES) * count_bits(differ & two[x])
        )
    return score


@exact_kernel
def choose_edge(columns, cone, words, depth, stride, room):
    """Return the most promising edge (a, b) to split, as indices into `cone`; (-1, -1) if no pair is open."""
    scores, _, _, above, higher = columns
    ordered, raised, one, two, _ = room
    D = cone.shape[0]
    count, is_open = gather_open_pairs(above, higher, cone, words, depth % stride, stride, room)
    if not is_open:
        count, is_open = gather_open_pairs(above, higher, cone, words, 0, 1, room)
    is_deep = depth >= DEEP
    one_weight = DEEP_ONE_VERTEX if is_deep else ONE_VERTEX
    two_weight = DEEP_TWO_VERTICES if is_deep else TWO_VERTICES
    by_length = is_deep and depth % LEVELS_PER_LENGTH == 0
    best, best_a, best_b = 0.0, -1, -1
    for a in range(D):
        for b in range(a + 1, D):
            score = score_edge(ordered, raised, one, two, a, b, count, one_weight, two_weight)
            value = float(score)
            if by_length and score > 0:
                value = 0.0
                for x in range(0, scores.shape[1], SAMPLES_PER_LENGTH):
                    value += abs(scores[cone[a], x] - scores[cone[b], x])
            if value > best:
                best, best_a, best_b = value, a, b
    return best_a, best_b


@exact_kernel
def collect_crossings(above, higher, scores, a, b, n_left, words, right_of, depth, crossings, pairs):
    """Find for each positive sample one negative one with which it changes order between columns a and b.

    Sets `crossings` to the positions on the edge where they tie, and `pairs` to the two samples; returns
    their number.
    """
    count = 0
    for i in range(n_left):
        w = (i + depth) & (words - 1) if words & (words - 1) == 0 else (i + depth) % words
        for _ in range(words):
            w = w + 1 if w + 1 < words else 0
            x = i * words + w
            differ = (~above[a, x] & higher[b, x]) | (~above[b, x] & higher[a, x])
            if differ == np.uint64(0):
                continue
            skip = np.uint64((i * 7 + depth * 11) & 63)
            rest = differ >> skip
            r = w * 64 + (
                find_lowest_bit(rest) + np.int64(skip) if rest != np.uint64(0) else find_lowest_bit(differ)
            )
            j = n_left + right_of[r]
            at_a, at_b = scores[a, i] - scores[a, j], scores[b, i] - scores[b, j]
            if at_a * at_b < 0.0:
                crossings[count] = at_a / (at_a - at_b)
                pairs[count, 0], pairs[count, 1] = i, j
                count += 1
            break
    return count


@exact_kernel
def choose_step(crossings, count):
    """Return the k in 1, ..., 15 for which k / 16 is nearest to the median of the crossings."""
    below = np.zeros(STEPS_PER_EDGE, np.int64)
    for x in range(count):
        k = np.int64(crossings[x] * STEPS_PER_EDGE)
        below[max(0, min(k, STEPS_PER_EDGE - 1))] += 1
    passed, k = np.int64(0), 0
    while k < STEPS_PER_EDGE - 1 and 2 * (passed + below[k]) < count:
        passed += below[k]
        k += 1
    if count == 0:
        return STEPS_PER_EDGE // 2
    if 2 * (passed + below[k]) - count < count - 2 * passed:
        k += 1
    return max(1, min(k, STEPS_PER_EDGE - 1))


@exact_kernel
def find_tied_pair(crossings, count, keys, spare):
    """Return the index of a pair that ties where most pairs do, and how many do so."""
    for x in range(count):
        keys[x] = (np.int64(crossings[x] * 2.0**CROSSING_BITS) << INDEX_BITS) + x
    sort_breakpoints(keys, spare, count)
    best, best_run, run = np.int64(-1), np.int64(0), np.int64(0)
    for x in range(count):
        same = x > 0 and (keys[x] >> INDEX_BITS) - (keys[x - 1] >> INDEX_BITS) <= 1
        run = run + 1 if same else np.int64(1)
        if run > best_run:
            best, best_run = keys[x] & (MAX_SAMPLES - 1), run
    return best, best_run


@exact_kernel
def find_tie(scores, exponents, a, b, pair):
    """Return coprime p and q such that a pair ties at p A + q B, in the integers of columns a and b."""
    i, j = pair[0], pair[1]
    q = abs(np.int64((scores[a, i] - scores[a, j]) * 2.0 ** exponents[a]))
    p = abs(np.int64((scores[b, i] - scores[b, j]) * 2.0 ** exponents[b]))
    common = find_common_divisor(p, q)
    return p // common, q // common


@exact_kernel
def choose_tie(scores, exponents, a, b, crossings, pairs, count, ties, keys, spare):
    """Return p and q of the position p A + q B where most pairs tie; (0, 0) if too few do.

    If there are few pairs, or with ONLY_TIES, return the simplest of all ties instead.
    """
    place, tied = find_tied_pair(crossings, count, keys, spare)
    compares_all = ties == ONLY_TIES or count <= MAX_COMPARED_CROSSINGS
    if MIN_TIED_SHARE * tied < count and not compares_all:
        return np.int64(0), np.int64(0)
    p, q = find_tie(scores, exponents, a, b, pairs[place])
    if compares_all:
        for x in range(count):
            other_p, other_q = find_tie(scores, exponents, a, b, pairs[x])
            if max(other_p, other_q) < max(p, q):
                p, q = other_p, other_q
    return p, q
