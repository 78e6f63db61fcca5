"""The linear soft-margin SVM by a primal-dual interior-point method.

min 1/2 |w|^2 + sum C_i xi_i  subject to  y_i (<w, x_i> + b) + xi_i - s_i = 1,  xi_i, s_i >= 0.

With few features the Newton system is only (m+1) x (m+1), so that a solution takes about ten steps of O(N m^2)
for any C, whereas a decomposition method slows down as C grows. Predictor-corrector steps after Mehrotra
(1992); the duality gap bounds the distance from the optimum. LIBSVM takes 13 times as long at C = 1/32 and 76
times at C = 32: python -m pytest tests/bench/test_speed.py --benchmark-only -k svm. The dual on a kernel matrix
(`solve_dual`) is solved by sequential minimal optimization, as in LIBSVM.

`point` is (alpha, mu, s, xi) with mu = C - alpha, which is updated separately: near the bound, the difference
would suffer from cancellation. `change` is its Newton step (d_alpha, d_s, d_xi); mu changes by -d_alpha.
`columns` is X', padded with zeros to a multiple of eight samples, so that loops over samples run on whole
vectors; or it is 0 x 0 if a copy of X would take too much memory. `room` is workspace with an entry for each
column, at least N; beyond N all are 0.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels.compilation import exact_kernel, kernel
from zoloss_cli.kernels.numeric import factor_in_place, is_finite, solve_by_factor, solve_in_place

MAX_STEPS = 200
STEP_SHARE = 0.995  # of the way to the boundary that a step may take
SLOW_CENTRE = 0.3  # of the gap: the centring without a corrector
# About ten steps suffice. On rare problems the corrector cycles instead: from this step on it is omitted, which
# is slow but converges.
MAX_CORRECTOR_STEPS = 60
COLUMN_MULTIPLE = 8
ROWS_PER_BLOCK = 512  # that are weighted together if there are no columns


def pad_columns(X: np.ndarray) -> np.ndarray:
    """Return X' with columns of zeros added up to a multiple of eight, for `solve_linear_svm`."""
    n, size = X.shape
    columns = np.zeros((size, n + -n % COLUMN_MULTIPLE))
    columns[:, :n] = X.T
    return columns


@kernel
def find_largest(values, count):
    """Return the largest of the first `count` values, which are overwritten: comparing halves vectorizes."""
    left = uint64(count)
    while left > 1:
        half = (left + uint64(1)) >> uint64(1)
        for i in range(left - half):
            values[i] = values[i] if values[i] > values[half + i] else values[half + i]
        left = half
    return values[0]


@kernel
def fill_newton_matrix(columns, D, H):
    """Set the lower triangle of H to that of sum D_i x_i x_i', nine entries per pass over the samples."""
    size, n = columns.shape
    for a in range(0, size, 3):
        a_1, a_2 = min(a + 1, size - 1), min(a + 2, size - 1)
        for b in range(0, a + 1, 3):
            b_1, b_2 = min(b + 1, size - 1), min(b + 2, size - 1)
            h_00 = h_01 = h_02 = h_10 = h_11 = h_12 = h_20 = h_21 = h_22 = 0.0
            for i in range(n):
                x_0, x_1, x_2 = columns[a, i] * D[i], columns[a_1, i] * D[i], columns[a_2, i] * D[i]
                y_0, y_1, y_2 = columns[b, i], columns[b_1, i], columns[b_2, i]
                h_00 += x_0 * y_0
                h_01 += x_0 * y_1
                h_02 += x_0 * y_2
                h_10 += x_1 * y_0
                h_11 += x_1 * y_1
                h_12 += x_1 * y_2
                h_20 += x_2 * y_0
                h_21 += x_2 * y_1
                h_22 += x_2 * y_2
            H[a, b], H[a, b_1], H[a, b_2] = h_00, h_01, h_02
            H[a_1, b], H[a_1, b_1], H[a_1, b_2] = h_10, h_11, h_12
            H[a_2, b], H[a_2, b_1], H[a_2, b_2] = h_20, h_21, h_22


@kernel
def fill_newton_matrix_by_rows(X, D, H):
    """Set H to sum D_i x_i x_i', a block of rows at a time."""
    n, size = X.shape
    weighted, part = np.empty((ROWS_PER_BLOCK, size)), np.empty((size, size))
    for j in range(size):
        for k in range(size):
            H[j, k] = 0.0
    for start in range(0, n, ROWS_PER_BLOCK):
        rows = X[start : start + ROWS_PER_BLOCK]
        count = rows.shape[0]
        for i in range(count):
            for j in range(size):
                weighted[i, j] = rows[i, j] * D[start + i]
        np.dot(weighted[:count].T, rows, part)
        for j in range(size):
            for k in range(size):
                H[j, k] += part[j, k]


@kernel
def compute_products(X, columns, u, products):
    """Set products_i = <x_i, u>."""
    if columns.shape[0] > 0:
        np.dot(u, columns, products)
    else:
        np.dot(X, u, products)


