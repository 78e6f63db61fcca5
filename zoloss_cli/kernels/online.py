"""Online learners: perceptron, averaged and voted perceptron, margin SGD, ROMMA; margin and batch perceptron.

Row k of `Z` (N x P) is y_k x_k, so that <w, z_k> is the margin rho_k and an update adds a multiple of z_k. Rows
are padded with zeros to a multiple of four columns, and indexed, not sliced: a slice costs atomic reference
counts in each trial. `step` (length N) holds each sample's weight relative to the mean (ones if samples are
drawn by weight instead). `order` is a rule of `numeric.draw_epoch`, with its alias table (`cut`, `alias`);
`checkpoints` and `path` are those of `save_checkpoint`. All functions change w. A mistake is a trial with a
margin <= 0, as in the mistake bounds of online learning.

Single trials are sequential: w must be loaded, multiplied, summed and compared before the next inner
product can begin, behind a branch that is mispredicted about as often as the learner errs.

Blocks of trials (`..._in_blocks`) look ahead, since the draws of an epoch are known: the inner products <w, z>
of four trials and the six between their rows are computed at once, and the margin of the third trial, say, is
<w, z_3> + s_1 <z_1, z_3> + s_2 <z_2, z_3> with the steps s of the trials before it, which are 0 without an
update. Going from one trial to the next then takes a sign and an addition, without a branch. If rounding could
put a margin on the other side of its threshold (`compute_tolerance`), the block is repeated trial by trial, so
that results are those of single trials to the last bit. Only squared costs have margins in their steps.

A perceptron trial takes 6.2 ns on pima and 7.3 ns on german in blocks, 10.1 and 13.1 one by one, and one of
the averaged perceptron 6.2 and 8.2 against 10.7 and 14.3: python -m pytest tests/bench/test_online_speed.py
--benchmark-only -k kernel, as it is and with MAX_COLUMNS = 0. While mistakes are few, as on breast, single
trials are as fast.

Each learner has its own loop over epochs: a common one would take the trial as an argument, and numba does not
cache functions that take functions.
"""

from __future__ import annotations

import math

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel, inline_kernel, kernel
from zoloss_cli.kernels.numeric import (
    LANES,
    add_lane_products,
    add_product,
    compute_max_abs,
    compute_squared_norm,
    copy_vector,
    draw_epoch,
    fill_lanes,
    load_lanes,
    store_lanes,
    sum_lanes_of_four,
)

PARALLEL = 1e-12  # of |x|^2 |w|^2: if x and w span less, they are parallel
HINGE, MODIFIED_LEAST_SQUARES, LEAST_SQUARES, PERCEPTRON_CRITERION = range(4)
VOTED_ROOM = 64  # vectors of a voted perceptron at first; doubled whenever it is full
TRIALS_PER_BLOCK = 4
# If rows are longer than this, ten inner products per block take longer than four trials wait.
MAX_COLUMNS = 96
FEW_UPDATES = 0.15  # per trial: up to this, branches are predicted, and single trials are as fast as blocks
ROUNDING = 2.0**-53


@inline_kernel
def save_checkpoint(w, epoch, ended, checkpoints, at, path):
    """Copy w into path[at] if this epoch is checkpoints[at]; return the next index into `checkpoints`.

    `checkpoints` ascend. If learning has `ended`, w is copied for all later epochs, too.
    """
    while at < checkpoints.shape[0] and (checkpoints[at] == epoch or ended):
        copy_vector(w, path[at])
        at += 1
    return at


@inline_kernel
def can_use_blocks(Z):
    """Return whether blocks of trials are possible on these rows and worthwhile."""
    return Z.shape[1] % LANES == 0 and Z.shape[1] <= MAX_COLUMNS


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
def find_sides(w, Z, indices, t, reach, steps):
    """Return on which side of `reach` the margins of trials t, ..., t + 3 are, and the smallest distance to it.

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
    that of a block also has the rounding of at most eight sums and of three updates of w:
    (2 P + 32) u ((W + 8 s R) R + reach) covers all of this, and twice that is returned.
    """
    P = w.shape[0]
    growth = 2.0 * largest_step * reach + (largest_step * longest_row) ** 2
    longest_w = np.sqrt(compute_squared_norm(w) + trials * growth)
    size = (longest_w + 8.0 * largest_step * longest_row) * longest_row + reach
    return (4.0 * P + 64.0) * ROUNDING * size


