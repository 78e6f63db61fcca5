"""Margins of hyperplanes through the origin: the largest one, and the best to compare a perceptron with.

Samples are rows of X with signs -1 or +1; a threshold is a constant column of X. The margin of w is the
smallest y_i (w x_i) / |w|. The course notes "The Perceptron" (003, on-line perceptron) omit the label: they
require |w x_i| / |w| >= gamma, which also holds for a w with every sample on the wrong side.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.learners.linear_base import rotate_into_span

WIDE_MARGIN = 1e9  # in radii: beyond this the bound hardly falls
SVM_GAP = 1e-8  # relative, of the SVM's objective
MAX_NNLS_STEPS = 30  # per row or column of its system


def compute_radius(X: np.ndarray) -> float:
    """Return R, the length of the longest sample."""
    return float(np.sqrt((X * X).sum(axis=1).max()))


def compute_margin(X: np.ndarray, signs: np.ndarray, w: np.ndarray) -> float:
    """Return the margin of w of any length: positive if w separates the samples, -inf for w = 0."""
    length = np.linalg.norm(w)
    return float((signs * (X @ w)).min() / length) if length > 0.0 else -np.inf


def find_widest_separator(X: np.ndarray, signs: np.ndarray) -> np.ndarray | None:
    """Find the unit vector with the largest margin.

    It points to the shortest vector in the convex hull of the signed samples, which Lawson & Hanson [1]_ find
    by nonnegative least squares: the weights a >= 0 that bring (sum of a_i z_i, sum of a_i) nearest to (0, 1).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    signs : ndarray of shape (n_samples,)
        Labels, -1.0 or 1.0.

    Returns
    -------
    ndarray of shape (n_features,) or None
        None if no vector separates the samples.

    References
    ----------
    .. [1] Lawson, C. L. and Hanson, R. J. (1974). Solving least squares problems. Chapter 23.
    """
    Z = X * signs[:, None]
    longest = compute_radius(X)
    if longest == 0.0:
        return None
    system = np.vstack([Z.T / longest, np.ones(len(Z))])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    a, _ = nnls(system, goal, maxiter=MAX_NNLS_STEPS * max(system.shape))
    w = Z.T @ a
    # The margin is computed from w itself, whatever rounding did to the search.
    return w / np.linalg.norm(w) if compute_margin(X, signs, w) > 0.0 else None


def find_best_comparison(X: np.ndarray, signs: np.ndarray, rounds: int) -> tuple[np.ndarray, float]:
    """Find w and gamma for which (R/gamma)^2 + (2/gamma) TD_gamma(w) is smallest, up to rounding.

    With u = w/gamma it is R^2 |u|^2 + 2 rounds sum of max(0, 1 - z_i u): the objective of a soft-margin SVM
    without a threshold, whose C is rounds/R^2.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    signs : ndarray of shape (n_samples,)
        Labels, -1.0 or 1.0.
    rounds : int
        How often each sample is presented.

    Returns
    -------
    w : ndarray of shape (n_features,)
        A unit vector.
    gamma : float
        A margin.
    """
    if X.shape[1] > 1 + X.shape[0]:  # w is a combination of samples
        rotated, axes = rotate_into_span(X)
        w, gamma = find_best_comparison(rotated, signs, rounds)
        return axes @ w, gamma
    longest = compute_radius(X)
    if longest == 0.0:
        return np.full(X.shape[1], X.shape[1] ** -0.5), 1.0
    Z = X * signs[:, None] / longest
    # Every sample appears a second time with both signs changed: the best threshold is then 0.
    mirrored = np.vstack([np.insert(Z, 0, 1.0, axis=1), np.insert(Z, 0, -1.0, axis=1)])
    bounds, columns = np.full(len(mirrored), 0.5 * rounds), pad_columns(mirrored)
    candidates = [solve_linear_svm(mirrored, columns, np.ones(len(mirrored)), bounds, SVM_GAP)[0][1:]]
    if (widest := find_widest_separator(X, signs)) is not None:
        candidates.append(longest * widest / compute_margin(X, signs, widest))
    u = min(candidates, key=lambda u: u @ u + 2.0 * rounds * np.maximum(0.0, 1.0 - Z @ u).sum())
    length = float(np.linalg.norm(u))
    if length == 0.0:  # contradictory labels: the wider the margin, the smaller the bound
        return np.full(X.shape[1], X.shape[1] ** -0.5), WIDE_MARGIN * longest
    return u / length, longest / length
