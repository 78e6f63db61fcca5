"""Swapping one of the points that a hyperplane passes through for another, as long as errors fall."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.line import BETTER, inside, line_scratch, losses_on_line, off_the_vertex, strict_loss
from zoloss_cli.kernels.pivot import SHALLOW, exchange, refresh, release


@kernel
def descend(Y, c, B, w, V, current, best, best_w, sweeps, first):
    """Up to `sweeps` looks at one basis row each, in turn from the `first`: its best replacement.

    A swap is made if the hyperplane's loss falls below `current`. Changes B, w, V and best_w. Returns
    (current, best, the next row to look at, looks in a row without a swap, whether the state is sound).
    """
    n, size = Y.shape
    in_basis = np.zeros(n, np.bool_)
    for k in range(size - 1):
        in_basis[B[k]] = True
    scratch = line_scratch(n)
    sorted_t, sorted_rows = scratch[4], scratch[5]
    idle, k = 0, first
    for _ in range(sweeps):
        f = np.dot(Y, w)
        leaving = B[k]
        v, u = release(w, V, k)
        g = np.dot(Y, v)
        count, _, least, at, sense = losses_on_line(Y, c, f, g, u, in_basis, leaving, scratch)
        idle += 1
        if least < best - BETTER:
            point = sense * (w + inside(sorted_t, count, at) * v)
            candidate = off_the_vertex(Y, point, u, in_basis, leaving)
            found = strict_loss(Y, c, candidate)
            if found < best - BETTER:
                best = found
                best_w[:] = candidate
        if least < current - BETTER:
            end = min(at, count - 1)
            if end > 0 and abs(sorted_t[end - 1]) < abs(sorted_t[end]) and at > 0:
                end = at - 1
            entering = sorted_rows[end]
            if abs(g[entering]) > SHALLOW and entering != leaving:
                in_basis[leaving], in_basis[entering] = False, True
                B[k] = entering
                exchange(Y, w, V, k, v, sorted_t[end], g[entering], entering)
                w *= sense
                if not refresh(Y, B, w, V):
                    return current, best, k, idle, False
                current = least
                idle = 0
        k = (k + 1) % (size - 1)
        if idle >= size - 1:
            break
    return current, best, k, idle, True
