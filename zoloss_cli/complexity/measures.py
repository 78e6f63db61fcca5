"""Measures of a data set of two classes, for the section `measures` of a config."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from sklearn.base import BaseEstimator

from zoloss_cli.complexity.clusters import cluster_samples
from zoloss_cli.complexity.contribution import compute_leave_one_out, solve_least_squares, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.hard_margin import HardMarginProblem, build_problem, fit_hard_margin_svm
from zoloss_cli.complexity.outlier_scores import (
    compute_cross_validated_scores,
    compute_multipliers,
    compute_neighbour_scores,
)
from zoloss_cli.errors import DataError
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import build_generator

MAX_REPORTED_SUBSETS = 64  # principal subsets of one point
LEAST_SQUARES_DIGITS, SCORE_DIGITS = 6, 8

KernelName = Annotated[
    Literal["perceptron", "stump", "rbf", "linear"], Field(description="kernel of the hard-margin SVM")
]
Gamma = Annotated[float | None, Field(gt=0, description="parameter of the rbf kernel, and of no other")]


class Measure(BaseEstimator):
    """Base class of measures; subclasses write `compute`."""

    reports: ClassVar[tuple[str, ...]] = ()  # optional fields of records that it gives

    multiclass = False
    version = 1  # raise when results change, so that stored ones are not taken for new ones
    kernel: KernelName = "perceptron"
    gamma: Gamma = None

    @property
    def deterministic(self) -> bool:
        """Whether the result is the same whatever the seed."""
        return "random_state" not in self.get_params(deep=False)

    def check_classes(self, count: int) -> None:
        """Raise ValueError if there are more than two classes.

        Parameters
        ----------
        count : int
            Number of classes.
        """
        if count > 2:
            raise ValueError(f"{type(self).__name__} is of two classes, and y holds {count}")

    def measure(self, X: ArrayLike, y: ArrayLike, flipped: ArrayLike = ()) -> dict:
        """Measure a data set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        flipped : array-like of int, default=()
            Indices of the samples whose labels are known to be wrong.

        Returns
        -------
        dict
            Plain numbers and lists of them, as a record stores them.
        """
        check_parameters(self)
        labels = np.asarray(y)
        if len(np.unique(labels)) < 2:
            raise DataError("there is one class only: its complexity is 0, and no sample is an outlier")
        is_flipped = np.isin(np.arange(len(labels)), np.asarray(flipped, dtype=np.int64))
        return self.compute(build_problem(X, labels, self.kernel, self.gamma), is_flipped)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Compute the result on checked data.

        Parameters
        ----------
        problem : HardMarginProblem
            The samples.
        flipped : ndarray of bool of shape (n_samples,)
            Whether the label of a sample is known to be wrong.

        Returns
        -------
        dict
            Plain numbers and lists of them, as a record stores them.
        """
        raise TypeError(f"{type(self).__name__} does not implement compute")


class ComplexityMeasure(Measure):
    """The complexity: the number of support vectors of the hard-margin SVM.

    The result has the key `complexity`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 1.3.4.

    Examples
    --------
    >>> from zoloss_cli import ComplexityMeasure, load_dataset
    >>> ComplexityMeasure().measure(*load_dataset("disks", seed=1))
    {'complexity': 20}
    """

    reports: ClassVar[tuple[str, ...]] = ("complexity",)

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the complexity."""
        return {"complexity": len(fit_hard_margin_svm(problem).support)}


class DecompositionMeasure(Measure):
    """Principal points and subsets among unions of clusters.

    If exact, every union is accounted for, and `pairs` of the result has all complexity-error pairs; otherwise
    a principal point may be missed, which is seldom, and `pairs` has those points only.

    Parameters
    ----------
    clusters : int >= 0, default=0
        Number of clusters; 0: each sample is one.
    exact : bool, default=True
        Account for every union of clusters.
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.

    Notes
    -----
    The thesis made its clusters by hand; here they come from the rule in `zoloss_cli/complexity/clusters.py`.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 1.4.

    Examples
    --------
    >>> from zoloss_cli import DecompositionMeasure, load_dataset
    >>> result = DecompositionMeasure(clusters=8).measure(*load_dataset("disks", seed=1))
    >>> result["principal_points"], result["points"][0][:2], result["points"][-1][:2]
    (7, [0, 9], [20, 0])
    """

    reports: ClassVar[tuple[str, ...]] = ("principal_points", "principal_subsets")

    def __init__(
        self,
        clusters: Annotated[int, Field(ge=0, description="number of clusters; 0: each sample is one")] = 0,
        exact: Annotated[bool, Field(description="account for every union of clusters")] = True,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
    ):
        self.clusters = clusters
        self.exact = exact
        self.kernel = kernel
        self.gamma = gamma

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the principal points, their subsets, and the complexity-error pairs."""
        groups = cluster_samples(problem, self.clusters) if self.clusters else None
        found = decompose(problem, groups, exact=self.exact)
        points = []
        for point in found.points:
            subsets = [_encode_clusters(s, found.clusters) for s in point.subsets[:MAX_REPORTED_SUBSETS]]
            points.append([point.complexity, point.error, point.count, subsets])
        return {
            "principal_points": len(found.points),
            "principal_subsets": found.n_subsets,
            "points": points,
            "pairs": found.pairs.tolist(),
            "clusters": found.clusters.tolist(),
            "exact": found.exact,
            "solves": found.solves,
        }


