"""Branch and bound over which samples are classified correctly (Nguyen & Sanner 2013, section 3, Figure 3).

Rows of `Z` (n x P) are the samples (1, x_i), scaled to length 1; t_i is the class of sample i and s_i the
class assigned to it, both -1 or 1; s_i is 0 while it is open. The search is depth first: it decides the first
open sample in `order`, and first tries the value that the initial solution gives it.

`separate` decides whether a sample is in the convex hull of a side. A w that separates it is cached: as long as
new members of the hull are on its other side, it replaces the test by one dot product. Impossible sets of
assignments are cached, too, and prune every branch that contains one; this changes no result.

The state of a search, which is kept between calls:

- `tree`: s (n); trail, the samples in the order of their assignment; then, by depth, decided (the sample),
  tried (0 to 2 of its values), mark (the length of the trail before it), place (in `order`) and level_loss.
- `hulls`, by side (0: +1, 1: -1): hull, the decided samples of the side, and their count.
- `keepers`, by side: a w that keeps each sample out of the hull, and known, whether there is one. None if
  hulls are not used: the code that uses them is then not even compiled.
- `impossible`: sets, set_signs and set_sizes of up to MAX_IMPOSSIBLE_SETS sets.
- `counters`: one number for each of the indices named below.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.hull import separate
from zoloss_cli.kernels.line_losses import LOSS_TOLERANCE
from zoloss_cli.kernels.numeric import copy_vector

MAX_IMPOSSIBLE_SETS = 512  # kept at a time
# Indices into `counters`. QUESTIONS: hull membership tests solved; SETTLED: those answered by a keeper.
DEPTH, ASSIGNED, NODES, QUESTIONS, SETTLED, LEAVES, SETS = range(7)


@kernel
def has_impossible_set(s, impossible, kept):
    """Return whether the assignments s contain one of the `kept` sets that are known to be impossible."""
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
def remember_impossible_set(corral, size, s, impossible, counters):
    """Cache that corral[:size] cannot be assigned as in s, replacing the oldest such set if necessary."""
    sets, set_signs, set_sizes = impossible
    e = counters[SETS] % sets.shape[0]
    counters[SETS] += 1
    set_sizes[e] = size
    for k in range(size):
        sets[e, k] = corral[k]
        set_signs[e, k] = s[corral[k]]


@kernel
def propagate_assignment(Z, t, c, s, i, trail, hulls, keepers, counters, buffers):
    """Assign all open samples in the hull of sample i's side to that side, now that i has joined it.

    A sample of the other side inside the hull is a conflict.

    Returns (weight newly lost, size of the impossible set in the corral, or 0 without a conflict).
    """
    hull, hull_count = hulls
    keeper, known = keepers
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
        if known[h, p] and np.dot(keeper[h, p], Z[i]) > 0.0:
            counters[SETTLED] += 1
            continue
        members[count] = p
        signs[p] = -1.0
        counters[QUESTIONS] += 1
        inside = separate(Z, signs, members, count + 1, count, w, corral, weights)
        if inside == 0:
            known[h, p] = True
            copy_vector(w, keeper[h, p])
        elif inside > 0 and s[p] == 0:
            s[p] = side
            trail[counters[ASSIGNED]] = p
            counters[ASSIGNED] += 1
            lost += c[p] if t[p] != side else 0.0
        elif inside > 0:
            return lost, inside
        # If `inside` is negative, the sample is too close to the hull to decide: it stays open.
    return lost, 0


@kernel
def undo_assignments(s, trail, hulls, mark, counters):
    """Undo all assignments after the first `mark`."""
    hull, hull_count = hulls
    while counters[ASSIGNED] > mark:
        counters[ASSIGNED] -= 1
        p = trail[counters[ASSIGNED]]
        s[p] = 0
        for h in range(2):
            if hull_count[h] > 0 and hull[h, hull_count[h] - 1] == p:
                hull_count[h] -= 1


@kernel
def visit_nodes(Z, t, c, order, first, tree, hulls, keepers, impossible, counters, nodes, best, best_w):
    """Visit up to `nodes` nodes, starting from the state in `tree`; stop at each better leaf.

    `t`, `c`, `order` and `first` have length n: classes, weights, the order of decisions, and the values
    tried first. Returns (best, whether the search is over); the w of a better leaf is then in `best_w`.
    """
    s, trail, decided, tried, mark, place, level_loss = tree
    hull, hull_count = hulls
    n, P = Z.shape
    signs, members, w = np.zeros(n), np.zeros(n + 1, np.int64), np.zeros(P)
    corral, weights = np.zeros(P + 2, np.int64), np.zeros(P + 2)
    buffers = (signs, members, w, corral, weights)
    for _ in range(nodes):
        depth = counters[DEPTH]
        if depth < 0:
            return best, True
        undo_assignments(s, trail, hulls, mark[depth], counters)
        if tried[depth] == 2:
            counters[DEPTH] -= 1
            continue
        i = decided[depth]
        side = first[i] if tried[depth] == 0 else -first[i]
        tried[depth] += 1
        counters[NODES] += 1
        loss = level_loss[depth] + (c[i] if side != t[i] else 0.0)
        if loss >= best - LOSS_TOLERANCE:
            continue
        s[i] = side
        trail[counters[ASSIGNED]] = i
        counters[ASSIGNED] += 1
        h = 0 if side > 0 else 1
        hull[h, hull_count[h]] = i
        hull_count[h] += 1
        if has_impossible_set(s, impossible, counters[SETS]):
            continue
        if keepers is not None:
            lost, conflict = propagate_assignment(Z, t, c, s, i, trail, hulls, keepers, counters, buffers)
            loss += lost
            if conflict > 0:
                remember_impossible_set(corral, conflict, s, impossible, counters)
                continue
            if loss >= best - LOSS_TOLERANCE:
                continue
        following = place[depth]
        while following < n and s[order[following]] != 0:
            following += 1
        if following < n:
            depth += 1
            counters[DEPTH] = depth
            decided[depth], tried[depth], place[depth] = order[following], 0, following
            mark[depth], level_loss[depth] = counters[ASSIGNED], loss
            continue
        # A leaf: is it separable? Samples that were assigned by hulls follow from the decided ones.
        count = np.int64(0)
        for h in range(2):
            for m in range(hull_count[h]):
                members[count] = hull[h, m]
                signs[hull[h, m]] = 1.0 if h == 0 else -1.0
                count += 1
        counters[LEAVES] += 1
        size = separate(Z, signs, members, count, count - 1, w, corral, weights)
        if size > 0:
            remember_impossible_set(corral, size, s, impossible, counters)
        elif size == 0:
            copy_vector(w, best_w)
            return loss, False
    return best, counters[DEPTH] < 0
