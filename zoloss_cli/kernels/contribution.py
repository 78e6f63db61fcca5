"""Sums over random subset paths, from which complexity contributions are estimated (Li 2006, section 1.5.2).

All sums are of whole numbers, so that they are the same in whatever order and however many parts they are made.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.hard_margin import (
    SOLVED,
    copy_solution,
    new_solution,
    remove,
    rows_in_order,
    settle,
    start,
    walk,
)
from zoloss_cli.kernels.random import PERMUTED, next_epoch


@kernel
def add_paths(K, y, flat, counter, permutations, s1, s2, group, by_example, products, by_size):
    """Add the paths of so many permutations; returns (status, example).

    by_example: rows of [sum, number] of the growth of complexity when an example joins a set of s1 to s2 - 1;
    by_size[g, n]: the same of group g joining a set of n. With an equation for each set of s1 + 1 to s2,
    C(S_m) - C(S_s1) = sum of the contributions of the examples between, products[:N] is P'P, of which only the
    entries (later, earlier on the path) are added to, and products[N] is P'Delta; nothing if it has no rows.
    """
    n = y.size
    none_cut, none_alias = np.empty(0, np.uint64), np.empty(0, np.int32)
    order, counts, s = np.arange(n), np.zeros(n + 1, np.int64), new_solution(n)
    rows = rows_in_order(K, y, order, flat)
    for _ in range(permutations):
        counter = next_epoch(PERMUTED, order, counter, none_cut, none_alias)
        for i in range(n):
            rows.y[i], rows.ready[i] = y[order[i]], False
        status, where = walk(rows, s2, counts, s)
        if status != SOLVED:
            return status, order[where]
        for i in range(s2):
            growth, g = counts[i + 1] - counts[i], group[order[i]]
            by_size[g, i, 0] += growth
            by_size[g, i, 1] += 1
            if i >= s1:
                by_example[order[i], 0] += growth
                by_example[order[i], 1] += 1
        if products.shape[0] == 0:
            continue
        later = 0
        for i in range(s2 - 1, s1 - 1, -1):
            later += counts[i + 1] - counts[s1]
            products[n, order[i]] += later
            line = products[order[i]]
            for j in range(s1, i + 1):
                line[order[j]] += s2 - i  # the equations that have both
    return SOLVED, -1


@kernel
def without_each(K, y, members, flat):
    """(complexity of the members, complexities without each of them, status, example)."""
    n = members.size
    rows, s, one_less = rows_in_order(K, y, members, flat), new_solution(n), new_solution(n)
    inside, counts = np.ones(n, np.bool_), np.zeros(n, np.int64)
    start(rows, 0, s)
    status, where = settle(rows, inside, n, s)
    for i in range(n):
        if status != SOLVED:
            return 0, counts, status, where
        copy_solution(s, one_less)
        status, where = remove(rows, inside, i, n, one_less)
        inside[i] = True
        counts[i] = one_less.size[1]
    return s.size[1], counts, status, where
