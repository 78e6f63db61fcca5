"""Random coordinate descent (Li & Lin 2007; Li's thesis 2006, section 2.3): an epoch is one line search.

The direction d is random, or the gradient of the perceptron criterion (RCD-grad); w always moves to w - t d
with the t of `line_search`. p = Xw is carried along, and the products Xd of a block of directions come from one
matrix product.

An epoch with N = 600 and m = 20 takes 1.9 us, 43 us in NumPy, which sorts: python -m pytest
tests/bench/test_speed.py --benchmark-only -k rcd.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.line_search import (
    MANY_SAMPLES,
    SAMPLES_PER_BLOCK,
    compute_blur,
    compute_typical_breakpoint,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
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

DIRECTIONS_PER_BLOCK = 64  # whose deltas come from one matrix product
# On tiny problems w grows exponentially. Its length is irrelevant: it is divided by a power of two, exactly.
MAX_WEIGHT = 2.0**500
SHRINKAGE_LIMIT = 1e-2  # of the longest w since p = Xw was computed: below, p's rounding errors are too large


@exact_kernel
def allocate_scratch(n, buckets):
    """Return workspace for `find_threshold_by_buckets`, in the order of its last arguments."""
    blocks = (n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK
    bucket = np.full(blocks * SAMPLES_PER_BLOCK, np.uint16(2 * buckets))  # entries beyond n are in no bucket
    histogram, prefix = np.empty(2 * buckets + 1, np.int64), np.empty(buckets, np.int64)
    return bucket, histogram, prefix, np.empty(n), np.empty(n, np.int32)


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
    s = compute_typical_breakpoint(p, delta)
    settled = False
    t, negate = 0.0, False
    if s > 0.0 and not both_directions:
        t, settled = find_threshold_by_buckets(p, delta, c, s, buckets, *scratch)
        if settled:
            settled = take_step(p, delta, t, 0.25 * compute_blur(t, s), q)
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
def multiply_directions(X, block, deltas):
    """Set the first rows of `deltas` (rows x N) to the products of `block`'s directions with all samples.

    For few directions and many samples: BLAS copies X first, which takes three times as long as reading it.
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
def fit_rcd(X, X_T, y, phi, w, D, both_directions, buckets, epochs_before, checkpoints, path, deltas):
    """Take one epoch per row of D (epochs x P), changing w; write w into `path` after each of `checkpoints`.

    p = Xw is recomputed every DIRECTIONS_PER_BLOCK epochs, and if w has become much shorter than it was, so
    that rounding errors neither add up nor outgrow p. `epochs_before` counts the epochs of earlier calls.
    `deltas` is workspace for a block of rows of length N: allocating it would cost as much as ten epochs, of
    200 in a round of boosting. X_T is X', or 0 x 0 if memory is short.
    """
    n = X.shape[0]
    epochs = D.shape[0]
    scratch, c = allocate_scratch(n, buckets), sign_weights(y, phi)
    p, q, longest = np.empty(n, np.float64), np.empty(n, np.float64), 0.0
    at = np.searchsorted(checkpoints, epochs_before + 1)
    multiplies_rows = n > MANY_SAMPLES and not both_directions and np.min(phi) > 0
    for start in range(0, epochs, deltas.shape[0]):
        block = D[start : start + deltas.shape[0]]
        if multiplies_rows:
            multiply_directions(X, block, deltas)
        elif X_T.shape[0] > 0:
            np.dot(block, X_T, deltas[: block.shape[0]])
        else:
            np.dot(block, X.T, deltas[: block.shape[0]])
        if start % DIRECTIONS_PER_BLOCK < deltas.shape[0]:
            longest = shorten_weights(w)
            np.dot(X, w, p)
        for row in range(block.shape[0]):
            delta, d = deltas[row], block[row]
            update_along_direction(p, q, delta, y, phi, c, w, d, both_directions, buckets, scratch)
            p, q = q, p
            length = compute_max_abs(w)
            if length < SHRINKAGE_LIMIT * longest:
                longest = length
                np.dot(X, w, p)
            longest = max(longest, length)
            at = save_checkpoint(w, epochs_before + start + row + 1, False, checkpoints, at, path)


@exact_kernel
def fit_rcd_gradient(X, y, phi, w, epochs, batch, seed, both_directions, buckets, checkpoints, path):
    """Take epochs of RCD-grad, whose direction is the perceptron criterion's gradient at the current w.

    The gradient is that of one misclassified sample, drawn at random until one is found but at most 2N times,
    or, if `batch`, the weighted sum over all misclassified ones.
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
