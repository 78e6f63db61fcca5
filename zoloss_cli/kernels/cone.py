"""Cone search: a proof that every linear rule on the samples makes at least T errors.

A cone is spanned by D directions, its vertices. A positive sample i and a negative sample j conflict in it if
s_i <= s_j at all vertices: then s_i <= s_j in the whole cone, and no threshold classifies both correctly. So
every rule in the cone has at least as many errors as a matching of conflicting pairs has pairs. In a single
direction, a maximum matching is exact: by König's theorem, some threshold has no more errors.

A cone whose matching has fewer than T pairs is split at an edge, see `cone_split`; conflicts persist in its
parts, and so does the matching. If no pair changes its order within the cone any more, its rules attain the
size of the matching, and T is refuted.

A cone takes 7.6 us on liver (341 x 6) and 21 us on pima (768 x 8), 81 and 28 times as fast as in NumPy with
SciPy's matchings: python -m pytest tests/bench/test_speed.py --benchmark-only -k cone.

Matchings: row i of `rows` (n_left x words) is a bit set of the right copies that sample i on the left conflicts
with; `left_of` holds the sample of each left copy. `mate_left` and `mate_right` hold the copy on the other
side, or -1.

The state of a search, which is kept between calls:

- `columns`: scores, exponents, errors, above, higher; see `cone_split`. The first D are the vertices of the
  cone to search; the following ones, by depth, are the vertices at which a cone was split.
- `stack`, by depth: cones (the columns of the vertices), the mates of left and of right copies, matched (number
  of pairs), stage (number of children entered), edges (the one that was split).
- `counters`: one number for each of the indices named below.
- `log`: what a certificate needs, cone by cone, unless it has length 0: SPLIT, a, b, p, q, shift, divisor; or
  LEAF, the number of left copies whose mate differs from the previous leaf, and these copies with their mates.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.cone_split import (
    FEW_TIES,
    MAX_COMPARED_CROSSINGS,
    STEPS_PER_EDGE,
    choose_edge,
    choose_step,
    choose_tie,
    collect_crossings,
    compare_classes,
    find_common_divisor,
    mix_exactly,
    mix_roughly,
)
from zoloss_cli.kernels.numeric import find_lowest_bit

NONE, ONE = np.uint64(0), np.uint64(1)
# Indices into `counters`. DONE is the share of the cone that has been searched, in multiples of 2^-60; STATUS
# is one of those below.
DEPTH, NODES, STATUS, BEST_LOSS, LOGGED, DONE, AUGMENTED, EXACT_SPLITS = range(8)
# RUNNING: not at its end. PROVED. TOO_DEEP: a cone is at the depth limit, which voids the proof. REFUTED:
# `best` is a direction with fewer than T errors.
RUNNING, PROVED, TOO_DEEP, REFUTED = range(4)
LEAF, SPLIT = 0, 1
SPLIT_ENTRIES = 7  # in the log
DONE_BITS = 60
EDGE_ROWS = 24  # minimum number of positive samples used to choose an edge


@exact_kernel
def flip_path(last, reached_from, mate_left, mate_right):
    """Augment the matching along the path that ends at the right copy `last`."""
    right = last
    while right >= 0:
        left = reached_from[right]
        following = mate_left[left]
        mate_left[left] = right
        mate_right[right] = left
        right = following


@exact_kernel
def find_path(rows, left_of, start, mate_right, free, seen, reached_from, queue):
    """Return the free right copy at the end of an augmenting path from the left copy `start`, or -1.

    `seen` holds the right copies that need no visit, none of them free, and gains those that are visited;
    `reached_from` is set to the left copy from which each was reached.
    """
    words = free.shape[0]
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        left = queue[head]
        head += 1
        row = rows[left_of[left]]
        for w in range(words):
            found = row[w] & free[w]
            if found != NONE:
                right = (w << 6) + find_lowest_bit(found)
                reached_from[right] = left
                return right
        for w in range(words):
            fresh = row[w] & ~seen[w]
            seen[w] |= fresh
            while fresh != NONE:
                right = (w << 6) + find_lowest_bit(fresh)
                fresh &= fresh - ONE
                reached_from[right] = left
                queue[tail] = mate_right[right]
                tail += 1
    return -1


@exact_kernel
def augment_matching(rows, left_of, mate_left, mate_right, matched, target, room):
    """Extend a matching to a maximum one, or to `target` pairs; return its number of pairs.

    Right copies visited by a failed search cannot be on any later path: they are `dead`.
    """
    free, seen, dead, reached_from, queue = room
    words = free.shape[0]
    for w in range(words):
        dead[w], word = NONE, NONE
        for r in range(w << 6, min((w + 1) << 6, mate_right.shape[0])):
            word |= np.uint64(mate_right[r] < 0) << np.uint64(r & 63)
        free[w] = word
    for left in range(mate_left.shape[0]):
        if matched >= target:
            break
        if mate_left[left] >= 0:
            continue
        row, fresh = rows[left_of[left]], NONE
        for w in range(words):
            seen[w] = dead[w]
            fresh |= row[w] & ~dead[w]
        if fresh == NONE:
            continue
        last = find_path(rows, left_of, left, mate_right, free, seen, reached_from, queue)
        if last < 0:
            for w in range(words):
                dead[w] = seen[w]
            continue
        free[last >> 6] &= ~(ONE << np.uint64(last & 63))
        flip_path(last, reached_from, mate_left, mate_right)
        matched += 1
    return matched


@exact_kernel
def intersect_columns(above, cone, rows):
    """Set `rows` to the conflicts in a cone: the bits that all its columns share."""
    first, second = above[cone[0]], above[cone[min(1, cone.shape[0] - 1)]]
    for x in range(rows.shape[0]):
        rows[x] = first[x] & second[x]
    for k in range(2, cone.shape[0]):
        other = above[cone[k]]
        for x in range(rows.shape[0]):
            rows[x] &= other[x]


@exact_kernel
def log_leaf(mate_left, logged_mates, log, counters):
    """Append a leaf to the log: the left copies whose mates differ from the previous leaf, and their mates."""
    at = counters[LOGGED]
    log[at] = LEAF
    changes = np.int64(0)
    for left in range(mate_left.shape[0]):
        if mate_left[left] != logged_mates[left]:
            logged_mates[left] = mate_left[left]
            log[at + 2 + 2 * changes] = left
            log[at + 3 + 2 * changes] = mate_left[left]
            changes += 1
    log[at + 1] = changes
    counters[LOGGED] = at + 2 + 2 * changes


@exact_kernel
def split_edge(columns, sizes, a, b, new, right_of, depth, room):
    """Set column `new` to a direction between columns a and b; return how it was mixed.

    Returns (p, q, shift, divisor, whether the split is at a tie). The integers of `new` are (p A + q B) /
    divisor, where A is first shifted left by `shift`, or B by its negative. If many pairs tie, the split is
    exactly there, provided that the integers do not get too large. `sizes` is (n_left, n_right, words, ties).
    """
    scores, exponents, errors, above, higher = columns
    n_left, n_right, words, ties = sizes
    crossings, pairs, keys, spare, whole = room
    count = collect_crossings(above, higher, scores, a, b, n_left, words, right_of, depth, crossings, pairs)
    n = n_left + n_right
    errors[new] = 0.0
    is_exact = errors[a] == 0.0 and errors[b] == 0.0
    if is_exact and count > 0 and (ties != FEW_TIES or count <= MAX_COMPARED_CROSSINGS):
        p, q = choose_tie(scores, exponents, a, b, crossings, pairs, count, ties, keys, spare)
        divisor = mix_exactly(scores, exponents, a, b, p, q, new, n, whole) if p > 0 else np.int64(0)
        if divisor > 0:
            return p, q, np.int64(0), divisor, True
    k = choose_step(crossings, count)
    shift = exponents[b] - exponents[a]
    if is_exact:
        p, q = np.int64(STEPS_PER_EDGE - k) << max(shift, 0), np.int64(k) << max(-shift, 0)
        common = find_common_divisor(p, q)
        divisor = mix_exactly(scores, exponents, a, b, p // common, q // common, new, n, whole)
        if divisor > 0:
            return p // common, q // common, np.int64(0), divisor, False
    mix_roughly(scores, exponents, errors, a, b, k, new)
    return np.int64(STEPS_PER_EDGE - k), np.int64(k), shift, np.int64(1), False


@exact_kernel
def enter_child(stack, depth, place, column):
    """Push the cone at `depth`, with one vertex replaced, and its matching onto the stack."""
    cones, mate_left, mate_right, matched, stage, _ = stack
    for k in range(cones.shape[1]):
        cones[depth + 1, k] = cones[depth, k]
    cones[depth + 1, place] = column
    for left in range(mate_left.shape[1]):
        mate_left[depth + 1, left] = mate_left[depth, left]
    for right in range(mate_right.shape[1]):
        mate_right[depth + 1, right] = mate_right[depth, right]
    matched[depth + 1] = matched[depth]
    stage[depth + 1] = 0


@exact_kernel
def extend_matching(left_of, above, stack, depth, target, counters, room):
    """Extend the matching of the cone at `depth` by its conflicts; return whether it has enough pairs."""
    cones, mate_left, mate_right, matched, _, _ = stack
    rows, matching_room = room[0], room[1]
    before = matched[depth]
    if before < target:
        intersect_columns(above, cones[depth], rows.reshape(-1))
        matched[depth] = augment_matching(
            rows, left_of, mate_left[depth], mate_right[depth], before, target, matching_room
        )
        counters[AUGMENTED] += matched[depth] - before
    return matched[depth] >= target


@exact_kernel
def split_cone(samples, columns, stack, counters, log, best, target, room):
    """Split the cone on top of the stack and enter its first child, or set a status that ends the search."""
    sizes, _, right_of = samples
    scores, _, errors, above, higher = columns
    cones, _, _, matched, stage, edges = stack
    _, _, edge_room, split_room, compare_room = room
    depth, n = counters[DEPTH], sizes[0] + sizes[1]
    cone, new = cones[depth], cones.shape[1] + depth
    stride = max(1, min(8, sizes[0] // EDGE_ROWS))
    a, b = choose_edge(columns, cone, sizes[2], depth, stride, edge_room)
    if a < 0:  # no pair changes its order any more: the sum of the vertices attains the matching's size
        counters[BEST_LOSS], counters[STATUS] = matched[depth], REFUTED
        for k in range(best.shape[0]):
            best[k] = 0.0
            for vertex in range(cone.shape[0]):
                best[k] += scores[cone[vertex], n + k]
        return
    if depth + 2 > cones.shape[0] - 1:
        counters[STATUS] = TOO_DEEP
        return
    p, q, shift, divisor, exact = split_edge(columns, sizes, cone[a], cone[b], new, right_of, depth, split_room)
    counters[EXACT_SPLITS] += exact
    loss = compare_classes(scores[new], errors[new], sizes, right_of, above[new], higher[new], compare_room)
    if loss < counters[BEST_LOSS]:
        counters[BEST_LOSS] = loss
        for k in range(best.shape[0]):
            best[k] = scores[new, n + k]
    if log.shape[0] > 0:
        at = counters[LOGGED]
        entry = (np.int64(SPLIT), np.int64(a), np.int64(b), p, q, shift, divisor)
        for e in range(SPLIT_ENTRIES):
            log[at + e] = entry[e]
        counters[LOGGED] = at + SPLIT_ENTRIES
    if loss < target and errors[new] == 0.0:
        counters[STATUS] = REFUTED
        return
    edges[depth, 0], edges[depth, 1] = a, b
    stage[depth] = 1
    enter_child(stack, depth, b, new)
    counters[DEPTH] += 1


@exact_kernel
def visit_cones(samples, columns, stack, counters, logs, best, target, nodes, room):
    """Visit up to `nodes` cones, starting from the state in `stack`; return the status of the search.

    `samples` is (sizes, left_of, right_of), `logs` is (log, logged_mates), `best` has room for a direction.
    """
    above, log, logged_mates = columns[3], logs[0], logs[1]
    cones, mate_left, _, _, stage, edges = stack
    log_need = SPLIT_ENTRIES + 2 + 2 * mate_left.shape[1]
    visited = np.int64(0)
    while visited < nodes and counters[STATUS] == RUNNING:
        depth = counters[DEPTH]
        if depth < 0:
            counters[STATUS] = PROVED
            break
        if stage[depth] == 2:  # both children are done
            counters[DEPTH] -= 1
            continue
        if stage[depth] == 1:
            stage[depth] = 2
            enter_child(stack, depth, edges[depth, 0], cones.shape[1] + depth)
            counters[DEPTH] += 1
            continue
        if log.shape[0] > 0 and counters[LOGGED] + log_need > log.shape[0]:
            break  # until the caller has emptied it
        visited += 1
        counters[NODES] += 1
        if extend_matching(samples[1], above, stack, depth, target, counters, room):
            if log.shape[0] > 0:
                log_leaf(mate_left[depth], logged_mates, log, counters)
            counters[DONE] += np.int64(1) << max(0, DONE_BITS - depth)
            counters[DEPTH] -= 1
        else:
            split_cone(samples, columns, stack, counters, log, best, target, room)
    return counters[STATUS]
