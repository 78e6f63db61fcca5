"""Outlier scores other than contributions (Li 2006, Figure 1.12)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from scipy.spatial.distance import cdist

from zoloss_cli.complexity.contribution import Progress, compute_leave_one_out
from zoloss_cli.complexity.decomposition import compute_squared_distances
from zoloss_cli.complexity.hard_margin import HardMarginProblem, check_samples, fit_hard_margin_svm
from zoloss_cli.complexity.measures import Gamma, KernelName, Measure, round_all
from zoloss_cli.errors import ConfigError
from zoloss_cli.learners.base import build_generator

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


SCORE_DIGITS = 8


class OutlierScore(Measure):
    """Base class of outlier scores; subclasses implement `compute_scores`."""

    reports: ClassVar[tuple[str, ...]] = ("outlier_scores",)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the score of each sample, and which labels are known to be wrong."""
        return {
            "scores": round_all(self.compute_scores(problem), SCORE_DIGITS),
            "flipped": np.flatnonzero(flipped).tolist(),
        }

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Compute the score of each sample.

        Parameters
        ----------
        problem : HardMarginProblem
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The larger the score, the more a sample looks like an outlier.
        """
        raise TypeError(f"{type(self).__name__} does not implement compute_scores")


class NeighbourScore(OutlierScore):
    """The share of the nearest neighbours of a sample that have the other class.

    A simple outlier score to compare contributions with. The result has the key `scores`.

    Parameters
    ----------
    neighbours : int >= 1, default=10
        Number of nearest neighbours.

    References
    ----------
    .. [1] Own choice, to compare with Figure 1.12 of Li, L. (2006). Data complexity in machine learning and
       novel classification algorithms. PhD thesis, California Institute of Technology.

    Examples
    --------
    >>> from zoloss_cli import NeighbourScore
    >>> X, y = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [0.15]], [0, 0, 0, 1, 1, 1, 1]
    >>> NeighbourScore(neighbours=3).measure(X, y)["scores"][-1]
    1.0
    """

    def __init__(
        self, neighbours: Annotated[int, Field(ge=1, description="number of nearest neighbours")] = 10
    ):
        self.neighbours = neighbours

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the shares."""
        return compute_neighbour_scores(problem, self.neighbours)


class MultiplierScore(OutlierScore):
    """The weight alpha of a sample in the hard-margin SVM of all samples.

    An outlier score from a single solution, to compare contributions with. The result has the key `scores`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.

    References
    ----------
    .. [1] Own choice, to compare with Figure 1.12 of Li, L. (2006). Data complexity in machine learning and
       novel classification algorithms. PhD thesis, California Institute of Technology.

    Examples
    --------
    >>> from zoloss_cli import MultiplierScore
    >>> MultiplierScore().measure([[0.0], [1.0], [3.0]], [0, 1, 1])["scores"]
    [1.0, 1.0, 0.0]
    """

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the weights."""
        return compute_multipliers(problem)


class LeaveOneOutScore(OutlierScore):
    """The decrease of the complexity when a sample is left out.

    The result has the key `scores`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Definition 1.8.

    Examples
    --------
    >>> from zoloss_cli import LeaveOneOutScore
    >>> LeaveOneOutScore().measure([[0.0], [1.0], [3.0], [2.9]], [0, 0, 0, 1])["scores"]
    [0.0, 0.0, 1.0, 3.0]
    """

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the decreases."""
        return compute_leave_one_out(problem)


class CrossValidatedScore(OutlierScore):
    """How far a sample is on the wrong side of the hard-margin SVM of the other folds.

    An outlier score to compare contributions with. The result has the key `scores`.

    Parameters
    ----------
    folds : int >= 2, default=10
        Number of folds.
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    References
    ----------
    .. [1] Own choice, to compare with Figure 1.12 of Li, L. (2006). Data complexity in machine learning and
       novel classification algorithms. PhD thesis, California Institute of Technology.

    Examples
    --------
    >>> from zoloss_cli import CrossValidatedScore, load_dataset
    >>> X, y = load_dataset("disks", seed=1)
    >>> len(CrossValidatedScore(folds=5, random_state=0).measure(X, y)["scores"])
    31
    """

    def __init__(
        self,
        folds: Annotated[int, Field(ge=2, description="number of folds")] = 10,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
        random_state=None,
    ):
        self.folds = folds
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the negative margins."""
        seed = int(build_generator(self.random_state).integers(0, 2**32))
        return compute_cross_validated_scores(problem, self.folds, seed)
