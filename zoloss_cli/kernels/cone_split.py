"""Where the cone search splits a cone: the edge, and the place on it.

A pair of a positive and a negative sample is open in a cone if it is out of order at one vertex (the negative one
scores more) and in order at another. Splitting an edge at whose ends it differs brings it nearer to a conflict in
one child, the more so the fewer other vertices have it in order.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.bits import count_bits, find_lowest_bit
from zoloss_cli.kernels.cone_columns import INDEX_BITS, MAX_SAMPLES, STEPS_PER_EDGE, sort_keys

# What an open pair counts if it is in order at one vertex only, at two, at more.
ONE_VERTEX, TWO_VERTICES, MORE_VERTICES = 16, 4, 1
MIN_TIED_SHARE = 8  # an edge is split where pairs tie if these are at least one in so many
CROSSING_BITS = 40  # places on an edge that agree in so many bits are one


@exact_kernel
def score_edges(above, higher, cone, words, first, stride, edge_scores, ordered):
    """Add to edge_scores[a, b] what the open pairs of every `stride`-th positive sample count; return if any."""
    D = cone.shape[0]
    n_rows = above.shape[1] // words
    found = False
    for i in range(first, n_rows, stride):
        for x in range(i * words, (i + 1) * words):
            once, twice, often, out = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for k in range(D):
                ordered[k] = ~above[cone[k], x]
                often |= twice & ordered[k]
                twice |= once & ordered[k]
                once |= ordered[k]
                out |= higher[cone[k], x]
            if once & out == np.uint64(0):
                continue
            found = True
            one, two = once & ~twice, twice & ~often
            for a in range(D):
                for b in range(a + 1, D):
                    differ = (ordered[a] & higher[cone[b], x]) | (ordered[b] & higher[cone[a], x])
                    edge_scores[a, b] += (
                        MORE_VERTICES * count_bits(differ)
                        + (ONE_VERTEX - MORE_VERTICES) * count_bits(differ & one)
                        + (TWO_VERTICES - MORE_VERTICES) * count_bits(differ & two)
                    )
    return found


@exact_kernel
def choose_edge(above, higher, cone, words, depth, stride, edge_scores, ordered):
    """Return the edge (a, b) whose split promises most, as places in the cone; (-1, -1) if no pair is open."""
    D = cone.shape[0]
    for a in range(D):
        for b in range(D):
            edge_scores[a, b] = 0
    if not score_edges(above, higher, cone, words, depth % stride, stride, edge_scores, ordered):
        score_edges(above, higher, cone, words, 0, 1, edge_scores, ordered)
    best, best_a, best_b = np.int64(0), -1, -1
    for a in range(D):
        for b in range(a + 1, D):
            if edge_scores[a, b] > best:
                best, best_a, best_b = edge_scores[a, b], a, b
    return best_a, best_b


@exact_kernel
def collect_crossings(above, higher, scores, a, b, n_left, words, right_of, depth, crossings, pairs):
    """Find for each positive sample one negative one with which it changes order between columns a and b.

    Sets where on the edge they tie, in `crossings`, and who they are, in `pairs`; returns how many there are.
    """
    count = 0
    for i in range(n_left):
        for step in range(words):
            w = (i + depth + step) % words
            x = i * words + w
            differ = (~above[a, x] & higher[b, x]) | (~above[b, x] & higher[a, x])
            if differ == np.uint64(0):
                continue
            skip = np.uint64((i * 7 + depth * 11) & 63)
            rest = differ >> skip
            r = w * 64 + (find_lowest_bit(rest) + np.int64(skip) if rest != np.uint64(0) else find_lowest_bit(differ))
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
    """Return the k of 1 to 15 for which k / 16 is nearest to the median of the crossings."""
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
    """Return the place of a pair that ties where most do, and how many those are."""
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
