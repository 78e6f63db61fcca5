"""What a config's `measures` can say of a data set of two classes: its complexity, its parts, its outliers."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from sklearn.base import BaseEstimator

from zoloss_cli.complexity import clusters as clustering
from zoloss_cli.complexity import outlier_scores as outliers
from zoloss_cli.complexity.contribution import compute_leave_one_out, solve_least_squares, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.hard_margin import HardMarginProblem, build_problem, fit_hard_margin_svm
from zoloss_cli.errors import DataError
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import build_generator

MAX_REPORTED_SUBSETS = 64  # principal subsets of one point that are told
LEAST_SQUARES_DIGITS, SCORE_DIGITS = 6, 8

KernelName = Annotated[
    Literal["perceptron", "stump", "rbf", "linear"], Field(description="the kernel of the hard-margin SVM")
]
Gamma = Annotated[float | None, Field(gt=0, description="of the rbf kernel")]


class Measure(BaseEstimator):
    """Subclasses write `compute`: what there is to say of a problem, as plain numbers and lists of them."""

    reports: ClassVar[tuple[str, ...]] = ()  # optional fields of records that it gives

    multiclass = False
    version = 1  # raise when facts change, so that stored ones are not taken for new ones
    kernel, gamma = "perceptron", None

    @property
    def deterministic(self) -> bool:
        return "random_state" not in self.get_params(deep=False)

    def check_classes(self, count: int) -> None:
        if count > 2:
            raise ValueError(f"{type(self).__name__} is of two classes, and y holds {count}")

    def measure(self, X, y, flipped=()) -> dict:
        """The facts of these rows; `flipped` are those whose labels are known to be wrong."""
        check_parameters(self)
        if len(np.unique(y)) < 2:
            raise DataError("there is one class only: its complexity is 0, and no row is an outlier")
        known = np.isin(np.arange(len(y)), np.asarray(flipped, dtype=np.int64))
        return self.compute(build_problem(X, y, self.kernel, self.gamma), known)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        raise TypeError(f"{type(self).__name__} does not say what it measures")


class ComplexityMeasure(Measure):
    """The number of support vectors of the hard-margin SVM of all rows (Li's thesis 2006, section 1.3.4).

    >>> from zoloss_cli import ComplexityMeasure, load_dataset
    >>> ComplexityMeasure().measure(*load_dataset("disks", seed=1))
    {'complexity': 20}
    """

    reports: ClassVar[tuple[str, ...]] = ("complexity",)

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute(self, problem, flipped):
        return {"complexity": len(fit_hard_margin_svm(problem).support)}


class DecompositionMeasure(Measure):
    """Principal points and subsets among unions of clusters (Li's thesis 2006, section 1.4).

    The thesis made its clusters by hand; here they come from the rule in complexity/clusters.py. With 0 of them
    every example is one. Exact, every union is accounted for, and `pairs` has all complexity-error pairs;
    otherwise a principal point may be missed, which is seldom, and `pairs` has those points only.

    >>> from zoloss_cli import DecompositionMeasure, load_dataset
    >>> facts = DecompositionMeasure(clusters=8).measure(*load_dataset("disks", seed=1))
    >>> facts["principal_points"], facts["points"][0][:2], facts["points"][-1][:2]
    (7, [0, 9], [20, 0])
    """

    reports: ClassVar[tuple[str, ...]] = ("principal_points", "principal_subsets")

    def __init__(
        self,
        clusters: Annotated[int, Field(ge=0, description="how many clusters; 0: each example is one")] = 0,
        exact: Annotated[bool, Field(description="account for every union of clusters")] = True,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
    ):
        self.clusters = clusters
        self.exact = exact
        self.kernel = kernel
        self.gamma = gamma

    def compute(self, problem, flipped):
        groups = clustering.cluster_samples(problem, self.clusters) if self.clusters else None
        found = decompose(problem, groups, exact=self.exact)
        return {
            "principal_points": len(found.points),
            "principal_subsets": found.n_subsets,
            "points": [
                [
                    p.complexity,
                    p.error,
                    p.count,
                    [_mask(s, found.clusters) for s in p.subsets[:MAX_REPORTED_SUBSETS]],
                ]
                for p in found.points
            ],
            "pairs": found.pairs.tolist(),
            "clusters": found.clusters.tolist(),
            "exact": found.exact,
            "solves": found.solves,
        }


class ContributionMeasure(Measure):
    """What each example adds to the complexity, averaged over random orders of all (Li 2006, section 1.5.2).

    `growth` and `times` are exact sums for the average (1.13), also of several runs added up; `least_squares`
    solves (1.12). The thesis solves one system for 200,000 permutations; several runs' solutions are averaged
    here instead, which hardly differs (a test says by how much).

    >>> from zoloss_cli import ContributionMeasure, load_dataset
    >>> facts = ContributionMeasure(permutations=50, random_state=0).measure(*load_dataset("disks", seed=1))
    >>> sum(facts["growth"]) / 50  # along any path it grows from 0 to that of all
    20.0
    """

    reports: ClassVar[tuple[str, ...]] = ("outlier_scores", "least_squares")

    def __init__(
        self,
        permutations: Annotated[int, Field(ge=1, description="random orders of all examples")] = 1000,
        s1: Annotated[int, Field(ge=0, description="contributions to subsets of so many examples or more")] = 0,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
        random_state=None,
    ):
        self.permutations = permutations
        self.s1 = s1
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def compute(self, problem, flipped):
        seed = build_generator(self.random_state).integers(0, 2**32, 4)
        groups = flipped.astype(np.int64)
        sums = sum_paths_in_blocks(problem, self.permutations, seed, self.s1, groups, equations=True)
        facts = {
            "permutations": self.permutations,
            "growth": sums.by_sample[:, 0].tolist(),
            "times": sums.by_sample[:, 1].tolist(),
            "least_squares": _rounded(solve_least_squares(sums), LEAST_SQUARES_DIGITS),
            "growth_by_size": sums.by_size[0, :, 0].tolist(),
        }
        if flipped.any():
            facts |= {
                "flipped": np.flatnonzero(flipped).tolist(),
                "flipped_growth_by_size": sums.by_size[1, :, 0].tolist(),
                "flipped_times_by_size": sums.by_size[1, :, 1].tolist(),
            }
        return facts


class OutlierScore(Measure):
    """Subclasses write `compute_scores`: the larger, the more an example looks like an outlier."""

    reports: ClassVar[tuple[str, ...]] = ("outlier_scores",)

    def compute(self, problem, flipped):
        return {
            "scores": _rounded(self.compute_scores(problem), SCORE_DIGITS),
            "flipped": np.flatnonzero(flipped).tolist(),
        }

    def compute_scores(self, problem: HardMarginProblem) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} gives no scores")


class NeighbourScore(OutlierScore):
    """The share of an example's nearest neighbours that are of the other class: a simple sign of an outlier.

    >>> from zoloss_cli import NeighbourScore
    >>> X, y = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [0.15]], [0, 0, 0, 1, 1, 1, 1]
    >>> NeighbourScore(neighbours=3).measure(X, y)["scores"][-1]
    1.0
    """

    def __init__(
        self, neighbours: Annotated[int, Field(ge=1, description="how many of the nearest count")] = 10
    ):
        self.neighbours = neighbours

    def compute_scores(self, problem):
        return outliers.compute_neighbour_scores(problem, self.neighbours)


class MultiplierScore(OutlierScore):
    """The weight alpha of an example in the hard-margin SVM of all: a sign of an outlier from one solution.

    >>> from zoloss_cli import MultiplierScore
    >>> MultiplierScore().measure([[0.0], [1.0], [3.0]], [0, 1, 1])["scores"]
    [1.0, 1.0, 0.0]
    """

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute_scores(self, problem):
        return outliers.compute_multipliers(problem)


class LeaveOneOutScore(OutlierScore):
    """By how much the complexity of all examples falls without this one (Li 2006, Definition 1.8).

    >>> from zoloss_cli import LeaveOneOutScore
    >>> LeaveOneOutScore().measure([[0.0], [1.0], [3.0], [2.9]], [0, 0, 0, 1])["scores"]
    [0.0, 0.0, 1.0, 3.0]
    """

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    def compute_scores(self, problem):
        return compute_leave_one_out(problem)


class CrossValidatedScore(OutlierScore):
    """How far an example is on the wrong side of the hard-margin SVM of the other folds.

    >>> from zoloss_cli import CrossValidatedScore, load_dataset
    >>> X, y = load_dataset("disks", seed=1)
    >>> len(CrossValidatedScore(folds=5, random_state=0).measure(X, y)["scores"])
    31
    """

    def __init__(
        self,
        folds: Annotated[int, Field(ge=2, description="how many folds")] = 10,
        kernel: KernelName = "perceptron",
        gamma: Gamma = None,
        random_state=None,
    ):
        self.folds = folds
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def compute_scores(self, problem):
        seed = int(build_generator(self.random_state).integers(0, 2**32))
        return outliers.compute_cross_validated_scores(problem, self.folds, seed)


def _mask(rows: np.ndarray, groups: np.ndarray) -> int:
    """The clusters that a subset is made of, as the bits of a number."""
    return sum(1 << int(group) for group in np.unique(groups[rows]))


def _rounded(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]
