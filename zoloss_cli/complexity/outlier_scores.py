"""Outlier scores other than contributions (Li 2006, Figure 1.12)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from zoloss_cli.complexity.clusters import compute_squared_distances
from zoloss_cli.complexity.contribution import Progress
from zoloss_cli.complexity.hard_margin import HardMarginProblem, check_samples, fit_hard_margin_svm
from zoloss_cli.errors import ConfigError

DISTANCES_PER_BLOCK = 4_000_000


def compute_neighbour_scores(problem: HardMarginProblem, k: int = 10) -> np.ndarray:
    """Return the share of the k nearest neighbours of each sample that have the other class.

    Parameters
    ----------
    problem : HardMarginProblem
        The samples, and the kernel that gives their distances.
    k : int
        Number of neighbours; among equally near ones, the first count.

    Returns
    -------
    ndarray of shape (n_samples,)
        Shares between 0 and 1.
    """
    n = len(problem)
    _check_neighbours(k, n)
    return _compute_opposed_shares(compute_squared_distances(problem), problem.y, np.arange(n), k)


def compute_neighbour_scores_in_blocks(
    X: np.ndarray, y: ArrayLike, k: int = 10, progress: Progress | None = None
) -> np.ndarray:
    """Compute neighbour scores with the perceptron kernel for more samples than fit in a kernel matrix.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels of any number of classes.
    k : int
        Number of neighbours; among equally near ones, the first count.
    progress : callable, optional
        Called with the number of samples done and the total.

    Returns
    -------
    ndarray of shape (n_samples,)
        As from `compute_neighbour_scores`.
    """
    n = len(X)
    codes = np.asarray(y)
    check_samples(X, codes)
    _check_neighbours(k, n)
    shares, height = np.empty(n), max(1, DISTANCES_PER_BLOCK // n)
    for start in range(0, n, height):
        block = np.arange(start, min(start + height, n))
        shares[block] = _compute_opposed_shares(cdist(X[block], X), codes, block, k)
        if progress is not None:
            progress(int(block[-1]) + 1, n)
    return shares


def _check_neighbours(k: int, n_samples: int) -> None:
    if not 1 <= k < n_samples:
        raise ConfigError(f"a sample has 1 to {n_samples - 1} neighbours here, not {k}")


def _compute_opposed_shares(D: np.ndarray, y: np.ndarray, block: np.ndarray, k: int) -> np.ndarray:
    """Return the scores of some samples from their distances D to all, which are overwritten."""
    D[np.arange(len(block)), block] = np.inf  # a sample is not a neighbour of itself
    farthest = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    nearer, tied = farthest > D, farthest == D
    room = k - nearer.sum(axis=1, keepdims=True)
    near = nearer | (tied & (np.cumsum(tied, axis=1) <= room))
    return np.sum(near & (y[block][:, None] != y[None, :]), axis=1) / k


def compute_multipliers(problem: HardMarginProblem) -> np.ndarray:
    """Return the weight alpha of each sample in the hard-margin SVM of all samples: one solve."""
    solution, alpha = fit_hard_margin_svm(problem), np.zeros(len(problem))
    alpha[solution.support] = np.abs(solution.coefficients)
    return alpha


def compute_cross_validated_scores(problem: HardMarginProblem, folds: int = 10, seed: int = 0) -> np.ndarray:
    """Return how far each sample is on the wrong side of the other folds' SVM: its negative margin.

    Parameters
    ----------
    problem : HardMarginProblem
        The samples.
    folds : int
        Number of folds.
    seed : int
        Seed of the folds.

    Returns
    -------
    ndarray of shape (n_samples,)
        The larger, the farther.
    """
    n = len(problem)
    if not 2 <= folds <= n:
        raise ConfigError(f"there can be 2 to {n} folds, not {folds}")
    order, wrong = np.random.default_rng(seed).permutation(n), np.empty(n)
    for fold in np.array_split(order, folds):
        svm = fit_hard_margin_svm(problem, np.setdiff1d(order, fold))
        wrong[fold] = -problem.y[fold] * (problem.K[np.ix_(fold, svm.support)] @ svm.coefficients + svm.bias)
    return wrong
