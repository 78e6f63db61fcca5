"""An epoch of random coordinate descent on many samples, in one pass over them.

If samples do not fit into the caches, an epoch costs what it reads and writes. The step p <- p - t delta is
therefore deferred to the next line search, which needs the new p block by block, and the labels are read as
one byte each. Results are those of `rcd.update_along_direction`, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numba import int8, uint64

from zoloss_cli.kernels import exact_kernel, kernel
from zoloss_cli.kernels.line_search import (
    MANY_SAMPLES,
    SAMPLES_PER_BLOCK,
    SAMPLES_PER_ESTIMATE,
    compute_blur,
    compute_typical_breakpoint,
    estimate_typical_breakpoint,
    find_bucket,
    find_threshold_at_zero,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
    find_threshold_in_buckets,
    take_step,
)
from zoloss_cli.kernels.numeric import (
    GOLDEN_GAMMA,
    LANES,
    add_lane_products,
    compute_max_abs,
    copy_vector,
    fill_lanes,
    load_lanes,
    mix_bits,
    scale_to_index,
    store_lanes,
)
from zoloss_cli.kernels.online import save_checkpoint

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


# At N = 600 and m = 20, an epoch is bounded by the matrix product for delta, a division per sample, and the
# sums of weights in buckets, each a few hundred nanoseconds; `make bench` prints the figures.

DIRECTIONS_PER_BLOCK = 64  # whose deltas come from one matrix product
# On tiny problems w grows exponentially with the epochs. Its length means nothing, so it is scaled down by a
# power of two, which is exact, long before it could overflow.
MAX_WEIGHT = 2.0**500
SHRINKAGE_LIMIT = 1e-2  # of the longest w since p = Xw was computed: below, p's rounding errors are too large


@exact_kernel
def allocate_scratch(n, buckets):
    """Return workspace for `find_threshold_by_buckets`, in the order of its last arguments."""
    blocks = (n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK
    return (
        np.full(
            blocks * SAMPLES_PER_BLOCK, np.uint16(2 * buckets)
        ),  # whole blocks; entries beyond n are in no bucket
        np.empty(2 * buckets + 1, np.int64),
        np.empty(buckets, np.int64),
        np.empty(n, np.float64),
        np.empty(n, np.int32),
    )


@exact_kernel
def sign_weights(y, phi):
    """Return the products y_i phi_i of labels and fixed-point weights."""
    c = np.empty(phi.shape[0], np.int64)
    for i in range(phi.shape[0]):
        c[i] = phi[i] if y[i] > 0.0 else -phi[i]
    return c


@exact_kernel
def shorten_weights(w):
    """Scale w down if it is too long; return its length (the largest absolute component)."""
    length = compute_max_abs(w)
    if length > MAX_WEIGHT:
        w /= MAX_WEIGHT
        length /= MAX_WEIGHT
    return length


@exact_kernel
def update_along_direction(p, q, delta, y, phi, c, w, d, both_directions, buckets, scratch):
    """Update w <- w - t d with the t of the line search, always moving, and set q to the new Xw.

    p = Xw, delta = Xd and q have length N; `scratch` is that of `allocate_scratch`.
    """
    bucket, histogram, prefix, near_r, near_i = scratch
    s = compute_typical_breakpoint(p, delta)
    settled = False
    t, negate = 0.0, False
    if s > 0.0 and not both_directions:
        t, settled = find_threshold_by_buckets(
            p, delta, c, s, buckets, bucket, histogram, prefix, near_r, near_i
        )
        if settled:
            settled = take_step(p, delta, t, 0.25 * compute_blur(t, s), q)
    elif s == 0.0 and not both_directions:
        t, settled = find_threshold_at_zero(p, delta, y, phi)
        take_step(p, delta, t, 0.0, q)
    if not settled:
        t, negate = find_threshold_by_sorting(p, delta, y, phi, s, both_directions)
        take_step(p, delta, t, 0.0, q)
    for j in range(w.shape[0]):
        w[j] -= t * d[j]
    if negate:
        for j in range(w.shape[0]):
            w[j] = -w[j]
        for i in range(q.shape[0]):
            q[i] = -q[i]


@exact_kernel
def fit_rcd(X, X_T, y, phi, w, D, both_directions, buckets, epochs_before, checkpoints, path, deltas):
    """Take one epoch per row of D (epochs x P), changing w; write w into `path` after each of `checkpoints`.

    p = Xw is carried along; it is recomputed every DIRECTIONS_PER_BLOCK epochs, and if w has become much
    shorter than it was, so that rounding errors neither add up nor outgrow p. `epochs_before` is the number
    of epochs in earlier calls, so that a long fit can be done in parts. `deltas` is workspace for a block of
    rows of length N: if it were allocated in each call, its pages would cost as much as ten epochs, which
    matters when boosting calls this function for 200 epochs at a time. X_T is X', or 0 x 0 if memory is
    short.
    """
    n = X.shape[0]
    epochs = D.shape[0]
    scratch, c = allocate_scratch(n, buckets), sign_weights(y, phi)
    p, q, longest = np.empty(n, np.float64), np.empty(n, np.float64), 0.0
    at = np.searchsorted(checkpoints, epochs_before + 1)
    signs, weight = find_signs(c)
    in_one_pass = n > MANY_SAMPLES and not both_directions and weight >= 0
    t = 0.0
    for start in range(0, epochs, deltas.shape[0]):
        block = D[start : start + deltas.shape[0]]
        if in_one_pass:
            multiply_directions(X, block, deltas)
        elif X_T.shape[0] > 0:
            np.dot(block, X_T, deltas[: block.shape[0]])
        else:
            np.dot(block, X.T, deltas[: block.shape[0]])
        if start % DIRECTIONS_PER_BLOCK < deltas.shape[0]:
            longest = shorten_weights(w)
            np.dot(X, w, p)
        for row in range(block.shape[0]):
            if in_one_pass:
                before = deltas[max(row - 1, 0)]
                t = update_in_one_pass(
                    p, before, t, deltas[row], y, phi, c, signs, weight, w, block[row], buckets, scratch
                )
            else:
                update_along_direction(
                    p, q, deltas[row], y, phi, c, w, block[row], both_directions, buckets, scratch
                )
                p, q = q, p
            length = compute_max_abs(w)
            if length < SHRINKAGE_LIMIT * longest:
                longest, t = length, 0.0
                np.dot(X, w, p)
            longest = max(longest, length)
            at = save_checkpoint(w, epochs_before + start + row + 1, False, checkpoints, at, path)
        if in_one_pass:
            take_step(p, deltas[block.shape[0] - 1], t, 0.0, p)
            t = 0.0


@exact_kernel
def fit_rcd_gradient(X, y, phi, w, epochs, batch, seed, both_directions, buckets, checkpoints, path):
    """Take epochs of RCD-grad, whose direction is the perceptron criterion's gradient at the current w.

    The gradient is that of one misclassified sample, drawn at random until one is found but at most 2N times,
    or, if `batch`, the weighted sum over all misclassified ones (if there are none, there is nothing left to
    do).
    """
    n = X.shape[0]
    scratch, c = allocate_scratch(n, buckets), sign_weights(y, phi)
    q = np.empty(n, np.float64)
    p = np.dot(X, w)
    d = np.empty(w.shape[0], np.float64)
    counter = seed
    longest = shorten_weights(w)
    at = 0
    for epoch in range(1, epochs + 1):
        length = shorten_weights(w)
        if epoch % DIRECTIONS_PER_BLOCK == 0 or length < SHRINKAGE_LIMIT * longest:
            longest = length
            p = np.dot(X, w)
        longest = max(longest, length)
        if batch:
            d[:] = 0.0
            for i in range(n):
                if y[i] * p[i] <= 0.0:
                    for j in range(d.shape[0]):
                        d[j] += phi[i] * y[i] * X[i, j]
            largest = compute_max_abs(d)
            if largest > 0.0:
                d /= largest
        else:
            for _ in range(2 * n):
                counter += GOLDEN_GAMMA
                i = np.int64(scale_to_index(mix_bits(counter), uint64(n)))
                if y[i] * p[i] <= 0.0:
                    break
            copy_vector(X[i], d)
        delta = np.dot(X, d)
        update_along_direction(p, q, delta, y, phi, c, w, d, both_directions, buckets, scratch)
        p, q = q, p
        at = save_checkpoint(w, epoch, False, checkpoints, at, path)
