"""Random coordinate descent: Li & Lin (2007), Fig. 2; Li's thesis (2006), Algorithm 2.5.

At N = 600 and m = 20, an epoch is bounded by the matrix product for delta, a division per sample, and the
sums of weights in buckets, each a few hundred nanoseconds; `make bench` prints the figures.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.arrays import compute_max_abs, copy_vector
from zoloss_cli.kernels.buckets import SAMPLES_PER_BLOCK
from zoloss_cli.kernels.checkpoints import save_checkpoint
from zoloss_cli.kernels.line_search import (
    MANY_SAMPLES,
    compute_blur,
    compute_typical_breakpoint,
    find_threshold_at_zero,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
    take_step,
)
from zoloss_cli.kernels.random import GOLDEN_GAMMA, mix_bits, scale_to_index
from zoloss_cli.kernels.rcd_of_many import find_signs, multiply_directions, update_in_one_pass

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
