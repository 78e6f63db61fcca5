"""Outlier scores other than contributions, as measures."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.complexity.contribution import compute_leave_one_out
from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.complexity.measure import Gamma, KernelName, Measure, round_all
from zoloss_cli.complexity.outlier_scores import (
    compute_cross_validated_scores,
    compute_multipliers,
    compute_neighbour_scores,
)
from zoloss_cli.learners.problem import build_generator

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
