"""The complexity of all unions of clusters of samples (Li 2006, section 1.4), without one SVM for each.

A node of the search tree stores which clusters are included and excluded, and the hard-margin SVM of the
included ones. If some undecided cluster violates that SVM, the search branches on one: excluding it changes
nothing, including it warm-starts the solver from this solution. If none does, every union with undecided
clusters has the same SVM. The leaves thus partition all unions, each leaf with one complexity.

`cluster` (length N) holds each sample's cluster, `sizes` and `state` hold one number per cluster, and
`inside` (length N) says whether a sample's cluster is in. `rows` and solutions are those of `hard_margin`.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.hard_margin import (
    MARGIN_TOLERANCE,
    SOLVED,
    HardMarginSolution,
    KernelRows,
    copy_solution,
    enter_sample,
    resolve_violations,
    start_with_sample,
)
from zoloss_cli.kernels.numeric import GOLDEN_GAMMA, mix_bits

OUT, IN, UNDECIDED = range(3)  # states of a cluster
ONE = np.uint64(1)
SIMPLEST = 2  # support vectors: the minimum complexity of two classes


@kernel
def allocate_stack(n, depth):
    """Allocate the solutions of a chain of `depth` nodes of n samples."""
    shape = depth, n + 1
    R, place = np.empty((depth, n + 1, n + 1)), np.zeros(shape, np.int64)
    f, size = np.zeros((depth, n)), np.zeros((depth, 2), np.int64)
    coef, sign, k, d = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    return HardMarginSolution(R, coef, sign, place, f, k, d, size)


@kernel
def get_level(stack, at):
    """Return the solution at one level of a stack, as views of its arrays."""
    R, coef, sign, place, f, k, d, size = stack
    return HardMarginSolution(R[at], coef[at], sign[at], place[at], f[at], k[at], d[at], size[at])


@kernel
def build_full_rows(K, y, flat):
    """Return the kernel matrix itself as the rows of a path."""
    n = y.size
    return KernelRows(K, np.arange(n), K, np.ones(n, np.bool_), y, flat)


@kernel
def find_most_violated(y, f, cluster, state):
    """Return the undecided cluster of the sample with the smallest margin below 1, or -1 if there is none."""
    found, least = -1, 1.0 - MARGIN_TOLERANCE
    for i in range(y.size):
        margin = y[i] * f[i]
        if margin < least and state[cluster[i]] == UNDECIDED:
            found, least = cluster[i], margin
    return found


@kernel
def include_cluster(rows, inside, cluster, chosen, s):
    """Solve for the union with one more cluster, which violates the solution; return (status, sample)."""
    worst, least = -1, np.inf
    for i in range(cluster.size):
        if cluster[i] == chosen:
            inside[i] = True
            if rows.y[i] * s.f[i] < least:
                worst, least = i, rows.y[i] * s.f[i]
    if s.size[0] == 0:
        start_with_sample(rows, worst, s)
    else:
        status = enter_sample(rows, worst, s.f[worst], s)
        if status != SOLVED:
            return status, worst
    return resolve_violations(rows, inside, rows.y.size, s)


@kernel
def record_leaf(c, state, sizes, pairs, best, count, masks, room):
    """Record a leaf of complexity c: the sizes of its unions, and its largest union if it is the best or ties.

    `pairs[c]` is a set of sizes as bits; each undecided cluster adds a copy of the leaf's set, shifted by its
    size.
    """
    words, total, mask = pairs.shape[1], 0, uint64(0)
    for w in range(words):
        room[w] = uint64(0)
    for u in range(sizes.size):
        if state[u] == IN:
            total += sizes[u]
    room[total >> 6] = ONE << uint64(total & 63)
    for u in range(sizes.size):
        if state[u] == OUT:
            continue
        mask |= ONE << uint64(u)
        if state[u] == UNDECIDED:
            total += sizes[u]
            jump, shift = sizes[u] >> 6, uint64(sizes[u] & 63)
            for w in range(words - 1, jump - 1, -1):
                moved = room[w - jump] << shift
                if shift > uint64(0) and w > jump:
                    moved |= room[w - jump - 1] >> (uint64(64) - shift)
                room[w] |= moved
    for w in range(words):
        pairs[c, w] |= room[w]
    if total < best[c] or is_beaten(c, total, best):
        return
    if total > best[c]:
        best[c], count[c] = total, 0
    kept = min(count[c], masks.shape[1])
    for k in range(kept):
        if masks[c, k] == mask:  # found by an earlier search
            return
    if kept < masks.shape[1]:
        masks[c, kept] = mask
    count[c] += 1


@kernel
def is_beaten(c, size, best):
    """Return whether some union is simpler than c and has at least this size."""
    found = False
    for simpler in range(c):
        found = found or best[simpler] >= size
    return found


@kernel
def search_unions(rows, cluster, sizes, stack, progress, found, slack, budget):
    """Continue a search for at most `budget` solves; return (status, sample, share of all unions done).

    `progress` is (the clusters decided on, the state of all, which samples are in, place): place[0] is the
    depth of the chain of `in` decisions, place[1] the number of decisions (-1 at the end), place[2] the
    number of solves. `found` is (pairs, best, count, masks) of `record_leaf`. A node is pruned if some known
    union is at least as large as any below the node, and simpler than they are expected to be: their
    complexity is at least 2, the minimum for two classes, and seldom lower than the node's by more than
    `slack`. A negative `slack` disables pruning.
    """
    path, state, inside, place = progress
    pairs, best, count, masks = found
    whole, done, solves = cluster.size, 0.0, 0
    room = np.zeros(pairs.shape[1], np.uint64)
    depth, taken, lost = place[0], place[1], 0
    for u in range(sizes.size):
        if state[u] == OUT:
            lost += sizes[u]
    while solves < budget:
        s = get_level(stack, depth)
        chosen = find_most_violated(rows.y, s.f, cluster, state)
        least = max(s.size[1] - slack, min(s.size[1], SIMPLEST))
        pruned = slack >= 0 and is_beaten(least, whole - lost, best)
        if chosen >= 0 and not pruned:
            path[taken] = chosen
            taken += 1
            state[chosen] = IN
            s_next = get_level(stack, depth + 1)
            copy_solution(s, s_next)
            depth += 1
            status, where = include_cluster(rows, inside, cluster, chosen, s_next)
            solves += 1
            if status != SOLVED:
                return status, where, done
            continue
        if not pruned:
            record_leaf(s.size[1], state, sizes, pairs, best, count, masks, room)
        done += 0.5**taken
        while taken > 0 and state[path[taken - 1]] == OUT:  # both branches done: backtrack
            taken -= 1
            state[path[taken]] = UNDECIDED
            lost -= sizes[path[taken]]
        if taken == 0:
            place[0], place[1] = 0, -1
            place[2] += solves
            return SOLVED, -1, done
        turned = path[taken - 1]
        state[turned] = OUT
        lost += sizes[turned]
        depth -= 1
        for i in range(cluster.size):
            if cluster[i] == turned:
                inside[i] = False
    place[0], place[1] = depth, taken
    place[2] += solves
    return SOLVED, -1, done


@kernel
def estimate_solves(rows, cluster, sizes, stack, counter):
    """Estimate the solves of a full search by Knuth's method; return (estimate, solves made, new counter)."""
    state = np.full(sizes.size, UNDECIDED)
    inside = np.zeros(cluster.size, np.bool_)
    s = get_level(stack, 0)
    s.size[0] = 0
    for i in range(s.f.size):
        s.f[i] = 1.0
    solves, made, weight = 0.0, 0, 1.0
    while True:
        chosen = find_most_violated(rows.y, s.f, cluster, state)
        if chosen < 0:
            return solves, made, counter
        solves += weight
        weight *= 2.0
        counter += GOLDEN_GAMMA
        state[chosen] = IN if mix_bits(counter) & ONE else OUT
        if state[chosen] == IN:
            include_cluster(rows, inside, cluster, chosen, s)
            made += 1
