"""Complexity, decomposition and contributions of a data set of two classes, as measures."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.complexity.clusters import cluster_samples
from zoloss_cli.complexity.contribution import solve_least_squares, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.hard_margin import HardMarginProblem, fit_hard_margin_svm
from zoloss_cli.complexity.measure import Gamma, KernelName, Measure, round_all
from zoloss_cli.learners.problem import build_generator

MAX_REPORTED_SUBSETS = 64  # principal subsets of one point
LEAST_SQUARES_DIGITS = 6


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
    a principal point may, rarely, be missed, and `pairs` has only those points.

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
    """The contribution of each sample to the complexity, averaged over random orders of all samples.

    `growth` and `times` of the result are exact sums for the average (1.13), even if those of several splits
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
    The thesis solves one system for 200,000 permutations; here the solutions of several splits are averaged
    instead, which hardly differs (a test shows by how much).

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
            "least_squares": round_all(solve_least_squares(sums), LEAST_SQUARES_DIGITS),
            "growth_by_size": sums.by_size[0, :, 0].tolist(),
        }
        if flipped.any():
            result |= {
                "flipped": np.flatnonzero(flipped).tolist(),
                "flipped_growth_by_size": sums.by_size[1, :, 0].tolist(),
                "flipped_times_by_size": sums.by_size[1, :, 1].tolist(),
            }
        return result


def _encode_clusters(subset: np.ndarray, clusters: np.ndarray) -> int:
    """Return the clusters that a subset is made of, as the bits of a number."""
    return sum(1 << int(cluster) for cluster in np.unique(clusters[subset]))