@kernel
def sum_weighted_samples(X, columns, weights, total):
    """Set `total` to the sum of weights_i x_i."""
    if columns.shape[0] > 0:
        np.dot(columns, weights, total)
    else:
        np.dot(weights, X, total)


@kernel
def measure_point(C, point, u, margins, r_primal, r_dual, room):
    """Set the residuals; return (gap, gap relative to the objective, whether the residuals are small).

    `margins` are those of u, and `r_dual` holds the sum of alpha_i y_i x_i on entry.
    """
    alpha, mu, s, xi = point
    gap, cost, total = 0.0, 0.0, 0.0
    for i in range(C.shape[0]):
        r_primal[i] = margins[i] + xi[i] - s[i] - 1.0
        room[i] = abs(r_primal[i])
        gap += alpha[i] * s[i] + mu[i] * xi[i]
        cost += C[i] * xi[i]
        total += alpha[i]
    r_dual[0] = -r_dual[0]  # the bias is not regularized
    norm, largest = 0.0, abs(r_dual[0])
    for j in range(1, u.shape[0]):
        r_dual[j] = u[j] - r_dual[j]
        norm += u[j] * u[j]
        largest = max(largest, abs(r_dual[j]))
    feasible = find_largest(room, C.shape[0]) < 1e-6 and largest < 1e-8 * (1.0 + total)
    return gap, gap / (1.0 + abs(0.5 * norm + cost)), feasible


@kernel
def predict_change(point, D, g, along, change, room):
    """Set `change` to the uncentred Newton step; return the longest feasible step, and the gap's curvature."""
    alpha, mu, s, xi = point
    d_alpha, d_s, d_xi = change
    second = 0.0
    for i in range(g.shape[0]):
        d = D[i] * (g[i] - along[i])
        by_alpha, by_mu = d / alpha[i], d / mu[i]
        d_alpha[i] = d
        d_s[i] = -s[i] - s[i] * by_alpha
        d_xi[i] = xi[i] * by_mu - xi[i]
        second += d * (d_s[i] - d_xi[i])
        # Relative decreases of alpha, s, mu and xi: of each pair, which sums to 1, the larger one.
        fall_alpha = -by_alpha if by_alpha < -0.5 else 1.0 + by_alpha
        fall_mu = by_mu if by_mu > 0.5 else 1.0 - by_mu
        room[i] = fall_alpha if fall_alpha > fall_mu else fall_mu
    return min(1.0, 1.0 / find_largest(room, g.shape[0])), second


@exact_kernel  # like all that LLVM rounds differently in a copy: see tests/contract/test_kernel_copies.py
def set_target(point, change, centre, with_second, r_primal, g):
    """Set g for the step towards the centre; set d_s and d_xi to the target changes of alpha s and mu xi."""
    alpha, mu, s, xi = point
    d_alpha, d_s, d_xi = change
    for i in range(g.shape[0]):
        d_s[i] = centre - alpha[i] * s[i] - with_second * (d_alpha[i] * d_s[i])
        d_xi[i] = centre - mu[i] * xi[i] + with_second * (d_alpha[i] * d_xi[i])
        g[i] = d_s[i] / alpha[i] - d_xi[i] / mu[i] - r_primal[i]


@exact_kernel
def correct_change(point, D, g, along, change, room):
    """Set `change` to the Newton step for the target that it holds; return the longest feasible step."""
    alpha, mu, s, xi = point
    d_alpha, d_s, d_xi = change
    for i in range(g.shape[0]):
        d = D[i] * (g[i] - along[i])
        d_alpha[i] = d
        d_s[i] = (d_s[i] - s[i] * d) / alpha[i]
        d_xi[i] = (d_xi[i] + xi[i] * d) / mu[i]
        fall_alpha, fall_mu = -d / alpha[i], d / mu[i]
        fall_s, fall_xi = -d_s[i] / s[i], -d_xi[i] / xi[i]
        fall_alpha = fall_alpha if fall_alpha > fall_s else fall_s
        fall_mu = fall_mu if fall_mu > fall_xi else fall_xi
        fall = fall_alpha if fall_alpha > fall_mu else fall_mu
        room[i] = fall if fall > STEP_SHARE else STEP_SHARE
    return STEP_SHARE / find_largest(room, g.shape[0])


@kernel
def take_newton_step(point, change, step):
    """Move the point by `step` times its change."""
    alpha, mu, s, xi = point
    d_alpha, d_s, d_xi = change
    for i in range(d_s.shape[0]):
        alpha[i] += step * d_alpha[i]
        mu[i] -= step * d_alpha[i]
        s[i] += step * d_s[i]
        xi[i] += step * d_xi[i]


