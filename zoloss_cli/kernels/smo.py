"""The dual of the soft-margin SVM by sequential minimal optimization, on a kernel matrix that fits share."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

MAX_STEPS = 10_000_000
MIN_CURVATURE = 1e-12  # of the objective along a step: less, where two samples coincide, is taken for this


@exact_kernel
def _get_row(K, members, rows, ready, i):
    """Return rows[i], the kernel of member i with all members, gathered when it is first needed."""
    if not ready[i]:
        for t in range(members.size):
            rows[i, t] = K[members[i], members[t]]
        ready[i] = True
    return rows[i]


@exact_kernel
def solve_dual(K, members, y, upper, tolerance):
    """Return (alpha, bias, steps) of the least 1/2 sum of a_i a_j y_i y_j K_ij - sum of a_i.

    Where 0 <= a_i <= upper_i, and the sum of a_i y_i is 0. `members` (length n) says which rows and columns of
    K are meant, in the order of y and upper. A step changes the two alphas that Fan, Chen & Lin (2005) pick by
    second-order information, as LIBSVM does; it ends when the optimality conditions hold within the tolerance.
    Rows of K are gathered when they are first needed.
    """
    n = members.size
    whole = n == K.shape[0]
    rows = np.empty((1, 1)) if whole else np.empty((n, n))  # of the members; only touched pages cost anything
    ready = np.zeros(n, np.bool_)
    alpha, gradient, diagonal = np.zeros(n), np.empty(n), np.empty(n)
    for t in range(n):
        # y_t times the derivative with its sign turned: at the optimum, all free ones are the bias.
        gradient[t] = y[t]
        diagonal[t] = K[members[t], members[t]]
    steps, step = 0, 0.0
    row_i = row_j = diagonal  # of a first step of length 0
    while steps < MAX_STEPS:
        i, largest, smallest = -1, -np.inf, np.inf
        for t in range(n):
            gradient[t] -= step * (row_i[t] - row_j[t])
            rises = alpha[t] < upper[t] if y[t] > 0.0 else alpha[t] > 0.0
            if rises and gradient[t] >= largest:
                i, largest = t, gradient[t]
        if i < 0:
            break
        row_i = K[i] if whole else _get_row(K, members, rows, ready, i)
        j, most_gain = -1, 0.0
        for t in range(n):
            g = gradient[t]
            falls = alpha[t] > 0.0 if y[t] > 0.0 else alpha[t] < upper[t]
            if falls:
                smallest = min(smallest, g)
                apart = largest - g
                if apart > 0.0:
                    curvature = max(diagonal[i] + diagonal[t] - 2.0 * row_i[t], MIN_CURVATURE)
                    gain = apart * apart / curvature
                    if gain >= most_gain:
                        j, most_gain = t, gain
        if j < 0 or largest - smallest < tolerance:
            break
        row_j = K[j] if whole else _get_row(K, members, rows, ready, j)
        step = (largest - gradient[j]) / max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], MIN_CURVATURE)
        room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i]
        room_j = alpha[j] if y[j] > 0.0 else upper[j] - alpha[j]
        step = min(step, room_i, room_j)
        # At an end of its range an alpha is set to that end, so that rounding leaves none just beside it.
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        if step == room_i:
            alpha[i] = upper[i] if y[i] > 0.0 else 0.0
        if step == room_j:
            alpha[j] = 0.0 if y[j] > 0.0 else upper[j]
        steps += 1
    return alpha, _compute_bias(alpha, gradient, y, upper), steps


@exact_kernel
def _compute_bias(alpha, gradient, y, upper):
    """Return the mean gradient over free alphas; without any, the middle of what the others allow."""
    free, total, low, high = 0, 0.0, -np.inf, np.inf
    for t in range(alpha.size):
        if 0.0 < alpha[t] < upper[t]:
            free += 1
            total += gradient[t]
        elif (alpha[t] == 0.0) == (y[t] > 0.0):  # this one could only rise
            low = max(low, gradient[t])
        else:
            high = min(high, gradient[t])
    return total / free if free else 0.5 * (low + high)