class ContributionMeasure(Measure):
    """The contribution of each sample to the complexity, averaged over random orders of all.

    `growth` and `times` of the result are exact sums for the average (1.13), also when those of several splits
    are added up; `least_squares` solves (1.12).

    Parameters
    ----------
    permutations : int >= 1, default=1000
        Number of random orders of all samples.
    s1 : int >= 0, default=0
        Size of the smallest subsets to which contributions are counted.
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel, and of no other.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Notes
    -----
    The thesis solves one system for 200,000 permutations; the solutions of several splits are averaged here
    instead, which hardly differs (a test says by how much).

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 1.5.2.

    Examples
    --------
    >>> from zoloss_cli import ContributionMeasure, load_dataset
    >>> result = ContributionMeasure(permutations=50, random_state=0).measure(*load_dataset("disks", seed=1))
    >>> sum(result["growth"]) / 50  # along any path it grows from 0 to that of all
    20.0
    """

    reports: ClassVar[tuple[str, ...]] = ("outlier_scores", "least_squares")

    def __init__(
        self,
        permutations: Annotated[int, Field(ge=1, description="number of random orders of all samples")] = 1000,
        s1: Annotated[
            int, Field(ge=0, description="size of the smallest subsets to which contributions are counted")
        ] = 0,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
        random_state=None,
    ):
        self.permutations = permutations
        self.s1 = s1
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return sums over random paths, by sample and by subset size, and the least-squares solution."""
        seed = build_generator(self.random_state).integers(0, 2**32, 4)
        groups = flipped.astype(np.int64)
        sums = sum_paths_in_blocks(problem, self.permutations, seed, self.s1, groups, equations=True)
        result = {
            "permutations": self.permutations,
            "growth": sums.by_sample[:, 0].tolist(),
            "times": sums.by_sample[:, 1].tolist(),
            "least_squares": _round_all(solve_least_squares(sums), LEAST_SQUARES_DIGITS),
            "growth_by_size": sums.by_size[0, :, 0].tolist(),
        }
        if flipped.any():
            result |= {
                "flipped": np.flatnonzero(flipped).tolist(),
                "flipped_growth_by_size": sums.by_size[1, :, 0].tolist(),
                "flipped_times_by_size": sums.by_size[1, :, 1].tolist(),
            }
        return result


class OutlierScore(Measure):
    """Base class of scores of outliers; subclasses write `compute_scores`."""

    reports: ClassVar[tuple[str, ...]] = ("outlier_scores",)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the score of each sample, and which labels are known to be wrong."""
        return {
            "scores": _round_all(self.compute_scores(problem), SCORE_DIGITS),
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
            The larger, the more a sample looks like an outlier.
        """
        raise TypeError(f"{type(self).__name__} does not implement compute_scores")


class NeighbourScore(OutlierScore):
    """The share of the nearest neighbours of a sample that have the other class.

    A simple score of outliers to compare contributions with. The result has the key `scores`.

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
    """The weight alpha of a sample in the hard-margin SVM of all.

    A score of outliers from one solution, to compare contributions with. The result has the key `scores`.

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
    """The decrease of the complexity of all samples without this one.

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

    A score of outliers to compare contributions with. The result has the key `scores`.

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


def _encode_clusters(subset: np.ndarray, clusters: np.ndarray) -> int:
    """Return the clusters that a subset is made of, as the bits of a number."""
    return sum(1 << int(cluster) for cluster in np.unique(clusters[subset]))


def _round_all(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]