@inline_kernel
def compute_margin(w, Z, k):
    """Return <w, z_k>."""
    total = 0.0
    for j in range(w.shape[0]):
        total += w[j] * Z[k, j]
    return total


@inline_kernel
def add_scaled_row(w, scale, Z, k):
    """Add scale * z_k to w."""
    for j in range(w.shape[0]):
        w[j] += scale * Z[k, j]


@kernel
def try_perceptron(Z, step, w, indices, first, last):
    """Apply the perceptron learning rule in some trials, one by one; return the number of mistakes."""
    mistakes = 0
    for k in indices[first:last]:
        if compute_margin(w, Z, k) <= 0.0:
            add_scaled_row(w, step[k], Z, k)
            mistakes += 1
    return mistakes


@exact_kernel
def try_perceptron_in_blocks(Z, step, w, indices, tolerance):
    """Apply `try_perceptron` to a whole epoch, a block of trials at a time."""
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    mistakes = 0.0
    for t in range(0, stop, TRIALS_PER_BLOCK):
        steps = step[indices[t]], step[indices[t + 1]], step[indices[t + 2]], step[indices[t + 3]]
        sides, least = find_sides(w, Z, indices, t, 0.0, steps)
        if least > tolerance:
            add_rows(w, Z, indices, t, choose_steps(steps, sides))
            mistakes += count_below(sides)
        else:
            mistakes += try_perceptron(Z, step, w, indices, t, t + TRIALS_PER_BLOCK)
    return np.int64(mistakes) + try_perceptron(Z, step, w, indices, stop, indices.shape[0])


@kernel
def fit_perceptron(Z, step, cut, alias, w, epochs, order, seed, checkpoints, path):
    """Apply the perceptron rule, eq. (2) of Li & Lin (2007), w <- w + y x on a mistake; return mistakes."""
    n = Z.shape[0]
    indices = np.arange(n).astype(np.int32)
    longest_row, largest_step = find_longest_row(Z), compute_max_abs(step)
    counter = seed
    mistakes, at, last = 0, 0, n
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        if last > FEW_UPDATES * n and can_use_blocks(Z):
            tolerance = compute_tolerance(w, longest_row, largest_step, 0.0, n)
            last = try_perceptron_in_blocks(Z, step, w, indices, tolerance)
        else:
            last = try_perceptron(Z, step, w, indices, np.int64(0), n)
        mistakes += last
        at = save_checkpoint(w, epoch, False, checkpoints, at, path)
    return mistakes


@kernel
def compute_average(w, late, clock):
    """Return the average that `fit_averaged_perceptron` has reached."""
    mean = np.empty(w.shape[0], np.float64)
    for j in range(w.shape[0]):
        mean[j] = w[j] - late[j] / clock
    return mean


@kernel
def try_averaged(Z, step, w, late, clock, indices, first, last):
    """Apply the rule of `fit_averaged_perceptron` in some trials, one by one; return (mistakes, clock)."""
    mistakes = 0
    for k in indices[first:last]:
        if compute_margin(w, Z, k) <= 0.0:
            add_scaled_row(w, step[k], Z, k)
            add_scaled_row(late, step[k] * clock, Z, k)
            mistakes += 1
        clock += step[k]
    return mistakes, clock


@exact_kernel
def try_averaged_in_blocks(Z, step, w, late, clock, indices, tolerance):
    """Apply `try_averaged` to a whole epoch, a block of trials at a time."""
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    mistakes = 0.0
    for t in range(0, stop, TRIALS_PER_BLOCK):
        steps = step[indices[t]], step[indices[t + 1]], step[indices[t + 2]], step[indices[t + 3]]
        clock_2 = clock + steps[0]
        clock_3 = clock_2 + steps[1]
        clock_4 = clock_3 + steps[2]
        sides, least = find_sides(w, Z, indices, t, 0.0, steps)
        if least > tolerance:
            taken = choose_steps(steps, sides)
            timed = taken[0] * clock, taken[1] * clock_2, taken[2] * clock_3, taken[3] * clock_4
            add_rows(w, Z, indices, t, taken)
            add_rows(late, Z, indices, t, timed)
            clock = clock_4 + steps[3]
            mistakes += count_below(sides)
        else:
            more, clock = try_averaged(Z, step, w, late, clock, indices, t, t + TRIALS_PER_BLOCK)
            mistakes += more
    more, clock = try_averaged(Z, step, w, late, clock, indices, stop, indices.shape[0])
    return np.int64(mistakes) + more, clock


