"""Smooth 0/1 loss approximation (SLA): Nguyen & Sanner (2013), Figures 7 and 8.

L_K(w) = sum of phi_i / (1 + exp(K m_i)) with margins m_i = <w, z_i> and z_i = y_i x_i; as K grows, L_K
approaches the 0/1 loss. `Z` is N x P, and `Z_T` is its transpose; `margins` and `phi` have length N. Most of
the time goes into the exponentials, N per probe; NumPy takes 13 times as long on heart (python -m pytest
tests/bench/test_speed.py --benchmark-only -k sla).
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.numeric import compute_max_abs, copy_vector

MAX_RATE = 0.1  # of a gradient step, r of Figure 8; it is reduced tenfold at a time
MIN_RATE = 1e-6
MIN_GAIN = 0.1  # eps_L: the smallest decrease of L_K that counts
FLAT_GRADIENT = 0.01  # eps_G: a gradient with no larger component ends the descent
MAX_EXPONENT = 700.0  # exp overflows beyond


@kernel
def compute_smooth_loss(margins, phi, K):
    """Return L_K."""
    total = 0.0
    for i in range(margins.shape[0]):
        total += phi[i] / (1.0 + np.exp(min(K * margins[i], MAX_EXPONENT)))
    return total


@kernel
def compute_shifted_smooth_loss(margins, z, step, phi, K):
    """Return L_K after one weight is changed by `step`; z (length N) is that weight's column of Z."""
    total = 0.0
    for i in range(margins.shape[0]):
        total += phi[i] / (1.0 + np.exp(min(K * (margins[i] + step * z[i]), MAX_EXPONENT)))
    return total


@kernel
def compute_shifted_zero_one_loss(margins, z, step, phi):
    """Return the 0/1 loss (a zero margin is an error) after one weight is changed by `step`."""
    total = 0.0
    for i in range(margins.shape[0]):
        total += phi[i] if margins[i] + step * z[i] <= 0.0 else 0.0
    return total


@kernel
def compute_smooth_gradient(Z_T, margins, phi, K):
    """Return the gradient of L_K with respect to w."""
    n = margins.shape[0]
    slope = np.empty(n, np.float64)
    for i in range(n):
        s = 1.0 / (1.0 + np.exp(min(K * margins[i], MAX_EXPONENT)))
        slope[i] = -K * phi[i] * s * (1.0 - s)
    return np.dot(Z_T, slope)


@kernel
def descend_gradient(Z, Z_T, phi, w, K, decay):
    """Take gradient steps, changing w, as long as some rate gains at least eps_L: stage 1 of Figure 8.

    `decay` adds (decay / 2) |w|^2 to the loss: the regularizer of Table 4. Returns (margins, loss).
    """
    margins = np.dot(Z, w)
    loss = compute_smooth_loss(margins, phi, K) + 0.5 * decay * np.dot(w, w)
    gradient = compute_smooth_gradient(Z_T, margins, phi, K) + decay * w
    while True:
        rate = MAX_RATE
        gained = False
        while rate >= MIN_RATE and not gained:
            trial = w - rate * gradient
            trial_margins = np.dot(Z, trial)
            trial_loss = compute_smooth_loss(trial_margins, phi, K) + 0.5 * decay * np.dot(trial, trial)
            gained = loss - trial_loss >= MIN_GAIN
            rate *= 0.1
        if not gained:
            return margins, loss
        copy_vector(trial, w)
        margins, loss = trial_margins, trial_loss
        gradient = compute_smooth_gradient(Z_T, margins, phi, K) + decay * w
        if compute_max_abs(gradient) <= FLAT_GRADIENT:
            return margins, loss


@kernel
def probe_smooth_loss(Z_T, margins, loss, phi, w, K, radius, step, decay):
    """Take the first step of one weight that gains eps_L (stage 2 of Figure 8); return whether one did."""
    steps = np.int64(np.floor(radius / step + 0.5))
    ww = np.dot(w, w)
    for j in range(w.shape[0]):
        for k in range(1, steps + 1):
            for sign in (1.0, -1.0):
                change = sign * k * step
                penalty = 0.5 * decay * (ww + change * (2.0 * w[j] + change))
                if loss - compute_shifted_smooth_loss(margins, Z_T[j], change, phi, K) - penalty >= MIN_GAIN:
                    w[j] += change
                    return True
    return False


@kernel
def probe_zero_one_loss(Z, Z_T, phi, w, radius, step):
    """Move each weight in turn to where the 0/1 loss is lowest, as the last pass; return that loss."""
    margins = np.dot(Z, w)
    best = compute_shifted_zero_one_loss(margins, Z_T[0], 0.0, phi)
    steps = np.int64(np.floor(radius / step + 0.5))
    for j in range(w.shape[0]):
        chosen = 0.0
        for k in range(1, steps + 1):
            for sign in (1.0, -1.0):
                count = compute_shifted_zero_one_loss(margins, Z_T[j], sign * k * step, phi)
                if count < best:
                    best, chosen = count, sign * k * step
        if chosen != 0.0:
            w[j] += chosen
            margins = np.dot(Z, w)
    return best


@kernel
def fit_sla(Z, phi, w, precisions, radii, steps, decay, last_radius, last_step):
    """Apply Figure 7 to w in stages (K, radius, step), then the last pass; return its 0/1 loss."""
    Z_T = np.ascontiguousarray(Z.T)
    for stage in range(precisions.shape[0]):
        K, before = precisions[stage], np.inf
        while True:
            margins, loss = descend_gradient(Z, Z_T, phi, w, K, decay)
            # If the gain of a step was only rounding, the same step would be taken again and again.
            if not before - loss >= 0.5 * MIN_GAIN:
                break
            before = loss
            if not probe_smooth_loss(Z_T, margins, loss, phi, w, K, radii[stage], steps[stage], decay):
                break
    return probe_zero_one_loss(Z, Z_T, phi, w, last_radius, last_step)
