"""Maximum matchings in bipartite graphs whose rows are sets of bits.

The left side has n_left nodes; bit r of row i of `rows` (n_left x words) says whether i is joined to the r-th
copy on the right. A node with a weight of several copies stands for that many: `left_of` holds the node of
each copy on the left, and on the right each copy has a bit of its own. `mate_left` and `mate_right` hold the
copy on the other side, or -1.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.bits import find_lowest_bit

NONE, ONE = np.uint64(0), np.uint64(1)


@exact_kernel
def find_free_copies(mate_right, free):
    """Set the bits in `free` of the copies on the right that have no mate."""
    for w in range(free.shape[0]):
        word = NONE
        for r in range(w << 6, min((w + 1) << 6, mate_right.shape[0])):
            word |= np.uint64(mate_right[r] < 0) << np.uint64(r & 63)
        free[w] = word


@exact_kernel
def flip_path(last, reached_from, mate_left, mate_right):
    """Match along the path that ends at the right copy `last`, back to the free copy where it started."""
    right = last
    while right >= 0:
        left = reached_from[right]
        following = mate_left[left]
        mate_left[left] = right
        mate_right[right] = left
        right = following


@exact_kernel
def find_path(rows, left_of, start, mate_right, free, seen, reached_from, queue):
    """Return the free right copy at the end of an alternating path from the left copy `start`, or -1.

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

    A search that finds no path leaves behind right copies that no later path can use: they stay marked as
    seen.
    """
    free, seen, dead, reached_from, queue = room
    words = free.shape[0]
    find_free_copies(mate_right, free)
    for w in range(words):
        dead[w] = NONE
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
