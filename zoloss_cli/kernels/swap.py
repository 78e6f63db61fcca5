"""Descent by swapping one of the samples that a hyperplane passes through for another while errors fall.

The state (B, w, V), `Y` and `c` are those of `pivot`.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.line import (
    LOSS_TOLERANCE,
    allocate_line_scratch,
    compute_line_losses,
    keep_line_minimum,
    pick_interval_point,
)
from zoloss_cli.kernels.pivot import MIN_PIVOT_SLOPE, exchange_row, rebuild_vertex, release_row


@kernel
def descend_by_swaps(Y, c, B, w, V, current, best, best_w, sweeps, first):
    """Replace basis rows, in turn from `first` on, by their best replacements; take up to `sweeps` looks.

    One look is at all replacements of one basis row. A swap is made if the hyperplane's loss falls below
    `current`. Changes B, w, V and best_w.

    Returns (current, best, next row to look at, looks in a row without a swap, whether the state is sound).
    """
    n, size = Y.shape
    in_basis = np.zeros(n, np.bool_)
    for k in range(size - 1):
        in_basis[B[k]] = True
    scratch = allocate_line_scratch(n)
    sorted_t, sorted_rows = scratch[4], scratch[5]
    idle, k = 0, first
    for _ in range(sweeps):
        f = np.dot(Y, w)
        leaving = B[k]
        v, u = release_row(w, V, k)
        g = np.dot(Y, v)
        count, _, least, at, sense = compute_line_losses(Y, c, f, g, u, in_basis, leaving, scratch)
        idle += 1
        if least < best - LOSS_TOLERANCE:
            alpha = pick_interval_point(sorted_t, count, at)
            best = keep_line_minimum(Y, c, w, v, u, in_basis, leaving, alpha, sense, best, best_w)
        if count > 0 and least < current - LOSS_TOLERANCE:
            end = min(at, count - 1)
            if end > 0 and abs(sorted_t[end - 1]) < abs(sorted_t[end]) and at > 0:
                end = at - 1
            entering = sorted_rows[end]
            if abs(g[entering]) > MIN_PIVOT_SLOPE and entering != leaving:
                in_basis[leaving], in_basis[entering] = False, True
                B[k] = entering
                exchange_row(Y, w, V, k, v, sorted_t[end], g[entering], entering)
                w *= sense
                if not rebuild_vertex(Y, B, w, V):
                    return current, best, k, idle, False
                current = least
                idle = 0
        k = (k + 1) % (size - 1)
        if idle >= size - 1:
            break
    return current, best, k, idle, True
