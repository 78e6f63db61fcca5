"""The pocket algorithm with ratchet: Algorithm 2.1 of Li's thesis (2006), after Gallant (1990).

The perceptron rule changes w; the pocket keeps the w with the fewest weighted errors of those whose run of
correct trials was longer than the pocket's. The pocket's error starts at the seed's instead of 1: with 1, the
first long lucky run would discard a good seed. Errors are recounted only if w has changed since the last count,
and the algorithm ends when the pocket's error is 0, since the ratchet admits nothing after that.

There are two ways to compute the margins that decide trials, which round differently. Dual: all N are kept up
to date through the Gram matrix, for at most MAX_GRAM_SAMPLES samples. Primal: each trial takes its inner
product with w. An epoch is primal if the one before made more than MAX_DUAL_UPDATES. Both make blocks of trials
(see `online`) in which no margin is so close to 0 that rounding decides: only for other blocks, and for errors
that the screen does not settle, must the dual's margins catch up.

Screen: most w that end a run are worse than the pocket, and by how much does not matter. `build_screen` holds
the samples in float32, and `reaches_bound` counts errors until they reach the pocket's. It returns True only if
rounding cannot be the cause, so that results do not depend on the screen.

A trial takes 18 ns on pima and 23 on german, without the screen 39 and 67; on breast it takes 5.6 ns, and 13.5
if `try_pocket` makes the dual epochs instead of `try_dual` (python -m pytest tests/bench/test_online_speed.py
--benchmark-only -k "kernel and pocket", with breast added to its NAMES, and with these disabled).

`Z` is N x P, with the padded rows y x of `online`; `Z_T` is its transpose. Sample weights phi are fixed point
(`line_search.to_fixed_point`). The functions share

- samples: (Z, Z', phi, step);
- dual: (gram, margins, rows, steps): the Gram matrix of Z, the margins of all samples, and the updates that are
  not in the margins yet;
- screen: that of `build_screen`;
- runs: RUN and POCKET_RUN, the lengths of runs of correct trials;
- tally: the ERROR of the pocket, the COUNTS of errors, the UPDATES of this epoch, the CHANGES of w since the
  last count, the PENDING entries of `rows` and `steps`, and the blocks with a margin CLOSE to 0.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel, kernel
from zoloss_cli.kernels.numeric import (
    LANES,
    RANDOM,
    SINGLE_LANES,
    add_lane_products,
    add_product,
    add_single_products,
    compute_max_abs,
    compute_squared_norm,
    copy_vector,
    draw_epoch,
    fill_lanes,
    fill_singles,
    load_lanes,
    load_singles,
    store_lanes,
    sum_weights_below,
)
from zoloss_cli.kernels.online import (
    TRIALS_PER_BLOCK,
    add_rows,
    add_scaled_row,
    can_use_blocks,
    choose_steps,
    compute_margin,
    compute_tolerance,
    count_below,
    find_longest_row,
    find_sides,
    save_checkpoint,
)

SAMPLES_PER_BLOCK = 4 * SINGLE_LANES  # of the screen
SAMPLES_PER_COUNT = 128  # whose margins stay in registers and the L1 cache
MAX_TOTAL_GRAINS = 2**30  # of total weight, so that sums in int32 do not overflow
SINGLE_ROUNDING = 2.0**-24
MIN_SINGLE = 1e-30  # more than underflow in single precision can lose
MAX_GRAM_SAMPLES = 2048
MAX_DUAL_UPDATES = 160
EPOCHS_PER_REFRESH = 16  # after which the dual's margins are recomputed, before rounding errors add up
# A dual epoch makes blocks of trials if that saves time according to these costs in ns.
BLOCK_NS_PER_TRIAL, BLOCK_NS_PER_COUNT = 4.0, 400.0  # extra costs of blocks
NS_PER_UPDATE, NS_PER_MARGIN = 12.0, 0.1  # costs of updating all margins
MAX_CLOSE_SHARE = 1 / 64  # of trials in blocks with a margin near 0: above it, margins catch up too often
FIRST_BLOCK_EPOCH = 3  # many fits end earlier, and blocks and the screen have setup costs
RUN, POCKET_RUN = range(2)
ERROR, COUNTS, UPDATES, CHANGES, PENDING, CLOSE = range(6)
COUNTED = -1e300  # the run of a w whose error was counted: with ratchet, it is not counted again
NO_BOUND = 2**62


@kernel
def sum_error_weights_up_to(Z_T, phi, w, bound):
    """Return the weighted error of w, or some value >= bound as soon as it is known to reach the bound.

    Works on columns of Z (Z_T is P x N), so that sums over features need no horizontal addition.
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
def build_screen(Z, phi, longest_row, n):
    """Return (columns, weights, grain, longest_row) of the first n samples for `reaches_bound`.

    `columns` holds columns of Z in blocks of samples; `weights` are in whole grains, 1 each if all are equal.
    """
    P = Z.shape[1]
    total, is_equal = 0, True
    for i in range(phi.shape[0]):
        total += phi[i]
        is_equal &= phi[i] == phi[0]
    grain = phi[0] if is_equal else total // MAX_TOTAL_GRAINS + 1
    n_blocks = (n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK
    columns = np.zeros((n_blocks, P, SAMPLES_PER_BLOCK), np.float32)
    weights = np.zeros((n_blocks, SAMPLES_PER_BLOCK), np.int32)
    for i in range(n):
        block, place = i // SAMPLES_PER_BLOCK, i % SAMPLES_PER_BLOCK
        weights[block, place] = phi[i] // grain
        for j in range(P):
            columns[block, j, place] = Z[i, j]
    return columns, weights, grain, longest_row


@exact_kernel
def reaches_bound(w, screen, bound):
    """Return whether the weighted error of w is certainly >= bound; False is inconclusive.

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


@kernel
def sum_error_weights(margins, phi):
    """Return the total fixed-point weight of the samples with a margin <= 0."""
    error = 0
    for i in range(margins.shape[0]):
        error += phi[i] if margins[i] <= 0.0 else 0
    return error


@exact_kernel
def catch_up(dual, tally):
    """Apply the pending updates to the margins, in order."""
    gram, margins, rows, steps = dual
    n = margins.shape[0]
    stop = n - n % LANES
    for p in range(tally[PENDING]):
        if steps[p] == 0.0:
            continue
        first, step = rows[p] * n, fill_lanes(steps[p])
        for i in range(0, stop, LANES):
            sums = add_lane_products(load_lanes(margins, i), step, load_lanes(gram, first + i))
            store_lanes(margins, i, sums)
        for i in range(stop, n):
            margins[i] = add_product(margins[i], steps[p], gram[rows[p], i])
    tally[PENDING] = 0


@kernel
def end_run(samples, dual, screen, w, pocket_w, is_dual, ratchet, runs, tally):
    """Count the errors of w as far as needed, after its run exceeded the pocket's, and decide on admission."""
    error, admit = tally[ERROR], not ratchet
    if tally[CHANGES] > 0:
        if not (ratchet and reaches_bound(w, screen, error)):
            _, Z_T, phi, _ = samples
            if is_dual:
                catch_up(dual, tally)
                error = sum_error_weights(dual[1], phi)
            else:
                error = sum_error_weights_up_to(Z_T, phi, w, error if ratchet else NO_BOUND)
        tally[COUNTS] += 1
        tally[CHANGES] = 0
        admit = admit or error < tally[ERROR]
        if admit:
            tally[ERROR] = error
            copy_vector(w, pocket_w)
    if admit:
        runs[POCKET_RUN] = runs[RUN]
    if ratchet:
        runs[RUN] = COUNTED


@kernel
def try_pocket(samples, gram, margins, w, indices, first, last, is_dual, runs, tally):
    """Make trials one by one until a run exceeds the pocket's, or up to `last`; return the next trial.

    In the dual, `margins` must be up to date.
    """
    Z, _, _, step = samples
    for t in range(first, last):
        k = indices[t]
        rho = margins[k] if is_dual else compute_margin(w, Z, k)
        if rho <= 0.0:
            add_scaled_row(w, step[k], Z, k)
            if is_dual:
                add_scaled_row(margins, step[k], gram, k)
            runs[RUN] = 0.0
            tally[UPDATES] += 1
            tally[CHANGES] += 1
            continue
        runs[RUN] += step[k]
        if runs[RUN] > runs[POCKET_RUN]:
            return t + 1
    return last


@kernel
def try_dual(samples, dual, w, pocket_w, indices, ratchet, runs, tally):
    """Make all trials of a dual epoch, with margins up to date at each of them, and update the pocket."""
    Z, _, phi, step = samples
    gram, margins, _, _ = dual
    run, pocket_run, pocket_error = runs[RUN], runs[POCKET_RUN], tally[ERROR]
    is_new = tally[CHANGES] > 0  # w has changed since its error was last counted
    updates, counts = np.int64(0), np.int64(0)
    for k in indices:
        if margins[k] <= 0.0:
            add_scaled_row(w, step[k], Z, k)
            add_scaled_row(margins, step[k], gram, k)
            run = 0.0
            updates += 1
            is_new = True
            continue
        run += step[k]
        if run <= pocket_run:
            continue
        admit = not ratchet
        if is_new:
            error = sum_error_weights(margins, phi)
            counts += 1
            is_new = False
            admit = admit or error < pocket_error
            if admit:
                pocket_error = error
                copy_vector(w, pocket_w)
        if admit:
            pocket_run = run
    runs[RUN], runs[POCKET_RUN] = COUNTED if ratchet and not is_new else run, pocket_run
    tally[ERROR], tally[CHANGES] = pocket_error, np.int64(is_new)
    tally[COUNTS] += counts
    tally[UPDATES] += updates


@exact_kernel
def try_pocket_in_blocks(samples, dual, w, indices, t, is_dual, tolerance, runs, tally):
    """Make trials from t on, a block at a time, until a run exceeds the pocket's or a margin is close to 0.

    `indices` has TRIALS_PER_BLOCK more entries than there are trials, of any samples, so that the last block
    is full. Returns the next trial, and whether it begins a block with such a margin.
    """
    Z, _, _, step = samples
    n = Z.shape[0]
    _, _, rows, pending_steps = dual
    run, pocket_run, pending = runs[RUN], runs[POCKET_RUN], tally[PENDING]
    updates, is_close = 0.0, False
    while t < n and run <= pocket_run:
        steps = step[indices[t]], step[indices[t + 1]], step[indices[t + 2]], step[indices[t + 3]]
        sides, least = find_sides(w, Z, indices, t, 0.0, steps)
        if not least > tolerance:
            is_close = True
            break
        # A mistake ends a run: the factor is 0 instead of 1.
        run_1 = (run + steps[0]) * (0.5 + 0.5 * sides[0])
        run_2 = (run_1 + steps[1]) * (0.5 + 0.5 * sides[1])
        run_3 = (run_2 + steps[2]) * (0.5 + 0.5 * sides[2])
        run_4 = (run_3 + steps[3]) * (0.5 + 0.5 * sides[3])
        run, length, left = run_4, TRIALS_PER_BLOCK, n - t
        if max(max(run_1, run_2), max(run_3, run_4)) > pocket_run or left < TRIALS_PER_BLOCK:
            if run_1 > pocket_run or left == 1:
                run, length = run_1, 1
                sides = sides[0], 1.0, 1.0, 1.0
            elif run_2 > pocket_run or left == 2:
                run, length = run_2, 2
                sides = sides[0], sides[1], 1.0, 1.0
            elif run_3 > pocket_run or left == 3:
                run, length = run_3, 3
                sides = sides[0], sides[1], sides[2], 1.0
        taken = choose_steps(steps, sides)
        add_rows(w, Z, indices, t, taken)
        updates += count_below(sides)
        if is_dual:
            rows[pending], pending_steps[pending] = indices[t], taken[0]
            rows[pending + 1], pending_steps[pending + 1] = indices[t + 1], taken[1]
            rows[pending + 2], pending_steps[pending + 2] = indices[t + 2], taken[2]
            rows[pending + 3], pending_steps[pending + 3] = indices[t + 3], taken[3]
            pending += length  # entries beyond it have a step of 0 and are overwritten
        t += length
    runs[RUN] = run
    tally[PENDING] = pending
    tally[UPDATES] += np.int64(updates)
    tally[CHANGES] += np.int64(updates)
    return t, is_close


@kernel
def fit_pocket(Z, Z_T, step, phi, cut, alias, w, epochs, ratchet, gram, seed, checkpoints, path):
    """Run the perceptron rule on w; return the pocket's w_p and the number of error counts.

    Z_T is Z', and `gram` is Z Z' (or 0 x 0 to stay in the primal). Without `ratchet`, a longer run of correct
    trials is enough to enter the pocket.
    """
    n = Z.shape[0]
    padded = np.zeros(n + TRIALS_PER_BLOCK, np.int32)
    indices = padded[:n]
    margins = np.dot(Z, w)
    longest_row, largest_step = find_longest_row(Z), compute_max_abs(step)
    samples = Z, Z_T, phi, step
    room = (EPOCHS_PER_REFRESH + 1) * (n + TRIALS_PER_BLOCK) if gram.shape[0] > 0 else 0
    dual = gram, margins, np.empty(room, np.int64), np.empty(room, np.float64)
    screen = build_screen(Z, phi, longest_row, np.int64(0))
    pocket_w, first_w = w.copy(), w.copy()
    runs, tally = np.zeros(2), np.zeros(6, np.int64)
    tally[ERROR] = sum_error_weights(margins, phi)
    is_dual, refreshed, counted = gram.shape[0] > 0, 1, 0  # margins were computed before epoch `refreshed`
    counter = seed
    at = 0
    for epoch in range(1, epochs + 1):
        was_dual, updates, counts = is_dual, tally[UPDATES], tally[COUNTS] - counted
        counted = tally[COUNTS]
        is_dual = gram.shape[0] > 0 and updates <= MAX_DUAL_UPDATES
        if is_dual and (not was_dual or epoch % EPOCHS_PER_REFRESH == 0):
            copy_vector(np.dot(Z, w), margins)
            copy_vector(w, first_w)
            refreshed = epoch
            tally[PENDING] = 0
        in_blocks = can_use_blocks(Z) and epoch >= FIRST_BLOCK_EPOCH
        if is_dual:
            saved = updates * (NS_PER_UPDATE + NS_PER_MARGIN * n)
            saved -= n * BLOCK_NS_PER_TRIAL + counts * BLOCK_NS_PER_COUNT
            in_blocks &= saved > 0.0 and tally[CLOSE] * TRIALS_PER_BLOCK <= MAX_CLOSE_SHARE * epoch * n
        tally[UPDATES] = 0
        counter = draw_epoch(RANDOM, indices, counter, cut, alias)
        if screen[1].shape[0] == 0 and epoch >= FIRST_BLOCK_EPOCH and (in_blocks or not is_dual):
            screen = build_screen(Z, phi, longest_row, n)
        tolerance = 0.0
        if in_blocks:
            if is_dual:  # the margins are rounded again in every update
                trials = n * (epoch + 1 - refreshed)
                tolerance = trials * compute_tolerance(first_w, longest_row, largest_step, 0.0, trials)
            else:
                tolerance = compute_tolerance(w, longest_row, largest_step, 0.0, n)
        # Trials up to `last` are made one by one: the whole epoch, or a block with a margin close to 0.
        t, last = np.int64(0), np.int64(0) if in_blocks else n
        if is_dual and not in_blocks:
            catch_up(dual, tally)
            try_dual(samples, dual, w, pocket_w, indices, ratchet, runs, tally)
            t = np.int64(n)
        while t < n:
            if t < last:
                t = try_pocket(samples, gram, margins, w, indices, t, last, is_dual, runs, tally)
            else:
                t, is_close = try_pocket_in_blocks(samples, dual, w, padded, t, is_dual, tolerance, runs, tally)
                if is_close:
                    tally[CLOSE] += 1
                    last = min(t + TRIALS_PER_BLOCK, n)
                    if is_dual:
                        catch_up(dual, tally)
            if runs[RUN] > runs[POCKET_RUN]:
                end_run(samples, dual, screen, w, pocket_w, is_dual, ratchet, runs, tally)
        at = save_checkpoint(pocket_w, epoch, tally[ERROR] == 0, checkpoints, at, path)
        if tally[ERROR] == 0:
            break
    return pocket_w, tally[COUNTS]
