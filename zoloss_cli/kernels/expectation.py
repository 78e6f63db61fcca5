"""Expectation propagation for the Bayes point machine: Minka (2001), section 4, with probit noise.

The posterior of w is approximated by a Gaussian N(m, V), the product of the prior and a Gaussian in <w, z_i>
for each row i. A sweep visits every row: it removes the row's Gaussian from the posterior, matches the moments
of the rest times the true likelihood, and inserts the new Gaussian.
"""

from __future__ import annotations

import math

import numpy as np

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.numeric import compute_max_abs

CONVERGENCE_TOLERANCE = 1e-4  # of the largest weight: a sweep that changes no weight by more is the last
MILLS_ASYMPTOTE = -30.0  # below this z, Phi(z) is close to the smallest float
MIN_CAVITY_SHARE = 1e-12  # of the posterior's precision: a sample that leaves less is skipped
ROOT_2 = math.sqrt(2.0)
ROOT_2_PI = math.sqrt(2.0 * math.pi)


@kernel
def compute_mills_ratio(z):
    """Return N(z) / Phi(z), using its asymptote where Phi nearly underflows."""
    if z < MILLS_ASYMPTOTE:
        return -z + 1.0 / -z
    return math.exp(-0.5 * z * z) / ROOT_2_PI / (0.5 * math.erfc(-z / ROOT_2))


@kernel
def fit_bayes_point(Z, noise, sweeps):
    """Return (m, sweeps done): the posterior mean of w for rows z_i = y_i x_i of Z and the prior N(0, I).

    Z is N x size, and m has length size. The likelihood of row i is Phi(<w, z_i> / sqrt(noise)), approximated
    by a Gaussian in <w, z_i> with mean m_i and precision pi_i.
    """
    n, size = Z.shape
    m = np.zeros(size, np.float64)
    V = np.eye(size)
    site_mean = np.zeros(n, np.float64)
    site_precision = np.zeros(n, np.float64)
    for sweep in range(1, sweeps + 1):
        moved = 0.0
        for i in range(n):
            z_i = Z[i]
            Vz = np.dot(V, z_i)
            spread = np.dot(z_i, Vz)
            centre = np.dot(z_i, m)
            # variance and mean of <w, z_i> without row i
            room = 1.0 - site_precision[i] * spread
            if room <= MIN_CAVITY_SHARE:
                continue
            cavity = spread / room
            away = centre + cavity * site_precision[i] * (centre - site_mean[i])
            total = cavity + noise
            u = away / math.sqrt(total)
            alpha = compute_mills_ratio(u) / math.sqrt(total)
            curvature = alpha * (alpha + away / total)
            if curvature <= 0.0 or curvature * cavity >= 1.0:
                continue
            precision = curvature / (1.0 - curvature * cavity)
            mean = away + alpha / curvature
            change = precision - site_precision[i]
            shift = precision * mean - site_precision[i] * site_mean[i]
            # N(m, V) with the new Gaussian in place of the old one, by the Sherman-Morrison formula
            factor = 1.0 + change * spread
            gain = (shift - change * centre) / factor
            for j in range(size):
                step = Vz[j] * gain
                m[j] += step
                moved = max(moved, abs(step))
            scale = change / factor
            for j in range(size):
                for k in range(size):
                    V[j, k] -= scale * Vz[j] * Vz[k]
            site_precision[i] = precision
            site_mean[i] = mean
        if moved < CONVERGENCE_TOLERANCE * (1e-12 + compute_max_abs(m)):
            return m, sweep
    return m, sweeps
