"""Measures of a data set: base class, complexity, decomposition, contributions; lookup tables."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from zoloss_cli.complexity.contribution import solve_least_squares, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import cluster_samples, decompose
from zoloss_cli.complexity.hard_margin import HardMarginProblem, build_problem, fit_hard_margin_svm
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.base import build_generator, check_parameters, refuse_masked

KernelName = Annotated[
    Literal["perceptron", "stump", "rbf", "linear"], Field(description="kernel of the hard-margin SVM")
]
Gamma = Annotated[float | None, Field(gt=0, description="parameter of the rbf kernel only")]


class Measure:
    """Base class of measures; subclasses implement `compute`.

    A measure has parameters as scikit-learn's estimators do, and `sklearn.base.clone` copies it, but it is not
    an estimator: it fits nothing, and its result is that of one data set.
    """

    reports: ClassVar[tuple[str, ...]] = ()  # optional record fields that it provides

    multiclass = False
    version = 1  # raise when results change, so that stored ones are not reused

    def __init__(self, kernel: KernelName = "perceptron", gamma: Gamma = None):
        self.kernel = kernel
        self.gamma = gamma

    @property
    def deterministic(self) -> bool:
        """Whether the result is the same for any seed."""
        return "random_state" not in self.get_params(deep=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; `deep` has no effect, since no parameter has parameters of its own."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and return the measure itself."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter '{name}'; valid: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    def check_classes(self, count: int) -> None:
        """Raise ValueError if there are more than two classes."""
        if count > 2:
            raise ValueError(f"{type(self).__name__} is for two classes, but y holds {count}")

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
        refuse_masked(type(self).__name__, X=X, y=y, flipped=flipped)
        labels = np.asarray(y)
        if len(np.unique(labels)) < 2:
            raise DataError("there is only one class: its complexity is 0, and no sample is an outlier")
        is_flipped = np.isin(np.arange(len(labels)), np.asarray(flipped, dtype=np.int64))
        return self.compute(build_problem(X, labels, self.kernel, self.gamma), is_flipped)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the result on checked data, as a record stores it; `flipped`: which labels are wrong."""
        raise TypeError(f"{type(self).__name__} does not implement compute")


def round_all(values: np.ndarray, digits: int) -> list[float]:
    """Return the values rounded to this many significant digits, as records store them."""
    return [float(f"{value:.{digits}g}") for value in values]


MAX_REPORTED_SUBSETS = 64  # principal subsets of one point
LEAST_SQUARES_DIGITS = 6


class ComplexityMeasure(Measure):  # numpydoc ignore=PR02
    """The complexity: the number of support vectors of the hard-margin SVM.

    The result has the key `complexity`.

    Parameters
    ----------
    kernel : {'perceptron', 'stump', 'rbf', 'linear'}, default='perceptron'
        Kernel of the hard-margin SVM.
    gamma : float > 0 or None, default=None
        Parameter of the rbf kernel only.

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

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the complexity."""
        return {"complexity": len(fit_hard_margin_svm(problem).support)}


@dataclass(eq=False, repr=False)
class DecompositionMeasure(Measure):  # numpydoc ignore=PR02
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
        Parameter of the rbf kernel only.

    Notes
    -----
    The thesis made its clusters by hand; here they come from the rule in
    `zoloss_cli/complexity/decomposition.py`.

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

    clusters: Annotated[int, Field(ge=0, description="number of clusters; 0: each sample is one")] = 0
    exact: Annotated[bool, Field(description="account for every union of clusters")] = True
    kernel: KernelName = "perceptron"
    gamma: Gamma = None

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Return the principal points, their subsets, and the complexity-error pairs."""
        groups = cluster_samples(problem, self.clusters) if self.clusters else None
        found = decompose(problem, groups, exact=self.exact)
        points = []
        for point in found.points:
            unions = (np.unique(found.clusters[s]).tolist() for s in point.subsets[:MAX_REPORTED_SUBSETS])
            subsets = [sum(1 << cluster for cluster in union) for union in unions]  # clusters as bits
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


@dataclass(eq=False, repr=False)
class ContributionMeasure(Measure):  # numpydoc ignore=PR02
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
        Parameter of the rbf kernel only.
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

    permutations: Annotated[int, Field(ge=1, description="number of random orders of all samples")] = 1000
    s1: Annotated[
        int, Field(ge=0, description="size of the smallest subsets to which contributions are counted")
    ] = 0
    kernel: KernelName = "perceptron"
    gamma: Gamma = None
    random_state: Any = None

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


class LookupComplexity(NamedTuple):
    """The shortest description of a data set: a rule, and a table of the samples it misclassifies."""

    value: float  # complexity plus the cost of all errors
    complexity: int  # of the rule
    error: int  # number of samples in the table


def compute_entry_cost(noise: float) -> float:
    """Return lambda = log2(1/epsilon - 1), the cost of an error if labels are wrong with probability epsilon.

    With Pr(h) = 2^-|h| and Bernoulli noise, the rule with the smallest |h| + lambda e(h) is the most probable
    one (Li 2006, section 1.3.3). A support vector counts as one bit of |h|.
    """
    if not 0.0 < noise < 0.5:
        raise ConfigError(f"the probability of a wrong label must be above 0 and below 0.5 (got {noise:g})")
    return math.log2(1.0 / noise - 1.0)


def find_lookup_complexity(pairs: Iterable[tuple[int, int]], cost: float) -> LookupComplexity:
    """Return the smallest complexity + cost * error over pairs of the two (Definition 1.3).

    Principal points suffice, since for any other pair there is a principal one that is no larger in either. If
    sums are equal, the pair with the fewest errors is returned.
    """
    return min((LookupComplexity(c + cost * e, c, e) for c, e in pairs), key=lambda x: (x.value, x.error))
