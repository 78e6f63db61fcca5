"""Recording of a learner's weights after given epochs."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel, inline_kernel, kernel
from zoloss_cli.kernels.block_trials import (
    FEW_UPDATES,
    TRIALS_PER_BLOCK,
    add_rows,
    add_rows_to_both,
    can_look_ahead,
    choose_steps,
    compute_tolerance,
    count_below,
    find_least_margin,
    find_longest_row,
    find_sides,
    multiply_rows,
)
from zoloss_cli.kernels.numeric import add_product, copy_vector, draw_epoch, find_largest


@inline_kernel
def save_checkpoint(w, epoch, ended, checkpoints, at, path):
    """Copy w into path[at] if this epoch is checkpoints[at]; return the next index into `checkpoints`.

    `checkpoints` holds ascending epochs, and `path` has a row of the length of w for each. If learning has
    `ended`, w is copied for all later epochs, too, since they would not change it.
    """
    while at < checkpoints.shape[0] and (checkpoints[at] == epoch or ended):
        copy_vector(w, path[at])
        at += 1
    return at


# Row k of `Z` (N x P) is y_k x_k, so that <w, z_k> is the margin rho_k and an update adds a multiple of z_k.
# Rows are padded with zeros to a multiple of four columns, so that inner products vectorize without a
# remainder. They are indexed, not sliced: a slice would cost atomic reference counts in each trial. `step`
# (length N) holds each sample's weight relative to the mean (ones if samples are drawn by weight instead).
# `order` is one of the rules of `random`, with its alias table (`cut`, `alias`); `checkpoints` and `path` are
# those of `checkpoints.save_checkpoint`. All functions change w. A mistake is a trial with a margin <= 0, as in
# the mistake bounds of online learning.
#
# A single trial is bounded by the latency of load, inner product and comparison, behind a branch that is
# mispredicted about as often as the learner errs: 10 to 20 ns for up to 64 features. The functions
# `try_..._ahead` make a block of trials at a time instead (`look_ahead`), with the same result: 5 to 10 ns.
# Only squared costs have margins in their steps, which are rounded differently there.
#
# The learners share what is done once per epoch (`draw_epoch`, `save_checkpoint`) and once per trial or block;
# each has its own loop around these. A common loop would take the trial as an argument, and numba's cache does
# not find functions that take others: each process would compile it again.

PARALLEL = 1e-12  # of |x|^2 |w|^2: if x and w span less, they are parallel
HINGE, MODIFIED_LEAST_SQUARES, LEAST_SQUARES, PERCEPTRON_CRITERION = range(4)


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
def try_perceptron_ahead(Z, step, w, indices, tolerance, few):
    """Do the same as `try_perceptron` for a whole epoch, a block of trials at a time.

    If mistakes are `few`, the block is checked first, since it usually contains none.
    """
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    mistakes = 0.0
    for t in range(0, stop, TRIALS_PER_BLOCK):
        if few and find_least_margin(w, Z, indices, t) > tolerance:
            continue
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
    """Apply the perceptron learning rule, eq. (2) of Li & Lin (2007): w <- w + y x on a mistake.

    Returns the number of mistakes.
    """
    n = Z.shape[0]
    indices = np.arange(n).astype(np.int32)
    longest_row, largest_step = find_longest_row(Z), find_largest(step)
    counter = seed
    mistakes, at, last = 0, 0, n
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        few = last <= FEW_UPDATES * n
        if can_look_ahead(Z, few):
            tolerance = compute_tolerance(w, longest_row, largest_step, 0.0, n)
            last = try_perceptron_ahead(Z, step, w, indices, tolerance, few)
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
    """Do the same as `fit_averaged_perceptron` in some trials, one by one; return (mistakes, clock)."""
    mistakes = 0
    for k in indices[first:last]:
        if compute_margin(w, Z, k) <= 0.0:
            add_scaled_row(w, step[k], Z, k)
            add_scaled_row(late, step[k] * clock, Z, k)
            mistakes += 1
        clock += step[k]
    return mistakes, clock


@exact_kernel
def try_averaged_ahead(Z, step, w, late, clock, indices, tolerance, few):
    """Do the same as `try_averaged` for a whole epoch, in the manner of `try_perceptron_ahead`."""
    stop = indices.shape[0] - indices.shape[0] % TRIALS_PER_BLOCK
    mistakes = 0.0
    for t in range(0, stop, TRIALS_PER_BLOCK):
        steps = step[indices[t]], step[indices[t + 1]], step[indices[t + 2]], step[indices[t + 3]]
        clock_2 = clock + steps[0]
        clock_3 = clock_2 + steps[1]
        clock_4 = clock_3 + steps[2]
        if few and find_least_margin(w, Z, indices, t) > tolerance:
            clock = clock_4 + steps[3]
            continue
        sides, least = find_sides(w, Z, indices, t, 0.0, steps)
        if least > tolerance:
            taken = choose_steps(steps, sides)
            timed = taken[0] * clock, taken[1] * clock_2, taken[2] * clock_3, taken[3] * clock_4
            add_rows_to_both(w, late, Z, indices, t, taken, timed)
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
    longest_row, largest_step = find_longest_row(Z), find_largest(step)
    counter = seed
    mistakes, at, last = 0, 0, n
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        few = last <= FEW_UPDATES * n
        if can_look_ahead(Z, few):
            tolerance = compute_tolerance(w, longest_row, largest_step, 0.0, n)
            last, clock = try_averaged_ahead(Z, step, w, late, clock, indices, tolerance, few)
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
def try_sgd_ahead(Z, step, w, rate, reach, squared, indices, tolerance):
    """Do the same as `try_sgd` for a whole epoch, a block of trials at a time; the cost is not `squared`."""
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
def try_squared_ahead(Z, step, w, rate, reach, squared, indices):
    """Do the same as `try_sgd` for a whole epoch, a block of trials at a time; the cost is `squared`.

    Steps are rate * step * max(1 - rho, 1 - reach). The margins rho are those of `look_ahead`, which are
    rounded differently from those of single trials.
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


