"""Other signs that an example is an outlier, and how well a sign tells: ROC curves (Li 2006, Figure 1.12)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from zoloss_cli.complexity.clusters import compute_squared_distances
from zoloss_cli.complexity.hard_margin import HardMarginProblem, encode_labels, fit_hard_margin_svm
from zoloss_cli.errors import ConfigError

DISTANCES_PER_BLOCK = 4_000_000  # distances at a time

Progress = Callable[[int, int], None]  # what is done, of how many


def compute_neighbour_scores(problem: HardMarginProblem, k: int = 10) -> np.ndarray:
    """The share of each example's k nearest neighbours of the other class; of a tie, the first rows."""
    n = len(problem)
    if not 1 <= k < n:
        raise ConfigError(f"an example has 1 to {n - 1} neighbours here, not {k}")
    return _opposed(compute_squared_distances(problem), problem.y, np.arange(n), k)


def compute_neighbour_scores_in_blocks(X, y, k: int = 10, progress: Progress | None = None) -> np.ndarray:
    """As `compute_neighbour_scores` of the perceptron kernel, for more rows than a kernel matrix has room for."""
    X, n = np.asarray(X, dtype=np.float64), len(X)
    signs = encode_labels(X, y)
    if not 1 <= k < n:
        raise ConfigError(f"an example has 1 to {n - 1} neighbours here, not {k}")
    shares, height = np.empty(n), max(1, DISTANCES_PER_BLOCK // n)
    for start in range(0, n, height):
        rows = np.arange(start, min(start + height, n))
        shares[rows] = _opposed(cdist(X[rows], X), signs, rows, k)
        if progress is not None:
            progress(int(rows[-1]) + 1, n)
    return shares


def _opposed(D: np.ndarray, y: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """From the distances of some rows to all, which are changed; a row is no neighbour of itself."""
    D[np.arange(len(rows)), rows] = np.inf
    farthest = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    nearer, tied = farthest > D, farthest == D
    room = k - nearer.sum(axis=1, keepdims=True)
    near = nearer | (tied & (np.cumsum(tied, axis=1) <= room))
    return np.sum(near & (y[rows][:, None] != y[None, :]), axis=1) / k


def compute_multipliers(problem: HardMarginProblem) -> np.ndarray:
    """The weight alpha of each example in the hard-margin SVM of all: one solve."""
    solution, alpha = fit_hard_margin_svm(problem), np.zeros(len(problem))
    alpha[solution.support] = np.abs(solution.coefficients)
    return alpha


def compute_cross_validated_scores(problem: HardMarginProblem, folds: int = 10, seed: int = 0) -> np.ndarray:
    """How far each example is on the wrong side of the SVM of the other folds: its margin, turned round."""
    n = len(problem)
    if not 2 <= folds <= n:
        raise ConfigError(f"there can be 2 to {n} folds, not {folds}")
    order, wrong = np.random.default_rng(seed).permutation(n), np.empty(n)
    for part in np.array_split(order, folds):
        fit = fit_hard_margin_svm(problem, np.setdiff1d(order, part))
        wrong[part] = -problem.y[part] * (problem.K[np.ix_(part, fit.support)] @ fit.coefficients + fit.bias)
    return wrong
