"""Margins of four trials at a time, before it is known which of these trials change w.

A trial of an online learner waits for the one before it: w must be loaded, multiplied, summed and compared
before the next inner product can begin, behind a branch that is mispredicted about as often as the learner
errs. But the draws of an epoch are known in advance. So the four inner products <w, z> and the six between
the four rows are computed at once, and the margin of the third trial, say, is
<w, z_3> + s_1 <z_1, z_3> + s_2 <z_2, z_3> with the steps s of the trials before it, which are 0 if there was
no update. Going from one trial to the next then takes a sign and an addition, without a branch.

These margins are rounded differently from inner products with the w of their trial. If only their sides of a
threshold matter, this makes no difference unless a margin is as close to it as `compute_tolerance` says: such
a block is repeated trial by trial, so that results are the same to the last bit.

Rows are those of `online`: Z is N x P, with P a multiple of LANES.
"""

from __future__ import annotations

import math

import numpy as np

from zoloss_cli.kernels import exact_kernel, inline_kernel
from zoloss_cli.kernels.numeric import (
    LANES,
    add_lane_products,
    add_product,
    compute_squared_norm,
    fill_lanes,
    load_lanes,
    store_lanes,
    sum_lanes_of_four,
)

TRIALS_PER_BLOCK = 4
# If rows are longer than this, ten inner products per block take longer than four trials wait.
MAX_COLUMNS = 96
FEW_UPDATES = 0.15  # updates per trial up to which most blocks have none
ROUNDING = 2.0**-53


@inline_kernel
def can_look_ahead(Z, few):
    """Return whether blocks of trials, with few updates or not, are possible on these rows and worthwhile."""
    return Z.shape[1] % LANES == 0 and (few or Z.shape[1] <= MAX_COLUMNS)


@inline_kernel
def multiply_rows(w, Z, indices, t):
    """Return the inner products of w with the rows z_1, ..., z_4 of trials t, ..., t + 3, and of these rows.

    They come in three tuples: <w, z_1>, ..., <w, z_4>; then 12, 13, 14 and 23; then 24 and 34, each twice.
    """
    P = Z.shape[1]
    at_1, at_2 = np.int64(indices[t]) * P, np.int64(indices[t + 1]) * P
    at_3, at_4 = np.int64(indices[t + 2]) * P, np.int64(indices[t + 3]) * P
    w_1 = w_2 = w_3 = w_4 = g_12 = g_13 = g_14 = g_23 = g_24 = g_34 = fill_lanes(0.0)
    for j in range(0, P, LANES):
        v = load_lanes(w, j)
        z_1, z_2 = load_lanes(Z, at_1 + j), load_lanes(Z, at_2 + j)
        z_3, z_4 = load_lanes(Z, at_3 + j), load_lanes(Z, at_4 + j)
        w_1, w_2 = add_lane_products(w_1, v, z_1), add_lane_products(w_2, v, z_2)
        w_3, w_4 = add_lane_products(w_3, v, z_3), add_lane_products(w_4, v, z_4)
        g_12, g_13 = add_lane_products(g_12, z_1, z_2), add_lane_products(g_13, z_1, z_3)
        g_14, g_23 = add_lane_products(g_14, z_1, z_4), add_lane_products(g_23, z_2, z_3)
        g_24, g_34 = add_lane_products(g_24, z_2, z_4), add_lane_products(g_34, z_3, z_4)
    margins = sum_lanes_of_four(w_1, w_2, w_3, w_4)
    others = sum_lanes_of_four(g_12, g_13, g_14, g_23)
    last = sum_lanes_of_four(g_24, g_34, g_24, g_34)
    return margins, others, last


@inline_kernel
def find_least_margin(w, Z, indices, t):
    """Return the least of <w, z_1>, ..., <w, z_4> for the rows of trials t, ..., t + 3."""
    P = Z.shape[1]
    at_1, at_2 = np.int64(indices[t]) * P, np.int64(indices[t + 1]) * P
    at_3, at_4 = np.int64(indices[t + 2]) * P, np.int64(indices[t + 3]) * P
    w_1 = w_2 = w_3 = w_4 = fill_lanes(0.0)
    for j in range(0, P, LANES):
        v = load_lanes(w, j)
        w_1, w_2 = (
            add_lane_products(w_1, v, load_lanes(Z, at_1 + j)),
            add_lane_products(w_2, v, load_lanes(Z, at_2 + j)),
        )
        w_3, w_4 = (
            add_lane_products(w_3, v, load_lanes(Z, at_3 + j)),
            add_lane_products(w_4, v, load_lanes(Z, at_4 + j)),
        )
    margins = sum_lanes_of_four(w_1, w_2, w_3, w_4)
    return min(min(margins[0], margins[1]), min(margins[2], margins[3]))


@inline_kernel
def add_rows(w, Z, indices, t, steps):
    """Add the rows of trials t, ..., t + 3 to w one after another, each times its step."""
    P = Z.shape[1]
    at_1, at_2 = np.int64(indices[t]) * P, np.int64(indices[t + 1]) * P
    at_3, at_4 = np.int64(indices[t + 2]) * P, np.int64(indices[t + 3]) * P
    c_1, c_2 = fill_lanes(steps[0]), fill_lanes(steps[1])
    c_3, c_4 = fill_lanes(steps[2]), fill_lanes(steps[3])
    for j in range(0, P, LANES):
        v = add_lane_products(load_lanes(w, j), c_1, load_lanes(Z, at_1 + j))
        v = add_lane_products(v, c_2, load_lanes(Z, at_2 + j))
        v = add_lane_products(v, c_3, load_lanes(Z, at_3 + j))
        store_lanes(w, j, add_lane_products(v, c_4, load_lanes(Z, at_4 + j)))


