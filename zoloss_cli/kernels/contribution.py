"""Sums over random subset paths, from which complexity contributions are estimated (Li 2006, section 1.5.2).

All sums are sums of integers, so that they do not depend on the order or the number of parts in which they
are computed. `K` is the N x N kernel matrix, `y` holds the N labels, and `flat` is the slope that counts as 0
(see `hard_margin`).
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.hard_margin import (
    SOLVED,
    allocate_solution,
    build_path_rows,
    copy_solution,
    count_along_path,
    remove_sample,
    resolve_violations,
    start_with_sample,
)
from zoloss_cli.kernels.numeric import PERMUTED, draw_epoch


@kernel
def add_path_sums(K, y, flat, counter, permutations, s1, s2, group, by_sample, products, by_size):
    """Add the sums over `permutations` random paths to the last three arrays; return (status, sample).

    by_sample (N x 2) holds [sum, number] of the increases in complexity when a sample joins a set of s1, ...,
    s2 - 1 samples; by_size[g, n] (groups x N x 2) holds the same for a sample of group g joining a set of n.
    With one equation for each set of s1 + 1 to s2 samples, C(S_m) - C(S_s1) = sum of the contributions of the
    samples in between, products[:N] is P'P of (1.12), of which only the entries (later, earlier on the path)
    are added to, and products[N] is P'Delta. Nothing is added to `products` if it has no rows.
    """
    n = y.size
    none_cut, none_alias = np.empty(0, np.uint64), np.empty(0, np.int32)
    order, counts, s = np.arange(n), np.zeros(n + 1, np.int64), allocate_solution(n)
    rows = build_path_rows(K, y, order, flat)
    for _ in range(permutations):
        counter = draw_epoch(PERMUTED, order, counter, none_cut, none_alias)
        for i in range(n):
            rows.y[i], rows.ready[i] = y[order[i]], False
        status, where = count_along_path(rows, s2, counts, s)
        if status != SOLVED:
            return status, order[where]
        for i in range(s2):
            growth, g = counts[i + 1] - counts[i], group[order[i]]
            by_size[g, i, 0] += growth
            by_size[g, i, 1] += 1
            if i >= s1:
                by_sample[order[i], 0] += growth
                by_sample[order[i], 1] += 1
        if products.shape[0] == 0:
            continue
        later = 0
        for i in range(s2 - 1, s1 - 1, -1):
            later += counts[i + 1] - counts[s1]
            products[n, order[i]] += later
            line = products[order[i]]
            for j in range(s1, i + 1):
                line[order[j]] += s2 - i  # the number of equations that contain both
    return SOLVED, -1


@kernel
def compute_leave_one_out(K, y, members, flat):
    """Return (complexity of the members, complexities without each of them, status, sample)."""
    n = members.size
    rows, s, one_less = build_path_rows(K, y, members, flat), allocate_solution(n), allocate_solution(n)
    inside, counts = np.ones(n, np.bool_), np.zeros(n, np.int64)
    start_with_sample(rows, 0, s)
    status, where = resolve_violations(rows, inside, n, s)
    for i in range(n):
        if status != SOLVED:
            return 0, counts, status, where
        copy_solution(s, one_less)
        status, where = remove_sample(rows, inside, i, n, one_less)
        inside[i] = True
        counts[i] = one_less.size[1]
    return s.size[1], counts, status, where