@kernel
def factor_newton_matrix(X, columns, D, H):
    """Set H to the Newton matrix's Cholesky factor; without one, return False and leave the matrix."""
    size = H.shape[0]
    for attempt in range(2):
        if columns.shape[0] > 0:
            fill_newton_matrix(columns, D, H)
        else:
            fill_newton_matrix_by_rows(X, D, H)
        for j in range(1, size):
            H[j, j] += 1.0
        if attempt == 0 and factor_in_place(H):
            return True
    for j in range(size):
        for k in range(j):
            H[k, j] = H[j, k]
    return False


@kernel
def find_direction(X, columns, weights, r_dual, H, factored, du):
    """Set du to the change of u, from H du = sum of weights_i x_i - r_dual; H may be `factored`."""
    sum_weighted_samples(X, columns, weights, du)
    for j in range(du.shape[0]):
        du[j] -= r_dual[j]
    if factored:
        solve_by_factor(H, du)
    else:
        solve_in_place(H, du)


@kernel
def multiply_elements(a, b, count, product):
    """Set the first `count` elements of `product` to those of a times those of b."""
    for i in range(count):
        product[i] = a[i] * b[i]


@kernel
def solve_linear_svm(X, columns, y, C, gap_tolerance):
    """Return (u, relative gap): u = (b, w) for rows (1, x_i) of X and N bounds C_i > 0."""
    n, size = X.shape
    width = max(n, columns.shape[1])
    u, du, r_dual, H = np.zeros(size), np.empty(size), np.empty(size), np.empty((size, size))
    point = alpha, mu, s, xi = 0.5 * C, 0.5 * C, np.ones(n), np.full(n, 2.0)
    change = np.empty(n), np.empty(n), np.empty(n)
    r_primal, g = np.empty(n), np.empty(n)
    along, D, D_y, room = np.empty(width), np.zeros(width), np.empty(n), np.zeros(width)
    relative = np.inf
    for iteration in range(MAX_STEPS):
        compute_products(X, columns, u, along)
        multiply_elements(along, y, n, along)
        multiply_elements(alpha, y, n, room)
        sum_weighted_samples(X, columns, room, r_dual)
        gap, relative, feasible = measure_point(C, point, u, along, r_primal, r_dual, room)
        # Far below the tolerance only rounding is left, and the Newton matrix becomes singular.
        if relative < gap_tolerance * (1.0 if feasible else 1e-5):
            break
        for i in range(n):
            D[i] = 1.0 / (xi[i] / mu[i] + s[i] / alpha[i])
            D_y[i] = D[i] * y[i]
            g[i] = 1.0 - along[i]
            room[i] = D_y[i] * g[i]
        if not is_finite(D):
            break
        factored = factor_newton_matrix(X, columns, D, H)
        find_direction(X, columns, room, r_dual, H, factored, du)
        compute_products(X, columns, du, along)
        multiply_elements(along, y, n, along)
        step, second = predict_change(point, D, g, along, change, room)
        centre = (((1.0 - step) * gap + step * step * second) / gap) ** 3 * gap / (2 * n)
        with_second = 1.0
        if iteration >= MAX_CORRECTOR_STEPS:
            centre, with_second = SLOW_CENTRE * gap / (2 * n), 0.0
        set_target(point, change, centre, with_second, r_primal, g)
        multiply_elements(D_y, g, n, room)
        find_direction(X, columns, room, r_dual, H, factored, du)
        compute_products(X, columns, du, along)
        multiply_elements(along, y, n, along)
        step = correct_change(point, D, g, along, change, room)
        if not is_finite(du):
            break
        for j in range(size):
            u[j] += step * du[j]
        take_newton_step(point, change, step)
    return u, relative


# Sequential minimal optimization. `rise` and `fall` hold y_t times the negative derivative by alpha_t, if
# y_t alpha_t may still rise or fall, and -inf or +inf otherwise: at the optimum, all values that are in both
# equal the bias. Maxima are found among the bits of floats, as integers in the same order, since loops over
# integers vectorize.

MAX_SMO_STEPS = 10_000_000
MIN_CURVATURE = 1e-12  # of the objective along a step: lower values, as for equal samples, are raised to this
MAX_GATHERED_SHARE = 0.7  # of all samples: with fewer members, their rows of K are gathered when first needed
SMALLEST_INTEGER = np.int64(-(2**63))
LARGEST_INTEGER = np.int64(2**63 - 1)
SEARCH_BLOCK = 64  # samples: in one of these, the largest value is found one by one


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
    while stop - start > SEARCH_BLOCK:
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
    """Return (alpha, bias, gradient, steps) at the minimum of 1/2 sum of a_i a_j y_i y_j K_ij - sum of a_i.

    The constraints are 0 <= a_i <= upper_i, and that the sum of a_i y_i is 0. `members` (length n) lists the
    rows and columns of K to use, in the order of y and upper. Each step changes the two alphas that Fan, Chen
    & Lin (2005) pick by second-order information, until the optimality conditions hold within the tolerance.
    `gradient` is the label y_t minus the score without the bias.
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
    """Solve the dual; y = 0 marks a sample without an alpha."""
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
    while steps < MAX_SMO_STEPS:
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
