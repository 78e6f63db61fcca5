"""Branch and bound over which examples are right (Nguyen & Sanner 2013, Figure 3).

Rows of Z are the examples (1, x_i), of length 1; t_i is an example's class and s_i the class it is
assigned, both -1 or 1, and s_i is 0 while it is open. The search is depth first: the next open example is
the first in `order`, its first value the one that the start gives it.

Whether a point is in the convex hull of a side is asked of `separate`. A w that kept it out is kept: it
answers the question again as long as new points of the hull are on its other side, which costs one dot
product. Sets of assignments that turned out impossible are kept too, and end every branch that meets one;
that saves work, and changes no result.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.hull import separate
from zoloss_cli.kernels.line import BETTER

KEPT = 512  # impossible sets to remember
# places in `numbers`
DEPTH, ASSIGNED, NODES, QUESTIONS, SETTLED, LEAVES, SETS = range(7)


@kernel
def known_impossible(s, impossible, kept):
    """Whether the assignments so far contain a set that is known to be impossible."""
    sets, set_signs, set_sizes = impossible
    for e in range(min(kept, sets.shape[0])):
        matched = True
        for k in range(set_sizes[e]):
            if s[sets[e, k]] != set_signs[e, k]:
                matched = False
                break
        if matched:
            return True
    return False


@kernel
def keep(corral, size, s, impossible, numbers):
    """Remember an impossible set, in place of the oldest if need be."""
    sets, set_signs, set_sizes = impossible
    e = numbers[SETS] % sets.shape[0]
    numbers[SETS] += 1
    set_sizes[e] = size
    for k in range(size):
        sets[e, k] = corral[k]
        set_signs[e, k] = s[corral[k]]


@kernel
def propagate(Z, t, c, s, i, trail, hulls, numbers, buffers):
    """Example i has joined a side: whom does that side's hull contain now?

    Open examples inside it are assigned to the side; one of the other side inside it is a conflict.
    Returns (weight newly lost, size of the impossible set in the corral or 0).
    """
    hull, hull_count, keepers, known = hulls
    signs, members, w, corral, weights = buffers
    side = s[i]
    h = 0 if side > 0 else 1
    count, lost = hull_count[h], 0.0
    for m in range(count):
        members[m] = hull[h, m]
        signs[hull[h, m]] = 1.0
    for p in range(Z.shape[0]):
        if s[p] == side:
            continue
        if known[h, p] and np.dot(keepers[h, p], Z[i]) > 0.0:
            numbers[SETTLED] += 1
            continue
        members[count] = p
        signs[p] = -1.0
        numbers[QUESTIONS] += 1
        inside = separate(Z, signs, members, count + 1, count, w, corral, weights)
        if inside == 0:
            known[h, p] = True
            keepers[h, p] = w
        elif inside > 0 and s[p] == 0:
            s[p] = side
            trail[numbers[ASSIGNED]] = p
            numbers[ASSIGNED] += 1
            lost += c[p] if t[p] != side else 0.0
        elif inside > 0:
            return lost, inside
        # Below 0 it is too near the hull to tell: it stays open.
    return lost, 0


@kernel
def undo(s, trail, hulls, mark, numbers):
    """Take back all assignments after the first `mark`."""
    hull, hull_count = hulls[0], hulls[1]
    while numbers[ASSIGNED] > mark:
        numbers[ASSIGNED] -= 1
        p = trail[numbers[ASSIGNED]]
        s[p] = 0
        for h in range(2):
            if hull_count[h] > 0 and hull[h, hull_count[h] - 1] == p:
                hull_count[h] -= 1


@kernel
def branch(Z, t, c, order, first, tree, hulls, impossible, numbers, use_hulls, nodes, best, best_w):
    """Visit up to `nodes` nodes, from where `tree` says the search stands. Returns (best, whether it is over).

    It stops at each better leaf, whose w is then in best_w.
    """
    s, trail, decided, tried, mark, place, level_loss = tree
    hull, hull_count = hulls[0], hulls[1]
    n, P = Z.shape
    signs, members, w = np.zeros(n), np.zeros(n + 1, np.int64), np.zeros(P)
    corral, weights = np.zeros(P + 2, np.int64), np.zeros(P + 2)
    buffers = (signs, members, w, corral, weights)
    for _ in range(nodes):
        depth = numbers[DEPTH]
        if depth < 0:
            return best, True
        undo(s, trail, hulls, mark[depth], numbers)
        if tried[depth] == 2:
            numbers[DEPTH] -= 1
            continue
        i = decided[depth]
        side = first[i] if tried[depth] == 0 else -first[i]
        tried[depth] += 1
        numbers[NODES] += 1
        loss = level_loss[depth] + (c[i] if side != t[i] else 0.0)
        if loss >= best - BETTER:
            continue
        s[i] = side
        trail[numbers[ASSIGNED]] = i
        numbers[ASSIGNED] += 1
        h = 0 if side > 0 else 1
        hull[h, hull_count[h]] = i
        hull_count[h] += 1
        if known_impossible(s, impossible, numbers[SETS]):
            continue
        if use_hulls:
            lost, conflict = propagate(Z, t, c, s, i, trail, hulls, numbers, buffers)
            loss += lost
            if conflict > 0:
                keep(corral, conflict, s, impossible, numbers)
                continue
            if loss >= best - BETTER:
                continue
        following = place[depth]
        while following < n and s[order[following]] != 0:
            following += 1
        if following < n:
            depth += 1
            numbers[DEPTH] = depth
            decided[depth], tried[depth], place[depth] = order[following], 0, following
            mark[depth], level_loss[depth] = numbers[ASSIGNED], loss
            continue
        # A leaf: is there a w? The examples that hulls assigned follow from the others.
        count = 0
        for h in range(2):
            for m in range(hull_count[h]):
                members[count] = hull[h, m]
                signs[hull[h, m]] = 1.0 if h == 0 else -1.0
                count += 1
        numbers[LEAVES] += 1
        size = separate(Z, signs, members, count, count - 1, w, corral, weights)
        if size > 0:
            keep(corral, size, s, impossible, numbers)
        elif size == 0:
            best_w[:] = w
            return loss, False
    return best, numbers[DEPTH] < 0
