"""The pivot heat bath: a random walk over vertices of the arrangement of hyperplanes, for the 0/1 loss.

This algorithm is our own. `Y` is n x P, with rows y_i = label_i (1, x_i) scaled to length 1 and weights `c`;
w classifies row i correctly if <y_i, w> > 0. A vertex is a w for which P-1 independent rows (the basis B) have
margin 0. The state consists of the unit vector w and the matrix V, (P-1) x P, with Y_B V' = I: moving along V_k
changes the margin of no basis row but k.

A step releases one basis row. The whole line w + alpha v is then free, the loss on each of its intervals
follows from the sorted breakpoints, and one interval, of w or of -w, is drawn with probability proportional
to exp(-loss / T): a heat bath, which has no rejections. The row at one of its ends enters the basis. Basis
rows count as correct, since a small step along the sum of the V_j makes them so.

Most of a step goes into sorting breakpoints, which a scatter into buckets makes linear, and for many features
into the product Yv. On heart it takes 5.9 us, 118 us in NumPy: python -m pytest tests/bench/test_speed.py
--benchmark-only -k pivot.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel, kernel
from zoloss_cli.kernels.line_losses import (
    LOSS_TOLERANCE,
    MANY_ROWS,
    allocate_bucket_scratch,
    allocate_line_scratch,
    compute_line_losses,
    compute_near_losses,
    keep_line_minimum,
    pick_interval_point,
)
from zoloss_cli.kernels.numeric import GOLDEN_GAMMA, copy_vector, invert_in_place, mix_bits, scale_to_index

MIN_PIVOT_SLOPE = 1e-7  # a row whose margin changes by less along v nearly depends on the rest of the basis
MIN_SLOPE = 1e-9  # a row whose margin changes by less along a random direction is skipped
STEPS_PER_REBUILD = 64  # after which w and V are recomputed, before rounding errors add up
MAX_EXCESS_IN_T = 30.0  # an interval whose loss is larger by this many T is never drawn
SPACING_53_BITS = 2.0**-53  # between the numbers that `draw_uniform` can return


@exact_kernel
def draw_uniform(counter):
    """Return the uniform random number in [0, 1) of this counter."""
    return float(mix_bits(counter) >> np.uint64(11)) * SPACING_53_BITS


@kernel
def normalize(w):
    """Scale w to length 1."""
    length = np.sqrt(np.dot(w, w))
    for j in range(w.shape[0]):
        w[j] /= length


@kernel
def remove_part(d, q):
    """Remove from d its component along the unit vector q."""
    d -= np.dot(q, d) * q


@kernel
def rebuild_vertex(Y, B, w, V):
    """Recompute w and V from the basis; return False if its rows are too few or no longer independent."""
    size = w.shape[0]
    if B.shape[0] < size - 1:
        return False
    columns = np.empty((size, size), np.float64)  # of the matrix whose rows are the basis and w
    for j in range(size):
        for k in range(size - 1):
            columns[j, k] = Y[B[k], j]
        columns[j, size - 1] = w[j]
    if not invert_in_place(columns):
        return False
    for k in range(size - 1):
        copy_vector(columns[k], V[k])
    copy_vector(columns[size - 1], w)
    normalize(w)
    return True


@kernel
def slide_to_vertex(Y, w, B, V, counter):
    """Move from any w to a vertex, P-1 times in a random direction that keeps the rows met so far at 0.

    Changes w, B and V. Returns (advanced counter, whether a vertex was reached).
    """
    n, size = Y.shape
    Q = np.zeros((size, size), np.float64)  # orthonormal: the rows met so far
    normalize(w)
    for k in range(size - 1):
        d = np.empty(size, np.float64)
        for j in range(size):
            counter += GOLDEN_GAMMA
            d[j] = draw_uniform(counter) - 0.5
        for _ in range(2):  # twice: once is not orthogonal enough
            for q in range(k):
                remove_part(d, Q[q])
            remove_part(d, w)
        normalize(d)
        f, g = np.dot(Y, w), np.dot(Y, d)
        nearest, chosen = np.inf, -1
        for i in range(n):
            if abs(g[i]) > MIN_SLOPE:
                alpha = -f[i] / g[i]
                if abs(alpha) < abs(nearest):
                    nearest, chosen = alpha, i
        if chosen < 0:
            return counter, False
        w += nearest * d
        B[k] = chosen
        q_k = Y[chosen].copy()
        for _ in range(2):
            for q in range(k):
                remove_part(q_k, Q[q])
        normalize(q_k)
        copy_vector(q_k, Q[k])
        for q in range(k + 1):
            remove_part(w, Q[q])
        normalize(w)
    return counter, rebuild_vertex(Y, B, w, V)


@kernel
def draw_interval(losses, count, turned, least, T, share, near, odds):
    """Return (interval, 1 for w or -1 for -w), drawn with probability proportional to exp(-loss / T).

    `share` is uniform in [0, 1); `near` and `odds` are workspace for all intervals of w and of -w. Only
    intervals in reach get odds; they are selected without branches, see `compute_line_losses`.
    """
    reach = least + MAX_EXCESS_IN_T * T
    found = 0
    for j in range(count + 1):
        near[found] = j
        found += losses[j] < reach
    upright = found
    for j in range(count + 1):
        near[found] = j
        found += (turned - losses[j] < reach) & (losses[j] < np.inf)
    total = 0.0
    for m in range(found):
        loss = losses[near[m]]
        total += np.exp((least - (loss if m < upright else turned - loss)) / T)
        odds[m] = total
    m = 0
    while m < found - 1 and odds[m] < share * total:
        m += 1
    return near[m], 1.0 if m < upright else -1.0


@kernel
def release_row(w, V, k):
    """Release basis row k; return the unit direction v that this frees, and u, along which others gain."""
    size = w.shape[0]
    v, u = np.empty(size, np.float64), np.zeros(size, np.float64)
    share = np.dot(w, V[k])
    for j in range(size):
        v[j] = V[k, j] - share * w[j]
    normalize(v)
    for row in range(V.shape[0]):
        if row != k:
            for j in range(size):
                u[j] += V[row, j]
    return v, u


@kernel
def exchange_row(Y, w, V, k, v, alpha, slope, entering):
    """Exchange basis row k for the row at alpha, whose margin changes by `slope` along v; change w and V."""
    w += alpha * v
    normalize(w)
    copy_vector(v / slope, V[k])
    shares = np.dot(V, Y[entering])
    for j in range(V.shape[0]):
        if j != k:
            row = V[j]
            row -= shares[j] * V[k]  # as two steps: fused, they would change the walks of stored results


@kernel
def walk_vertices(Y, c, w, B, V, steps, hot, cold, counter, best_w, best):
    """Take steps from `hot` to `cold`, changing w, B, V, best_w; return (best loss, counter, is sound)."""
    n, size = Y.shape
    in_basis = np.zeros(n, np.bool_)
    for k in range(size - 1):
        in_basis[B[k]] = True
    scratch = allocate_line_scratch(n)
    bucket_scratch = allocate_bucket_scratch(n if n > MANY_ROWS else 0)
    sorted_t, sorted_rows, losses, near, odds = scratch[4:]
    f, g = np.dot(Y, w), np.empty(n, np.float64)
    for step in range(steps):
        if step % STEPS_PER_REBUILD == STEPS_PER_REBUILD - 1:
            if not rebuild_vertex(Y, B, w, V):
                return best, counter, False
            f = np.dot(Y, w)
        T = hot * (cold / hot) ** (step / max(1, steps - 1))
        counter += GOLDEN_GAMMA
        k = np.int64(scale_to_index(mix_bits(counter), np.uint64(size - 1)))
        leaving = B[k]
        v, u = release_row(w, V, k)
        np.dot(Y, v, g)

        if n > MANY_ROWS:
            count, turned, least, least_at, sense = compute_near_losses(
                Y, c, f, g, u, in_basis, leaving, MAX_EXCESS_IN_T * T, scratch, bucket_scratch
            )
        else:
            count, turned, least, least_at, sense = compute_line_losses(
                Y, c, f, g, u, in_basis, leaving, scratch
            )
        if least < best - LOSS_TOLERANCE:
            alpha = pick_interval_point(sorted_t, count, least_at)
            best = keep_line_minimum(Y, c, w, v, u, in_basis, leaving, alpha, sense, best, best_w)
            if best <= 0.0:
                return best, counter, True

        if count == 0:  # no margin changes along v: nothing can enter the basis
            continue
        counter += GOLDEN_GAMMA
        chosen, sense = draw_interval(losses, count, turned, least, T, draw_uniform(counter), near, odds)
        counter += GOLDEN_GAMMA
        end = chosen if mix_bits(counter) >> np.uint64(63) else chosen - 1
        end = min(max(end, 0), count - 1)
        entering, alpha = sorted_rows[end], sorted_t[end]
        if abs(g[entering]) < MIN_PIVOT_SLOPE:
            continue
        in_basis[leaving] = False
        in_basis[entering] = True
        B[k] = entering
        length = np.sqrt(1.0 + alpha * alpha)  # of w + alpha v, the sum of orthogonal vectors
        exchange_row(Y, w, V, k, v, alpha, g[entering], entering)
        for j in range(size):
            w[j] *= sense
        for i in range(n):
            f[i] = sense * (f[i] + alpha * g[i]) / length
    return best, counter, True


@kernel
def descend_by_swaps(Y, c, B, w, V, current, best, best_w, sweeps, first):
    """Replace basis rows, in turn from `first` on, by their best replacements, if these lower the loss.

    One of the `sweeps` examines all replacements of one basis row. Changes B, w, V and best_w.

    Returns (current, best, next row to examine, consecutive rows without a swap, whether the state is sound).
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
