"""An epoch of random coordinate descent on many samples, in one pass over them.

If samples do not fit into the caches, an epoch costs what it reads and writes. The step p <- p - t delta is
therefore deferred to the next line search, which needs the new p block by block, and the labels are read as
one byte each. Results are those of `rcd.update_along_direction`, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numba import int8, uint64

from zoloss_cli.kernels import exact_kernel, kernel
from zoloss_cli.kernels.buckets import (
    SAMPLES_PER_BLOCK,
    SAMPLES_PER_ESTIMATE,
    estimate_typical_breakpoint,
    find_bucket,
)
from zoloss_cli.kernels.lanes import LANES, add_lane_products, fill_lanes, load_lanes, store_lanes
from zoloss_cli.kernels.line_search import (
    compute_blur,
    find_threshold_at_zero,
    find_threshold_by_sorting,
    find_threshold_in_buckets,
    take_step,
)

DIFFERENT, ZERO = 0, -1  # what `find_signs` returns if samples do not share one nonzero weight


@exact_kernel
def find_signs(c):
    """Return the signs of c and the weight of all samples; DIFFERENT if they differ, ZERO if one weighs 0."""
    signs = np.empty(c.shape[0], np.int8)
    weight, has_zero = abs(c[0]), False
    for i in range(c.shape[0]):
        signs[i] = int8(1) if c[i] > 0 else int8(-1)
        weight = weight if abs(c[i]) == weight else DIFFERENT
        has_zero |= c[i] == 0
    return signs, ZERO if has_zero else weight


@exact_kernel
def multiply_directions(X, block, deltas):
    """Set the first rows of `deltas` (rows x N) to the products of `block`'s directions with all samples.

    This is for few directions and many samples: the library's matrix product first copies X, which takes
    three times as long as reading it.
    """
    n, P = X.shape
    rows = block.shape[0]
    groups = (rows + LANES - 1) // LANES
    columns = np.zeros((groups, P, LANES), np.float64)
    for row in range(rows):
        for j in range(P):
            columns[row // LANES, j, row % LANES] = block[row, j]
    room = np.zeros((SAMPLES_PER_BLOCK, LANES), np.float64)
    for start in range(0, n, SAMPLES_PER_BLOCK):
        size = min(n - start, SAMPLES_PER_BLOCK)
        for group in range(groups):
            for k in range(0, size, 4):
                i_1, i_2 = uint64(start + k), uint64(min(start + k + 1, n - 1))
                i_3, i_4 = uint64(min(start + k + 2, n - 1)), uint64(min(start + k + 3, n - 1))
                sum_1 = sum_2 = sum_3 = sum_4 = fill_lanes(0.0)
                for j in range(uint64(P)):
                    d = load_lanes(columns, (group * P + np.int64(j)) * LANES)
                    sum_1 = add_lane_products(sum_1, d, fill_lanes(X[i_1, j]))
                    sum_2 = add_lane_products(sum_2, d, fill_lanes(X[i_2, j]))
                    sum_3 = add_lane_products(sum_3, d, fill_lanes(X[i_3, j]))
                    sum_4 = add_lane_products(sum_4, d, fill_lanes(X[i_4, j]))
                store_lanes(room, k * LANES, sum_1)
                store_lanes(room, (k + 1) * LANES, sum_2)
                store_lanes(room, (k + 2) * LANES, sum_3)
                store_lanes(room, (k + 3) * LANES, sum_4)
            for row in range(group * LANES, min((group + 1) * LANES, rows)):
                for k in range(size):
                    deltas[row, start + k] = room[k, row % LANES]


@exact_kernel
def step_block(p, before, t, start, size):
    """Take the deferred step for one block of samples."""
    for i in range(start, start + size):
        p[i] -= t * before[i]


@kernel
def estimate_scale(p, before, t, delta):
    """Return sum|p| / sum|delta| over some samples after the deferred step; 0 if either sum is 0."""
    sum_p, sum_delta = 0.0, 0.0
    for start in range(0, p.shape[0] - SAMPLES_PER_BLOCK + 1, SAMPLES_PER_ESTIMATE):
        for i in range(start, start + SAMPLES_PER_BLOCK):
            sum_p += abs(p[i] - t * before[i])
            sum_delta += abs(delta[i])
    return sum_p / sum_delta if sum_delta > 0.0 else 0.0


@kernel
def step_and_fill_buckets(p, before, t, delta, c, signs, weight, s, buckets, bucket, histogram):
    """Take the deferred step, then do the same as `fill_buckets`."""
    n = p.shape[0]
    half = 0.5 * buckets
    for b in range(histogram.shape[0]):
        histogram[b] = 0
    for block in range((n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK):
        start = uint64(block) * uint64(SAMPLES_PER_BLOCK)
        size = min(uint64(n) - start, uint64(SAMPLES_PER_BLOCK))
        step_block(p, before, t, start, size)
        for j in range(size):
            i = start + j
            bucket[i] = find_bucket(p[i], delta[i], signs[i] > 0, s, half, buckets)
        if weight == DIFFERENT:
            for j in range(size):
                histogram[np.int64(bucket[start + j])] += abs(c[start + j])
        else:
            for j in range(size):
                histogram[np.int64(bucket[start + j])] += 1
    if weight != DIFFERENT:
        for b in range(histogram.shape[0]):
            histogram[b] *= weight


@exact_kernel
def has_clash(p, delta, t, closest, near_i, count):
    """Return whether a candidate's breakpoint is within `closest` of t; `take_step` checks all samples."""
    for j in range(count):
        i = near_i[j]
        if abs(p[i] - t * delta[i]) <= closest * abs(delta[i]) and delta[i] != 0.0:
            return True
    return False


@exact_kernel
def update_in_one_pass(p, before, t, delta, y, phi, c, signs, weight, w, d, buckets, scratch):
    """Take the deferred step p <- p - t before, and update w along d; return the t of the next step.

    Does the same as `rcd.update_along_direction` in the positive direction, but defers its step
    p <- p - t delta to the next call. No sample may have a weight of 0.
    """
    bucket, histogram, prefix, near_r, near_i = scratch
    s = estimate_scale(p, before, t, delta)
    if s == 0.0:
        take_step(p, before, t, 0.0, p)
        t, s = 0.0, estimate_typical_breakpoint(p, delta)
    if s > 0.0:
        step_and_fill_buckets(p, before, t, delta, c, signs, weight, s, buckets, bucket, histogram)
        t, settled, count = find_threshold_in_buckets(
            p, delta, c, s, buckets, bucket, histogram, prefix, near_r, near_i
        )
        settled = settled and not has_clash(p, delta, t, 0.25 * compute_blur(t, s), near_i, count)
    else:
        t, settled = find_threshold_at_zero(p, delta, y, phi)
    if not settled:
        t, _ = find_threshold_by_sorting(p, delta, y, phi, s, False)
    for j in range(w.shape[0]):
        w[j] -= t * d[j]
    return t
