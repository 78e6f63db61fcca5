"""The dual of the soft-margin SVM by sequential minimal optimization, on a kernel matrix that fits share.

`rise` and `fall` hold y_t times the negative derivative by alpha_t, if y_t alpha_t may still rise or fall,
and -inf or +inf otherwise: at the optimum, all values that are in both equal the bias. Largest values are
searched for among the bits of floats, as integers in the same order, since loops over integers vectorize.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

MAX_STEPS = 10_000_000
MIN_CURVATURE = 1e-12  # of the objective along a step: less, as for samples that coincide, is raised to this
MAX_GATHERED_SHARE = 0.7  # of all samples: with more, rows are used as they are
SMALLEST_INTEGER = np.int64(-(2**63))
LARGEST_INTEGER = np.int64(2**63 - 1)
BLOCK = 64


@exact_kernel
def _get_row(K, members, rows, ready, i):
    """Return rows[i], the kernel of member i with all members, gathered when first needed."""
    if not ready[i]:
        for t in range(members.size):
            rows[i, t] = K[members[i], members[t]]
        ready[i] = True
    return rows[i]


@exact_kernel
def _find_largest_key(bits):
    """Return the largest of these floats as an integer key; keys are in the order of the floats."""
    largest = SMALLEST_INTEGER
    for t in range(bits.size):
        largest = max(largest, bits[t] ^ ((bits[t] >> 63) & LARGEST_INTEGER))
    return largest


@exact_kernel
def _find_last_largest(bits):
    """Return the index of the largest of these floats, the last one if several are equal."""
    largest = _find_largest_key(bits)
    start, stop = 0, bits.size
    while stop - start > BLOCK:
        middle = (start + stop) // 2
        if _find_largest_key(bits[middle:stop]) == largest:
            start = middle
        else:
            stop = middle
    t = stop - 1
    while bits[t] ^ ((bits[t] >> 63) & LARGEST_INTEGER) != largest:
        t -= 1
    return t


@exact_kernel
def _find_smallest(bits):
    """Return the smallest of these floats."""
    smallest = LARGEST_INTEGER
    for t in range(bits.size):
        smallest = min(smallest, bits[t] ^ ((bits[t] >> 63) & LARGEST_INTEGER))
    return np.int64(smallest ^ ((smallest >> 63) & LARGEST_INTEGER)).view(np.float64)


@exact_kernel
def _move_gradient(rise, fall, step, row_i, row_j):
    """Update `rise` and `fall` for a step along alpha_i and alpha_j; infinite values stay so."""
    for t in range(rise.size):
        change = step * (row_i[t] - row_j[t])
        rise[t] -= change
        fall[t] -= change


@exact_kernel
def _compute_gains(fall, largest, diagonal, own, row_i, gains):
    """Set gains[t] to the second-order estimate of what a step with t gains, or to -1 if there is no gain."""
    for t in range(fall.size):
        apart = largest - fall[t]
        curvature = own + diagonal[t] - 2.0 * row_i[t]
        curvature = curvature if curvature > MIN_CURVATURE else MIN_CURVATURE
        gain = apart * apart / curvature
        gains[t] = gain if apart > 0.0 else -1.0


@exact_kernel
def solve_dual(K, members, y, upper, tolerance):
    """Return (alpha, bias, gradient, steps) at the least 1/2 sum of a_i a_j y_i y_j K_ij - sum of a_i.

    The constraints are 0 <= a_i <= upper_i, and that the sum of a_i y_i is 0. `members` (length n) lists the
    rows and columns of K to use, in the order of y and upper. Each step changes the two alphas that Fan, Chen
    & Lin (2005) pick by second-order information, as LIBSVM does, until the optimality conditions hold within
    the tolerance. If members are few, their rows of K are gathered when first needed. `gradient` is y_t minus
    the sum of a_i y_i K_it: the label minus the score without the bias.
    """
    n, n_all = members.size, K.shape[0]
    if MAX_GATHERED_SHARE * n_all < n < n_all:
        # The other samples cannot move, and do not change which alphas are picked.
        all_y, all_upper = np.zeros(n_all), np.zeros(n_all)
        all_y[members], all_upper[members] = y, upper
        alpha, bias, gradient, steps = _solve(K, np.arange(n_all), all_y, all_upper, tolerance)
        return alpha[members], bias, gradient[members], steps
    return _solve(K, members, y, upper, tolerance)


@exact_kernel
def _solve(K, members, y, upper, tolerance):
    """Solve the dual; y = 0 stands for a sample without an alpha."""
    n = members.size
    whole = n == K.shape[0]
    rows = np.empty((1, 1)) if whole else np.empty((n, n))  # of the members; untouched pages are free
    ready = np.zeros(n, np.bool_)
    alpha, diagonal = np.zeros(n), np.empty(n)
    rise, fall, gains = np.full(n, -np.inf), np.full(n, np.inf), np.empty(n)
    rise_bits, fall_bits, gain_bits = rise.view(np.int64), fall.view(np.int64), gains.view(np.int64)
    for t in range(n):
        diagonal[t] = K[members[t], members[t]]
        if upper[t] > 0.0:
            (rise if y[t] > 0.0 else fall)[t] = y[t]
    steps, step = 0, 0.0
    row_i = row_j = diagonal  # of a first step of length 0
    while steps < MAX_STEPS:
        _move_gradient(rise, fall, step, row_i, row_j)
        i = _find_last_largest(rise_bits)
        largest, smallest = rise[i], _find_smallest(fall_bits)
        if largest <= smallest or largest - smallest < tolerance:
            break
        row_i = K[i] if whole else _get_row(K, members, rows, ready, i)
        _compute_gains(fall, largest, diagonal, diagonal[i], row_i, gains)
        j = _find_last_largest(gain_bits)
        row_j = K[j] if whole else _get_row(K, members, rows, ready, j)
        gradient_j = fall[j]
        step = (largest - gradient_j) / max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], MIN_CURVATURE)
        room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i]
        room_j = alpha[j] if y[j] > 0.0 else upper[j] - alpha[j]
        step = min(step, room_i, room_j)
        # An alpha at an end of its range is set to that end, so that rounding leaves none just beside it.
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        if step == room_i:
            alpha[i] = upper[i] if y[i] > 0.0 else 0.0
        if step == room_j:
            alpha[j] = 0.0 if y[j] > 0.0 else upper[j]
        for t, g in ((i, largest), (j, gradient_j)):
            grows, shrinks = alpha[t] < upper[t], alpha[t] > 0.0
            rise[t] = g if (grows if y[t] > 0.0 else shrinks) else -np.inf
            fall[t] = g if (shrinks if y[t] > 0.0 else grows) else np.inf
        steps += 1
    gradient = np.where(rise > -np.inf, rise, fall)
    return alpha, _compute_bias(alpha, gradient, y, upper), gradient, steps


@exact_kernel
def combine_rows(K, rows, weights):
    """Return the sum of weights[k] K[rows[k]] without copying these rows."""
    total = np.zeros(K.shape[1])
    k = 0
    while k + 4 <= rows.size:
        a, b, c, d = K[rows[k]], K[rows[k + 1]], K[rows[k + 2]], K[rows[k + 3]]
        p, q, r, s = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for t in range(total.size):
            total[t] += p * a[t] + q * b[t] + r * c[t] + s * d[t]
        k += 4
    while k < rows.size:
        a, p = K[rows[k]], weights[k]
        for t in range(total.size):
            total[t] += p * a[t]
        k += 1
    return total


@exact_kernel
def _compute_bias(alpha, gradient, y, upper):
    """Return the mean gradient over free alphas or, without any, the middle of what the others allow."""
    free, total, low, high = 0, 0.0, -np.inf, np.inf
    for t in range(alpha.size):
        if y[t] == 0.0:
            continue
        if 0.0 < alpha[t] < upper[t]:
            free += 1
            total += gradient[t]
        elif (alpha[t] == 0.0) == (y[t] > 0.0):  # y_t alpha_t can only rise
            low = max(low, gradient[t])
        else:
            high = min(high, gradient[t])
    return total / free if free else 0.5 * (low + high)