@inline_kernel
def add_rows_to_both(w, late, Z, indices, t, steps, timed):
    """Do the same as `add_rows` for w with `steps` and for `late` with `timed`, loading each row once."""
    P = Z.shape[1]
    at_1, at_2 = np.int64(indices[t]) * P, np.int64(indices[t + 1]) * P
    at_3, at_4 = np.int64(indices[t + 2]) * P, np.int64(indices[t + 3]) * P
    c_1, c_2 = fill_lanes(steps[0]), fill_lanes(steps[1])
    c_3, c_4 = fill_lanes(steps[2]), fill_lanes(steps[3])
    d_1, d_2 = fill_lanes(timed[0]), fill_lanes(timed[1])
    d_3, d_4 = fill_lanes(timed[2]), fill_lanes(timed[3])
    for j in range(0, P, LANES):
        z_1, z_2 = load_lanes(Z, at_1 + j), load_lanes(Z, at_2 + j)
        z_3, z_4 = load_lanes(Z, at_3 + j), load_lanes(Z, at_4 + j)
        v = add_lane_products(add_lane_products(load_lanes(w, j), c_1, z_1), c_2, z_2)
        u = add_lane_products(add_lane_products(load_lanes(late, j), d_1, z_1), d_2, z_2)
        store_lanes(w, j, add_lane_products(add_lane_products(v, c_3, z_3), c_4, z_4))
        store_lanes(late, j, add_lane_products(add_lane_products(u, d_3, z_3), d_4, z_4))


@inline_kernel
def find_sides(w, Z, indices, t, reach, steps):
    """Return on which side of `reach` the margins of trials t, ..., t + 3 are, and the least distance to it.

    A trial with a margin below `reach` adds its row times its step to w. Sides are +1.0, or -1.0 if below.
    """
    margins, others, last = multiply_rows(w, Z, indices, t)
    h_1, h_2, h_3 = steps[0] * 0.5, steps[1] * 0.5, steps[2] * 0.5
    # Distances as if each earlier trial had taken half its step: its side adds or removes the other half.
    g_12, g_13, g_14 = h_1 * others[0], h_1 * others[1], h_1 * others[2]
    g_23, g_24, g_34 = h_2 * others[3], h_2 * last[0], h_3 * last[1]
    d_1 = margins[0] - reach
    d_2 = (margins[1] - reach) + g_12
    d_3 = (margins[2] - reach) + (g_13 + g_23)
    d_4 = (margins[3] - reach) + ((g_14 + g_24) + g_34)
    side_1 = math.copysign(1.0, d_1)
    d_2 = add_product(d_2, -side_1, g_12)
    d_3 = add_product(d_3, -side_1, g_13)
    d_4 = add_product(d_4, -side_1, g_14)
    side_2 = math.copysign(1.0, d_2)
    d_3 = add_product(d_3, -side_2, g_23)
    d_4 = add_product(d_4, -side_2, g_24)
    side_3 = math.copysign(1.0, d_3)
    d_4 = add_product(d_4, -side_3, g_34)
    side_4 = math.copysign(1.0, d_4)
    least = min(min(abs(d_1), abs(d_2)), min(abs(d_3), abs(d_4)))
    return (side_1, side_2, side_3, side_4), least


@inline_kernel
def choose_steps(steps, sides):
    """Return the steps of four trials: 0 for those whose margins are above the threshold (side 1.0)."""
    h_1, h_2, h_3, h_4 = 0.5 * steps[0], 0.5 * steps[1], 0.5 * steps[2], 0.5 * steps[3]
    s_1, s_2 = add_product(h_1, -sides[0], h_1), add_product(h_2, -sides[1], h_2)
    return s_1, s_2, add_product(h_3, -sides[2], h_3), add_product(h_4, -sides[3], h_4)


@inline_kernel
def count_below(sides):
    """Return how many of four margins are below the threshold."""
    return 2.0 - 0.5 * ((sides[0] + sides[1]) + (sides[2] + sides[3]))


@exact_kernel
def find_longest_row(Z):
    """Return the largest Euclidean norm of a row."""
    longest = 0.0
    for i in range(Z.shape[0]):
        total = 0.0
        for j in range(Z.shape[1]):
            total += Z[i, j] * Z[i, j]
        longest = max(longest, total)
    return np.sqrt(longest)


@exact_kernel
def compute_tolerance(w, longest_row, largest_step, reach, trials):
    """Return how far a margin of a block can be from that of its trial, in any of `trials` trials from w on.

    With R the longest row and s the largest step, a trial with a margin of at most `reach` adds at most
    2 s reach + s^2 R^2 to |w|^2, which bounds |w| by some W. An inner product of length P, in whatever order
    it is summed, is off by at most (P + 2) u |w| |z| with u = ROUNDING. So is the margin of a single trial;
    the one that is looked ahead to also has the rounding of at most eight sums and of three updates of w:
    (2 P + 32) u ((W + 8 s R) R + reach) covers all of this, and twice that is returned.
    """
    P = w.shape[0]
    growth = 2.0 * largest_step * reach + (largest_step * longest_row) ** 2
    longest_w = np.sqrt(compute_squared_norm(w) + trials * growth)
    size = (longest_w + 8.0 * largest_step * longest_row) * longest_row + reach
    return (4.0 * P + 64.0) * ROUNDING * size