@kernel
def fit_averaged_perceptron(Z, step, cut, alias, w, late, clock, epochs, order, seed, checkpoints, path):
    """Apply the perceptron rule and sum up all w_t, whose average is the result.

    Algorithms 2.2 and 2.6 of Li's thesis (2006). Each trial adds gamma (1, or N phi_k if reweighting) times
    the w after that trial. An update by u at clock c therefore counts C - c times, so that the sum is
    C w - late, where late is the sum of c u. All start at 0, or where an earlier call left them. Returns
    (mistakes, clock).
    """
    n = Z.shape[0]
    indices = np.arange(n).astype(np.int32)
    longest_row, largest_step = find_longest_row(Z), compute_max_abs(step)
    counter = seed
    mistakes, at, last = 0, 0, n
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        if last > FEW_UPDATES * n and can_use_blocks(Z):
            tolerance = compute_tolerance(w, longest_row, largest_step, 0.0, n)
            last, clock = try_averaged_in_blocks(Z, step, w, late, clock, indices, tolerance)
        else:
            last, clock = try_averaged(Z, step, w, late, clock, indices, np.int64(0), n)
        mistakes += last
        # Not `save_checkpoint`, which would need the average in every epoch.
        if at < checkpoints.shape[0] and checkpoints[at] == epoch:
            copy_vector(compute_average(w, late, clock), path[at])
            at += 1
    return mistakes, clock


@kernel
def try_sgd(Z, step, w, rate, reach, squared, indices, first, last):
    """Apply the rule of `fit_sgd` in some trials, one by one; from a margin of `reach` on, the cost is 0."""
    for k in indices[first:last]:
        # No branch: an update by 0 costs less than a misprediction every few trials.
        rho = compute_margin(w, Z, k)
        slope = 1.0 - rho if squared else 1.0
        add_scaled_row(w, rate * step[k] * (slope if rho < reach else 0.0), Z, k)


@exact_kernel
def try_sgd_in_blocks(Z, step, w, rate, reach, squared, indices, tolerance):
    """Apply `try_sgd` to a whole epoch, a block of trials at a time; the cost is not `squared`."""
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    for t in range(0, stop, TRIALS_PER_BLOCK):
        s_1, s_2 = rate * step[indices[t]], rate * step[indices[t + 1]]
        steps = s_1, s_2, rate * step[indices[t + 2]], rate * step[indices[t + 3]]
        sides, least = find_sides(w, Z, indices, t, reach, steps)
        if least > tolerance:
            add_rows(w, Z, indices, t, choose_steps(steps, sides))
        else:
            try_sgd(Z, step, w, rate, reach, squared, indices, t, t + TRIALS_PER_BLOCK)
    try_sgd(Z, step, w, rate, reach, squared, indices, stop, indices.shape[0])


@exact_kernel
def try_squared_in_blocks(Z, step, w, rate, reach, squared, indices):
    """Apply `try_sgd` to a whole epoch, a block of trials at a time; the cost is `squared`.

    Steps are rate * step * max(1 - rho, 1 - reach), with margins rho that are rounded as in blocks.
    """
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    floor = 1.0 - reach
    for t in range(0, stop, TRIALS_PER_BLOCK):
        margins, others, last = multiply_rows(w, Z, indices, t)
        r_1, r_2 = rate * step[indices[t]], rate * step[indices[t + 1]]
        r_3, r_4 = rate * step[indices[t + 2]], rate * step[indices[t + 3]]
        s_1 = max(1.0 - margins[0], floor)
        s_2 = max(add_product(1.0 - margins[1], -s_1, r_1 * others[0]), floor)
        d_3 = add_product(1.0 - margins[2], -s_1, r_1 * others[1])
        d_4 = add_product(1.0 - margins[3], -s_1, r_1 * others[2])
        s_3 = max(add_product(d_3, -s_2, r_2 * others[3]), floor)
        d_4 = add_product(d_4, -s_2, r_2 * last[0])
        s_4 = max(add_product(d_4, -s_3, r_3 * last[1]), floor)
        add_rows(w, Z, indices, t, (r_1 * s_1, r_2 * s_2, r_3 * s_3, r_4 * s_4))
    try_sgd(Z, step, w, rate, reach, squared, indices, stop, indices.shape[0])


