"""Outlier scores other than contributions, and what remains without outliers (Li 2006, section 1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from scipy.spatial.distance import cdist

from zoloss_cli.complexity.contribution import (
    Progress,
    Seed,
    average_contributions,
    compute_leave_one_out,
    list_one_vs_rest,
    share_progress,
    sum_paths_in_blocks,
)
from zoloss_cli.complexity.decomposition import NOISY_THRESHOLD, compute_squared_distances
from zoloss_cli.complexity.hard_margin import (
    HardMarginProblem,
    build_problem,
    check_samples,
    fit_hard_margin_svm,
)
from zoloss_cli.complexity.measures import Gamma, KernelName, Measure, round_all
from zoloss_cli.config.models import Prune
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.base import build_generator

DISTANCES_PER_BLOCK = 4_000_000
SCORE_DIGITS = 8


def compute_neighbour_scores(problem: HardMarginProblem, k: int = 10) -> np.ndarray:
    """Return the share of the k nearest neighbours, the first of equally near ones, with the other class."""
    n = len(problem)
    _check_neighbours(k, n)
    return _compute_opposed_shares(compute_squared_distances(problem), problem.y, np.arange(n), k)


def compute_neighbour_scores_in_blocks(
    X: np.ndarray, y: ArrayLike, k: int = 10, progress: Progress | None = None
) -> np.ndarray:
    """Return the same for the perceptron kernel and any classes, without storing the whole kernel matrix."""
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
        """Return the score of each sample: the larger, the more it looks like an outlier."""
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
        super().__init__()
        self.neighbours = neighbours

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the shares."""
        return compute_neighbour_scores(problem, self.neighbours)


class MultiplierScore(OutlierScore):  # numpydoc ignore=PR02
    """The weight alpha of a sample in the hard-margin SVM of all samples.

    An outlier score from a single solution, to compare contributions with. The result has the key `scores`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel only.

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

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the weights."""
        svm, alpha = fit_hard_margin_svm(problem), np.zeros(len(problem))
        alpha[svm.support] = np.abs(svm.coefficients)
        return alpha


class LeaveOneOutScore(OutlierScore):  # numpydoc ignore=PR02
    """The decrease of the complexity when a sample is left out.

    The result has the key `scores`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel only.

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

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the decreases."""
        return compute_leave_one_out(problem)


@dataclass(eq=False, repr=False)
class CrossValidatedScore(OutlierScore):  # numpydoc ignore=PR02
    """How far a sample is on the wrong side of the hard-margin SVM fitted to the other folds.

    An outlier score to compare contributions with. The result has the key `scores`.

    Parameters
    ----------
    folds : int >= 2, default=10
        Number of folds.
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel only.
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

    folds: Annotated[int, Field(ge=2, description="number of folds")] = 10
    kernel: KernelName = "perceptron"
    gamma: Gamma = None
    random_state: Any = None

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        """Return the negative margins."""
        n, seed = len(problem), int(build_generator(self.random_state).integers(0, 2**32))
        if not 2 <= self.folds <= n:
            raise ConfigError(f"there can be 2 to {n} folds, not {self.folds}")
        order, scores = np.random.default_rng(seed).permutation(n), np.empty(n)
        for fold in np.array_split(order, self.folds):
            svm = fit_hard_margin_svm(problem, np.setdiff1d(order, fold))
            margins = problem.K[np.ix_(fold, svm.support)] @ svm.coefficients + svm.bias
            scores[fold] = -problem.y[fold] * margins
        return scores


MAX_OPPOSED_SHARE = 0.5  # of the neighbours: beyond, more of them have the other class than the sample


@dataclass(frozen=True)
class PruningResult:
    """Which samples are kept, and why others are not."""

    kept: np.ndarray  # indices of the kept samples
    scores: np.ndarray  # of each sample; NaN for those that others contradict
    contradicted: np.ndarray  # samples that equal others whose label is at least as frequent among them
    threshold: float  # larger scores count as noise
    spared: np.ndarray  # samples above it that are kept because their class would otherwise be empty

    @property
    def dropped(self) -> np.ndarray:
        """Return the indices of the dropped samples."""
        return np.setdiff1d(np.arange(len(self.scores)), self.kept)


def prune(
    X: ArrayLike, y: ArrayLike, how: Prune, seed: Seed, progress: Progress | None = None
) -> PruningResult:
    """Find the samples whose score is above the threshold of `how`.

    Equal samples with different labels are dropped first, since no rule fits them: those with the rarer labels,
    or all of them if labels are equally frequent. A class always keeps its sample with the smallest score. With
    more than two classes, contributions are to the problems of one class against the rest, and the largest of a
    sample is its score; neighbours count if they have any other label.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    opposed = find_contradicted(X, y)
    rest = np.setdiff1d(np.arange(len(y)), opposed)
    if len(np.unique(y[rest])) < 2:
        raise DataError(
            f"{len(opposed)} of {len(y)} samples have equal features and different labels, and without them "
            "there is one class or none: nothing can be said about the others"
        )
    scores, threshold = np.full(len(y), np.nan), how.threshold
    if how.by == "neighbours":
        count = min(how.neighbours, len(rest) - 1)
        scores[rest] = compute_neighbour_scores_in_blocks(X[rest], y[rest], count, progress)
        threshold = MAX_OPPOSED_SHARE if threshold is None else threshold
    else:
        scores[rest] = _compute_contributions(X[rest], y[rest], how.permutations, seed, progress)
        threshold = NOISY_THRESHOLD if threshold is None else threshold
    kept = rest[scores[rest] <= threshold]
    lost = np.setdiff1d(y[rest], y[kept])
    spared = [min(rest[y[rest] == label], key=lambda i: scores[i]) for label in lost]
    kept = np.sort(np.append(kept, spared)).astype(np.int64)
    return PruningResult(kept, scores, opposed, threshold, np.array(spared, dtype=np.int64))


def _compute_contributions(
    X: np.ndarray, y: np.ndarray, permutations: int, seed: Seed, progress: Progress | None
) -> np.ndarray:
    problems = list_one_vs_rest(y)
    scores = []
    for k, labels in enumerate(problems):
        report = None if progress is None else share_progress(progress, k, len(problems))
        sums = sum_paths_in_blocks(build_problem(X, labels), permutations, seed, progress=report)
        scores.append(average_contributions(sums))
    return np.max(scores, axis=0)


def find_contradicted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the samples that equal others whose different label is at least as frequent among them."""
    _, place = np.unique(X, axis=0, return_inverse=True)
    labels, code = np.unique(y, return_inverse=True)
    counts = np.zeros((place.max() + 1, len(labels)), dtype=np.int64)
    np.add.at(counts, (place.ravel(), code.ravel()), 1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1  # no other label is as frequent
    wins = (counts == most[:, None]) & alone[:, None]
    return np.flatnonzero(~wins[place.ravel(), code.ravel()])
