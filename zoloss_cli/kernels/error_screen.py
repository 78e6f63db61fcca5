"""Weighted errors of linear scores on all samples: whether they reach a bound, decided in single precision.

Most weight vectors that a search tries are worse than the best so far, and by how much does not matter. The
screen holds the samples in float32, those misclassified most often first, so that a part of them is enough
for the errors to reach the bound. It reports this only if rounding cannot be the cause.

`Z` (N x P, P a multiple of four) has rows y x, `Z_T` is its transpose, and `phi` holds fixed-point weights.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel, kernel
from zoloss_cli.kernels.arrays import compute_squared_norm
from zoloss_cli.kernels.lanes import (
    SINGLE_LANES,
    add_single_products,
    fill_singles,
    load_singles,
    sum_weights_below,
)

SAMPLES_PER_BLOCK = 4 * SINGLE_LANES  # of the screen
SAMPLES_PER_COUNT = 128  # whose margins stay in registers and the first-level cache
BUCKETS = 256  # of samples that are about equally hard
MAX_TOTAL_GRAINS = 2**30  # of weight, so that sums in int32 do not overflow
SINGLE_ROUNDING = 2.0**-24
MIN_SINGLE = 1e-30  # more than underflow in single precision can lose


@kernel
def sum_error_weights_up_to(Z_T, phi, w, bound):
    """Return the weighted error of w, or some value >= bound as soon as it is known to reach the bound.

    Works on columns of Z (Z_T is P x N), a block of samples at a time, so that sums over features need no
    horizontal addition. The number of features is a multiple of four.
    """
    n = phi.shape[0]
    room = np.empty(SAMPLES_PER_COUNT, np.float64)
    error = 0
    for start in range(0, n, SAMPLES_PER_COUNT):
        stop = min(start + SAMPLES_PER_COUNT, n)
        margins = room[: stop - start]
        margins[:] = 0.0
        for j in range(0, w.shape[0], 4):
            z_0, z_1 = Z_T[j, start:stop], Z_T[j + 1, start:stop]
            z_2, z_3 = Z_T[j + 2, start:stop], Z_T[j + 3, start:stop]
            for i in range(stop - start):
                margins[i] += w[j] * z_0[i] + w[j + 1] * z_1[i] + w[j + 2] * z_2[i] + w[j + 3] * z_3[i]
        for i in range(stop - start):
            error += phi[start + i] if margins[i] <= 0.0 else 0
        if error >= bound:
            return error
    return error


@exact_kernel
def sort_by_hardness(phi, missed, drawn_by_weight):
    """Return the indices of all samples, those with the largest weight times mistakes so far first.

    If samples are drawn by weight, the number of mistakes already contains that factor. Without any mistakes,
    the heaviest samples come first. Sorting into buckets is exact enough.
    """
    n = phi.shape[0]
    total = 0.0
    for i in range(n):
        total += phi[i]
    hardness = np.empty(n, np.float64)
    largest = 0.0
    for i in range(n):
        weight = n * (phi[i] / total)
        hardness[i] = 0.25 * weight + missed[i] * (1.0 if drawn_by_weight else weight)
        largest = max(largest, hardness[i])
    starts = np.zeros(BUCKETS + 1, np.int64)
    bucket = np.empty(n, np.int64)
    for i in range(n):
        bucket[i] = BUCKETS - 1 - np.int64((BUCKETS - 1) * (hardness[i] / largest))
        starts[bucket[i] + 1] += 1
    for b in range(BUCKETS):
        starts[b + 1] += starts[b]
    order = np.empty(n, np.int64)
    for i in range(n):
        order[starts[bucket[i]]] = i
        starts[bucket[i]] += 1
    return order


@exact_kernel
def build_screen(Z, phi, missed, drawn_by_weight, longest_row, n):
    """Return (columns, weights, grain, longest_row) of the n hardest samples for `has_errors_up_to`.

    `missed` holds how often each sample has been misclassified so far, and `drawn_by_weight` says how those
    trials drew samples. `columns` holds the columns of Z in blocks of samples, and `weights` are in whole
    grains: 1 each if all are equal.
    """
    P = Z.shape[1]
    order = sort_by_hardness(phi, missed, drawn_by_weight)
    total, is_equal = 0, True
    for i in range(phi.shape[0]):
        total += phi[i]
        is_equal &= phi[i] == phi[0]
    grain = phi[0] if is_equal else total // MAX_TOTAL_GRAINS + 1
    n_blocks = (n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK
    columns = np.zeros((n_blocks, P, SAMPLES_PER_BLOCK), np.float32)
    weights = np.zeros((n_blocks, SAMPLES_PER_BLOCK), np.int32)
    for i in range(n):
        k, block, place = order[i], i // SAMPLES_PER_BLOCK, i % SAMPLES_PER_BLOCK
        weights[block, place] = phi[k] // grain
        for j in range(P):
            columns[block, j, place] = Z[k, j]
    return columns, weights, grain, longest_row


@exact_kernel
def has_errors_up_to(w, screen, bound):
    """Return whether the weighted error of w is certainly >= bound; False leaves it open.

    A margin in single precision, of rounded w and x, is off by at most (P + 4) u |w| |x| with
    u = SINGLE_ROUNDING; one below -(2 P + 16) u |w| |x|, more than twice that, is an error. Weights in whole
    grains are rounded down, and the bound is rounded up.
    """
    columns, weights, grain, longest_row = screen
    n_blocks, P, _ = columns.shape
    need = (bound + grain - 1) // grain
    size = np.sqrt(compute_squared_norm(w)) * longest_row
    limit = np.float32(-(2.0 * P + 16.0) * SINGLE_ROUNDING * size - MIN_SINGLE)
    error = 0
    for block in range(n_blocks):
        m_1 = m_2 = m_3 = m_4 = fill_singles(np.float32(0.0))
        for j in range(P):
            at = (block * P + j) * SAMPLES_PER_BLOCK
            v = fill_singles(np.float32(w[j]))
            m_1 = add_single_products(m_1, v, load_singles(columns, at))
            m_2 = add_single_products(m_2, v, load_singles(columns, at + SINGLE_LANES))
            m_3 = add_single_products(m_3, v, load_singles(columns, at + 2 * SINGLE_LANES))
            m_4 = add_single_products(m_4, v, load_singles(columns, at + 3 * SINGLE_LANES))
        at = block * SAMPLES_PER_BLOCK
        error += sum_weights_below(m_1, limit, weights, at)
        error += sum_weights_below(m_2, limit, weights, at + SINGLE_LANES)
        error += sum_weights_below(m_3, limit, weights, at + 2 * SINGLE_LANES)
        error += sum_weights_below(m_4, limit, weights, at + 3 * SINGLE_LANES)
        if error >= need:
            return True
    return False
