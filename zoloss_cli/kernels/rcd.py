"""Random coordinate descent: Li & Lin (2007), Fig. 2; Li's thesis (2006), Algorithm 2.5.

What bounds an epoch at N = 600, m = 20: the matrix product for delta, the scatter into buckets and the
pass that collects candidates, each a few hundred nanoseconds; `make bench` prints the figures.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.line_search import (
    blur,
    fast_threshold,
    sorted_threshold,
    step_margins,
    threshold_at_zero,
    typical_breakpoint,
)
from zoloss_cli.kernels.random import GOLDEN, index_of, mix

DIRECTIONS_A_BLOCK = 64
# On tiny problems w grows exponentially with the epochs. Its length means nothing, so it is brought back
# by a power of two, which rounds nothing, long before it could overflow.
LONGEST = 2.0**500
SHRUNK = 1e-2


@exact_kernel
def scratch_arrays(n, buckets):
    return (
        np.empty(n, np.int32),
        np.empty(2 * buckets + 1, np.int64),
        np.empty(buckets, np.int64),
        np.empty(2 * buckets + 1, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.float64),
        np.empty(n, np.int32),
    )


@exact_kernel
def largest(w):
    length = 0.0
    for j in range(w.shape[0]):
        length = max(length, abs(w[j]))
    return length


@exact_kernel
def shorten(w):
    """Bring an overlong w back; returns its length (the largest component)."""
    length = largest(w)
    if length > LONGEST:
        w /= LONGEST
        length /= LONGEST
    return length


@exact_kernel
def update(p, q, delta, y, phi, w, d, both_directions, buckets, scratch):
    """One update: w <- w - t d, always moving, and q <- the new margins' inner products."""
    bucket, histogram, prefix, head, link, near_r, near_i = scratch
    s = typical_breakpoint(p, delta)
    settled = False
    t, negate = 0.0, False
    if s > 0.0 and not both_directions:
        t, settled = fast_threshold(
            p, delta, y, phi, s, buckets, bucket, histogram, prefix, head, link, near_r, near_i
        )
        if settled:
            settled = step_margins(p, delta, t, 0.25 * blur(t, s), q)
    elif s == 0.0 and not both_directions:
        t, settled = threshold_at_zero(p, delta, y, phi)
        step_margins(p, delta, t, 0.0, q)
    if not settled:
        t, negate = sorted_threshold(p, delta, y, phi, s, both_directions)
        step_margins(p, delta, t, 0.0, q)
    for j in range(w.shape[0]):
        w[j] -= t * d[j]
    if negate:
        for j in range(w.shape[0]):
            w[j] = -w[j]
        for i in range(q.shape[0]):
            q[i] = -q[i]


@exact_kernel
def rcd(X, X_T, y, phi, w, D, both_directions, buckets, epochs_before, checkpoints, path, deltas):
    """One epoch a row of D. Changes w; writes w into `path` after the epochs named in `checkpoints`.

    p = Xw is carried along; it is recomputed once a block, and where w has become much shorter than it
    was, so that rounding errors neither add up nor outgrow p.
    `epochs_before` counts the epochs of earlier calls, so that a long run can come in pieces. `deltas`
    is room for DIRECTIONS_A_BLOCK rows of N: taken anew each call, its pages would cost as much as ten
    epochs, which shows where boosting calls this every 200.
    """
    n = X.shape[0]
    epochs = D.shape[0]
    scratch = scratch_arrays(n, buckets)
    q = np.empty(n, np.float64)
    at = np.searchsorted(checkpoints, epochs_before + 1)
    for start in range(0, epochs, DIRECTIONS_A_BLOCK):
        block = D[start : start + DIRECTIONS_A_BLOCK]
        np.dot(block, X_T, deltas[: block.shape[0]])
        longest = shorten(w)
        p = np.dot(X, w)
        for row in range(block.shape[0]):
            update(p, q, deltas[row], y, phi, w, block[row], both_directions, buckets, scratch)
            p, q = q, p
            length = largest(w)
            if length < SHRUNK * longest:
                longest = length
                p = np.dot(X, w)
            longest = max(longest, length)
            if at < checkpoints.shape[0] and checkpoints[at] == epochs_before + start + row + 1:
                path[at] = w
                at += 1


@exact_kernel
def rcd_gradient(X, y, phi, w, epochs, batch, seed, both_directions, buckets, checkpoints, path):
    """RCD-grad: the direction is the perceptron criterion's gradient at the current w.

    One misclassified example, drawn until one is found but at most 2N times; or, as `batch`, the
    weighted sum over all misclassified ones (nothing is left to do when there is none).
    """
    n = X.shape[0]
    scratch = scratch_arrays(n, buckets)
    q = np.empty(n, np.float64)
    p = np.dot(X, w)
    d = np.empty(w.shape[0], np.float64)
    counter = seed
    longest = shorten(w)
    at = 0
    for epoch in range(1, epochs + 1):
        length = shorten(w)
        if epoch % DIRECTIONS_A_BLOCK == 0 or length < SHRUNK * longest:
            longest = length
            p = np.dot(X, w)
        longest = max(longest, length)
        if batch:
            d[:] = 0.0
            for i in range(n):
                if y[i] * p[i] <= 0.0:
                    for j in range(d.shape[0]):
                        d[j] += phi[i] * y[i] * X[i, j]
            largest = np.max(np.abs(d))
            if largest > 0.0:
                d /= largest
        else:
            for _ in range(2 * n):
                counter += GOLDEN
                i = np.int64(index_of(mix(counter), uint64(n)))
                if y[i] * p[i] <= 0.0:
                    break
            d[:] = X[i]
        delta = np.dot(X, d)
        update(p, q, delta, y, phi, w, d, both_directions, buckets, scratch)
        p, q = q, p
        if at < checkpoints.shape[0] and checkpoints[at] == epoch:
            path[at] = w
            at += 1