@kernel
def fit_sgd(Z, step, cut, alias, w, epochs, rate, cost, order, seed, checkpoints, path):
    """Apply stochastic gradient descent (Zhang 2004) to a margin cost: Table 2.1 of Li's thesis (2006).

    Squared costs have steps of rate * (1 - rho) y x = rate * (y - <w, x>) x, without the factor 2.
    """
    n = Z.shape[0]
    indices = np.arange(n).astype(np.int32)
    squared = cost in (MODIFIED_LEAST_SQUARES, LEAST_SQUARES)
    reach = 1.0
    if cost == LEAST_SQUARES:
        reach = np.inf
    elif cost == PERCEPTRON_CRITERION:
        reach = np.nextafter(0.0, 1.0)  # so that rho < reach means rho <= 0
    longest_row, largest_step = find_longest_row(Z), rate * find_largest(step)
    counter = seed
    at = 0
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        if not can_look_ahead(Z, False):
            try_sgd(Z, step, w, rate, reach, squared, indices, np.int64(0), n)
        elif squared:
            try_squared_ahead(Z, step, w, rate, reach, squared, indices)
        else:
            tolerance = compute_tolerance(w, longest_row, largest_step, reach, n)
            try_sgd_ahead(Z, step, w, rate, reach, squared, indices, tolerance)
        at = save_checkpoint(w, epoch, False, checkpoints, at, path)


@kernel
def fit_romma(Z, w, epochs, aggressive, order, seed, checkpoints, path):
    """Apply ROMMA or aggressive ROMMA (Li & Long 2002), the relaxed online maximum margin algorithm.

    A mistake (or, if `aggressive`, a margin below 1) moves w to the shortest vector with margin 1 on this
    sample that keeps the old half-space constraint. If x and w are parallel, or w is 0, that is y x / |x|^2.
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


FIRST_ROOM = 64  # vectors; doubled whenever it is full


@kernel
def fit_voted_perceptron(Z, step, cut, alias, epochs, order, seed):
    """Apply the perceptron learning rule from w = 0; return all vectors, as rows, and their survival times.

    `Z`, `step`, `cut`, `alias` and `order` are those of `online`. A trial counts, by step[k], for the vector
    after it, as in Algorithm 2.6 of Li's thesis (2006). The initial vector, which survives no trial, is left
    out.
    """
    n, width = Z.shape
    indices = np.arange(n).astype(np.int32)
    vectors, lives = np.zeros((FIRST_ROOM, width)), np.zeros(FIRST_ROOM)
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
