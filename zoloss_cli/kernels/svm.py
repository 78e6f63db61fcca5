"""The linear soft-margin SVM by a primal-dual interior-point method.

min 1/2 |w|^2 + sum C_i xi_i  subject to  y_i (<w, x_i> + b) + xi_i - s_i = 1,  xi_i, s_i >= 0.

With few features the Newton system is only (m+1) x (m+1), so a solution takes some twenty steps of
O(N m^2) whatever C is, where a decomposition method slows down as C grows. Predictor-corrector steps
after Mehrotra (1992); the duality gap bounds the distance from the optimum.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.arrays import compute_max_abs
from zoloss_cli.kernels.lapack import is_finite, solve_in_place

MAX_STEPS = 200
STEP_SHARE = 0.995  # of the way to the boundary that a step may go
SLOW_CENTRE = 0.3  # of the gap: the centring without a corrector
# Some twenty steps are enough. In rare problems the corrector runs in a circle instead: from this step on, it
# is left out, which is slow and sure.
MAX_CORRECTOR_STEPS = 60


@kernel
def find_longest_step(value, change, share):
    """Return the longest step in (0, 1] that keeps `value` positive, shortened to a share of the way."""
    step = 1.0
    for i in range(value.shape[0]):
        if change[i] < 0.0:
            step = min(step, -share * value[i] / change[i])
    return step


@kernel
def solve_linear_svm(Z, C, gap_tolerance):
    """Return (u, gap): u = (b, w) for rows y_i (1, x_i) of Z and bounds C_i > 0.

    Z is N x (m + 1), C has length N. The duality gap is relative to the objective.
    """
    n, size = Z.shape
    u = np.zeros(size, np.float64)
    alpha = 0.5 * C
    mu = 0.5 * C  # C - alpha, carried along: near the bound the difference would lose its digits
    s = np.ones(n, np.float64)
    xi = np.full(n, 2.0)
    Z_T = np.ascontiguousarray(Z.T)
    scaled = np.empty((size, n), np.float64)
    relative = np.inf
    for iteration in range(MAX_STEPS):
        margins = np.dot(Z, u)
        r_dual = u - np.dot(Z_T, alpha)
        r_dual[0] -= u[0]  # the bias is not regularized
        r_primal = margins + xi - s - 1.0
        gap = np.dot(alpha, s) + np.dot(mu, xi)
        objective = 0.5 * (np.dot(u, u) - u[0] * u[0]) + np.dot(C, xi)
        relative = gap / (1.0 + abs(objective))
        feasible = compute_max_abs(r_primal) < 1e-6 and compute_max_abs(r_dual) < 1e-8 * (1.0 + np.sum(alpha))
        # Far below the tolerance rounding is all that is left, and the Newton matrix turns singular.
        if relative < gap_tolerance * (1.0 if feasible else 1e-5):
            break
        D = 1.0 / (xi / mu + s / alpha)
        if not is_finite(D):
            break
        for j in range(size):
            for i in range(n):
                scaled[j, i] = Z_T[j, i] * D[i]
        H = np.dot(scaled, Z)
        for j in range(1, size):
            H[j, j] += 1.0

        centre = 0.0
        second_s = np.zeros(n, np.float64)
        second_xi = np.zeros(n, np.float64)
        for phase in range(2):
            c_s = centre - alpha * s - second_s
            c_xi = centre - mu * xi - second_xi
            g = c_s / alpha - c_xi / mu - r_primal
            du = np.dot(scaled, g) - r_dual
            solve_in_place(H, du)
            d_alpha = D * (g - np.dot(Z, du))
            d_s = (c_s - s * d_alpha) / alpha
            d_xi = (c_xi + xi * d_alpha) / mu
            share = 1.0 if phase == 0 else STEP_SHARE
            step = min(find_longest_step(alpha, d_alpha, share), find_longest_step(mu, -d_alpha, share))
            step = min(step, find_longest_step(s, d_s, share), find_longest_step(xi, d_xi, share))
            if phase == 0:
                after = np.dot(alpha + step * d_alpha, s + step * d_s)
                after += np.dot(mu - step * d_alpha, xi + step * d_xi)
                centre = (after / gap) ** 3 * gap / (2 * n)
                second_s = d_alpha * d_s
                second_xi = -d_alpha * d_xi
                if iteration >= MAX_CORRECTOR_STEPS:
                    centre = SLOW_CENTRE * gap / (2 * n)
                    second_s[:] = 0.0
                    second_xi[:] = 0.0
        if not is_finite(du):
            break
        u = u + step * du
        alpha = alpha + step * d_alpha
        mu = mu - step * d_alpha
        s = s + step * d_s
        xi = xi + step * d_xi
    return u, relative