@inline_kernel
def choose_reach(cost):
    """Return the margin from which on a cost is 0, and whether it is squared."""
    squared = cost in (MODIFIED_LEAST_SQUARES, LEAST_SQUARES)
    reach = 1.0
    if cost == LEAST_SQUARES:
        reach = np.inf
    elif cost == PERCEPTRON_CRITERION:
        reach = np.nextafter(0.0, 1.0)  # so that rho < reach means rho <= 0
    return reach, squared


@kernel
def fit_sgd(Z, step, cut, alias, w, epochs, rate, cost, order, seed, checkpoints, path):
    """Apply stochastic gradient descent (Zhang 2004) to a margin cost: Table 2.1 of Li's thesis (2006).

    Squared costs have steps of rate * (1 - rho) y x = rate * (y - <w, x>) x, without the factor 2.
    """
    n = Z.shape[0]
    indices = np.arange(n).astype(np.int32)
    reach, squared = choose_reach(cost)
    longest_row, largest_step = find_longest_row(Z), rate * compute_max_abs(step)
    counter = seed
    at = 0
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        if not can_use_blocks(Z):
            try_sgd(Z, step, w, rate, reach, squared, indices, np.int64(0), n)
        elif squared:
            try_squared_in_blocks(Z, step, w, rate, reach, squared, indices)
        else:
            tolerance = compute_tolerance(w, longest_row, largest_step, reach, n)
            try_sgd_in_blocks(Z, step, w, rate, reach, squared, indices, tolerance)
        at = save_checkpoint(w, epoch, False, checkpoints, at, path)


@kernel
def fit_romma(Z, w, epochs, aggressive, order, seed, checkpoints, path):
    """Apply ROMMA or aggressive ROMMA (Li & Long 2002), the relaxed online maximum margin algorithm.

    A mistake (or, if `aggressive`, a margin below 1) moves w to the shortest vector with margin 1 on this
    sample that keeps the old half-space constraint. If x and w are parallel, that is y x / |x|^2.
    """
    indices = np.arange(Z.shape[0]).astype(np.int32)
    no_cut, no_alias = np.empty(0, np.uint64), np.empty(0, np.int32)
    counter = seed
    at = 0
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, no_cut, no_alias)
        for k in indices:
            rho = compute_margin(w, Z, k)
            if rho <= 0.0 or (aggressive and rho < 1.0):
                ww, zz = np.dot(w, w), np.dot(Z[k], Z[k])
                apart = zz * ww - rho * rho
                if apart > PARALLEL * zz * ww:
                    keep = (zz * ww - rho) / apart
                    add = ww * (1.0 - rho) / apart
                else:
                    keep, add = 0.0, 1.0 / zz
                for j in range(w.shape[0]):
                    w[j] = keep * w[j] + add * Z[k, j]
        at = save_checkpoint(w, epoch, False, checkpoints, at, path)


@kernel
def fit_margin_perceptron(Z, least, w, epochs, checkpoints, path):
    """Apply the margin perceptron of the lecture on linear separators, cycling through the samples.

    It updates on the first sample, then on every one with rho < |w| least, and stops after an epoch without
    an update. Returns (updates, epochs).
    """
    updates, at = 0, 0
    ww = np.dot(w, w)
    for epoch in range(1, epochs + 1):
        before = updates
        for k in range(Z.shape[0]):
            if ww == 0.0 or compute_margin(w, Z, k) < least * np.sqrt(ww):
                add_scaled_row(w, 1.0, Z, k)
                ww = np.dot(w, w)
                updates += 1
        at = save_checkpoint(w, epoch, updates == before, checkpoints, at, path)
        if updates == before:
            return updates, epoch
    return updates, epochs


