"""Where the cone search splits a cone: the edge, and the position on it.

A pair of a positive and a negative sample is open in a cone if it is out of order at one vertex (the negative
sample scores more) and in order at another. Splitting an edge whose ends differ in the order of a pair brings
it closer to a conflict in one child, the more so the fewer other vertices have it in order.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.bits import count_bits, find_lowest_bit
from zoloss_cli.kernels.cone_columns import STEPS_PER_EDGE, find_common_divisor
from zoloss_cli.kernels.cone_order import INDEX_BITS, MAX_SAMPLES, sort_keys

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
    """Copy the bits of every `stride`-th positive sample, vertex by vertex, and mark the open pairs.

    Returns the number of words, and whether any pair in them is open.
    """
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
    sort_keys(keys, count, spare)
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