@kernel
def fit_batch_perceptron(Z, y, step, rate, w, epochs, checkpoints, path):
    """Apply the batch perceptron of the course notes: w <- w + rate * sum of y x over the mistakes.

    As in the notes, a score of 0 predicts +1, so that it is a mistake only for a negative sample. Stops when
    nothing is misclassified; returns the number of epochs.
    """
    total = np.empty(w.shape[0], np.float64)
    at = 0
    for epoch in range(1, epochs + 1):
        total[:] = 0.0
        mistakes = 0
        for k in range(Z.shape[0]):
            rho = compute_margin(w, Z, k)
            if rho < 0.0 or (rho == 0.0 and y[k] < 0.0):
                add_scaled_row(total, rate * step[k], Z, k)
                mistakes += 1
        w += total
        at = save_checkpoint(w, epoch, mistakes == 0, checkpoints, at, path)
        if mistakes == 0:
            return epoch
    return epochs


@kernel
def fit_voted_perceptron(Z, step, cut, alias, epochs, order, seed):
    """Apply the perceptron learning rule from w = 0; return all vectors, as rows, and their survival times.

    A trial counts, by step[k], for the vector after it, as in Algorithm 2.6 of Li's thesis (2006). The initial
    vector, which survives no trial, is left out.
    """
    n, width = Z.shape
    indices = np.arange(n).astype(np.int32)
    vectors, lives = np.zeros((VOTED_ROOM, width)), np.zeros(VOTED_ROOM)
    w = np.zeros(width)
    counter = seed
    size = 0
    for _ in range(epochs):
        counter = draw_epoch(order, indices, counter, cut, alias)
        for k in indices:
            if step[k] > 0.0 and compute_margin(w, Z, k) <= 0.0:
                if size == vectors.shape[0]:
                    more, longer = np.zeros((2 * size, width)), np.zeros(2 * size)
                    more[:size], longer[:size] = vectors, lives
                    vectors, lives = more, longer
                add_scaled_row(w, step[k], Z, k)
                copy_vector(w, vectors[size])
                size += 1
            if size > 0:  # samples without weight may come before the first update
                lives[size - 1] += step[k]
    return vectors[:size].copy(), lives[:size].copy()


# Samples in place, sparse or mapped into memory, not multiplied by y: sample k has the values data[starts[k]:
# starts[k + 1]] in the features that `columns` lists at the same indices; if `shares_columns`, as in a dense
# array, `columns` lists those of one sample for all. The bias is w[0], the weight of feature j is w[j + 1].


@inline_kernel
def compute_score(w, data, columns, first, last, shift):
    """Return the score of the sample data[first:last]; `shift` is subtracted from indices into `columns`."""
    total = w[0]
    for j in range(first, last):
        total += w[columns[j - shift] + 1] * data[j]
    return total


@inline_kernel
def add_scaled_sample(w, scale, data, columns, first, last, shift):
    """Add `scale` times the sample data[first:last] to w; `shift` is that of `compute_score`."""
    w[0] += scale
    for j in range(first, last):
        w[columns[j - shift] + 1] += scale * data[j]


@kernel
def fit_to_rows(rows, y, draws, w, late, clock, rule, schedule):
    """Apply the rule of `fit_sgd`; the perceptron rule is the perceptron criterion at rate 1.

    If `late` is not empty, the average is kept as in `fit_averaged_perceptron`, and recorded. Returns
    (mistakes, clock).
    """
    data, columns, starts, shares_columns = rows
    step, cut, alias = draws
    rate, cost = rule
    epochs, order, seed, checkpoints, path = schedule
    indices = np.arange(y.shape[0]).astype(np.int32)
    reach, squared = choose_reach(cost)
    averages = late.shape[0] > 0
    counter = seed
    mistakes, at = 0, 0
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        for k in indices:
            first, last = np.int64(starts[k]), np.int64(starts[k + 1])
            shift = first if shares_columns else np.int64(0)
            rho = y[k] * compute_score(w, data, columns, first, last, shift)
            mistakes += rho <= 0.0
            if rho < reach:
                scale = rate * step[k] * (1.0 - rho if squared else 1.0) * y[k]
                add_scaled_sample(w, scale, data, columns, first, last, shift)
                if averages:
                    add_scaled_sample(late, scale * clock, data, columns, first, last, shift)
            clock += step[k]
        if at < checkpoints.shape[0] and checkpoints[at] == epoch:
            copy_vector(compute_average(w, late, clock) if averages else w, path[at])
            at += 1
    return mistakes, clock
