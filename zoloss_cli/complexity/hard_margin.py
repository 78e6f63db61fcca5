"""The complexity of a data set: the support vectors of its hard-margin SVM (Li 2006, section 1.3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.kernels.hard_margin import (
    INDEFINITE,
    INSEPARABLE,
    MIN_RELATIVE_WEIGHT,
    SOLVED,
    count_path_support_vectors,
    solve_hard_margin,
)
from zoloss_cli.learners.base import check_feature_sizes, refuse_masked
from zoloss_cli.learners.kernel_svm import DISTANCES

Kernel = Literal["perceptron", "stump", "rbf", "linear", "precomputed"]
FLAT_TOLERANCE = 1e-12  # of the largest squared distance: less counts as 0
EIGENVALUE_TOLERANCE = 1e-8  # of the largest eigenvalue: more below 0 is not rounding


class InseparableError(DataError):
    """Error for a kernel that does not separate the classes, found at a sample; `what` is without advice.

    Commands replace its message with one that names the line of the file and their options.
    """

    def __init__(self, what: str, advice: str, kernel: str, sample: int):
        super().__init__(f"{what} (found at sample {sample}, counted from 0): {advice}")
        self.what, self.kernel, self.sample = what, kernel, sample


@dataclass(frozen=True)
class HardMarginProblem:
    """Samples as a kernel matrix and classes, from which the SVMs of all subsets are found."""

    K: np.ndarray  # the kernel matrix
    y: np.ndarray  # classes, -1.0 or 1.0
    kernel: str  # for messages
    flat: float  # squared distances up to this count as 0

    def __len__(self) -> int:
        return len(self.y)

    def check_status(self, status: int, sample: int) -> None:
        """Raise an error if the status of a solver means that it failed at this sample."""
        if status == SOLVED:
            return
        which = "this kernel matrix" if self.kernel == "precomputed" else f"the {self.kernel} kernel"
        if status == INDEFINITE:
            raise DataError(
                f"{which} is not positive definite, not even on weights that sum to 0 "
                f"(sample {sample}, counted from 0)"
            )
        how = "" if status == INSEPARABLE else ", or by too little for the arithmetic"
        advice = "the perceptron kernel separates any set"
        if self.kernel == "perceptron":
            advice = "samples of different classes are nearly the same; remove some of them"
        elif self.kernel == "rbf":
            advice = "use a larger gamma"
        raise InseparableError(f"{which} does not separate the two classes{how}", advice, self.kernel, sample)


@dataclass(frozen=True)
class HardMarginSVM:
    """A hard-margin SVM: its score at x is the sum of coefficients times K(support, x), plus the bias."""

    support: np.ndarray  # indices of the support vectors, sorted
    coefficients: np.ndarray  # the products y_i alpha_i
    bias: float


def build_problem(
    X: ArrayLike, y: ArrayLike, kernel: Kernel = "perceptron", gamma: float | None = None
) -> HardMarginProblem:
    """Build a problem from samples (or a precomputed kernel matrix) and labels; the greater label is positive.

    Raises ConfigError for an unknown kernel or a gamma that does not match it, and DataError if the complexity
    is undefined, or features are too large or too small to compute with.
    """
    if kernel not in get_args(Kernel):
        raise ConfigError(f"unknown kernel '{kernel}'{suggest_nearest(kernel, get_args(Kernel))}")
    if (gamma is not None) != (kernel == "rbf") or not (gamma is None or gamma > 0.0):
        raise ConfigError("gamma is only for the kernel 'rbf', which needs one above 0")
    refuse_masked("complexity", X=X, y=y)
    features = np.asarray(X, dtype=np.float64)
    signs = encode_labels(features, y)
    K = np.ascontiguousarray(_compute_kernel_matrix(features, kernel, gamma))
    largest = float(np.max(np.diag(K)[:, None] + np.diag(K)[None, :] - 2.0 * K))
    return HardMarginProblem(K, signs, kernel, FLAT_TOLERANCE * largest)


def check_samples(X: np.ndarray, labels: np.ndarray) -> None:
    """Raise DataError unless there are samples whose size can be computed with, and a label for each."""
    if X.ndim != 2 or labels.shape != X.shape[:1] or len(labels) == 0:
        raise DataError(f"X must be N x m and y of length N, at least 1; they are {X.shape} and {labels.shape}")
    if not np.all(np.isfinite(X)):
        raise DataError(
            f"sample {np.argwhere(~np.isfinite(X))[0, 0]} (counted from 0) has a value that is not a number"
        )
    try:
        check_feature_sizes(X, "complexity")
    except ValueError as error:
        raise DataError(str(error)) from None


def encode_labels(X: np.ndarray, y: ArrayLike) -> np.ndarray:
    """Return the classes as -1.0 and 1.0, or raise DataError if the complexity is undefined."""
    labels = np.asarray(y)
    check_samples(X, labels)
    classes = np.unique(labels)
    if len(classes) > 2:
        raise DataError(
            f"the complexity is defined for two classes; y has {len(classes)}: use one against the rest"
        )
    signs = np.where(labels == classes[-1], 1.0, -1.0)
    pair = find_opposite_pair(X, signs)
    if pair is not None:
        raise DataError(
            f"samples {pair[0]} and {pair[1]} (counted from 0) have equal features and different"
            " labels: no rule fits both; remove one of them"
        )
    return signs


def data_complexity(X, y, kernel: Kernel = "perceptron", gamma: float | None = None) -> int:
    """Return the complexity of a data set of two classes: the number of support vectors of its hard-margin SVM.

    A single class has complexity 0, equal samples count once, and with the perceptron kernel every set has a
    complexity, unless equal samples have different labels. Except with the rbf kernel, scaling all features by
    the same factor changes nothing.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features; the kernel matrix of shape (n_samples, n_samples) for kernel='precomputed'.
    y : array-like of shape (n_samples,)
        Labels of at most two classes.
    kernel : {'perceptron', 'stump', 'rbf', 'linear', 'precomputed'}, default='perceptron'
        The kernel -||x - x'|| (perceptron), -||x - x'||_1 (stump), exp(-gamma ||x - x'||^2) (rbf) or x.x'
        (linear).
    gamma : float or None, default=None
        Parameter of the rbf kernel only.

    Returns
    -------
    int
        Number of support vectors.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 1.3.4.

    Examples
    --------
    >>> from zoloss_cli import data_complexity, load_dataset
    >>> X, y = load_dataset("disks", seed=1)
    >>> data_complexity(X, y)
    20
    >>> data_complexity(X[:15], y[:15])
    10
    >>> data_complexity(X[y == 1], y[y == 1])
    0
    """
    return len(fit_hard_margin_svm(build_problem(X, y, kernel, gamma)).support)


def fit_hard_margin_svm(problem: HardMarginProblem, subset: ArrayLike | None = None) -> HardMarginSVM:
    """Fit the hard-margin SVM of a subset of the samples of a problem, or of all."""
    indices = np.arange(len(problem)) if subset is None else np.asarray(subset, dtype=np.int64)
    if len(indices) == 0:
        return HardMarginSVM(indices, np.empty(0), 0.0)
    s, status, where = solve_hard_margin(problem.K, problem.y, indices, problem.flat)
    problem.check_status(status, int(indices[where]))
    if s.size[1] == 0:
        return HardMarginSVM(indices[:0], np.empty(0), float(problem.y[indices[0]]))
    coefficients = s.coef[1 : s.size[0] + 1]
    weights = np.abs(coefficients)
    kept = np.flatnonzero(weights > MIN_RELATIVE_WEIGHT * weights.max())
    support = indices[s.place[1 : s.size[0] + 1][kept]]
    by_index = np.argsort(support)
    return HardMarginSVM(support[by_index], coefficients[kept][by_index], float(s.coef[0]))


def compute_path_complexities(problem: HardMarginProblem, order: ArrayLike) -> np.ndarray:
    """Return the complexity of the first 0, 1, ..., n samples in this order."""
    path = np.asarray(order, dtype=np.int64)
    counts, status, where = count_path_support_vectors(problem.K, problem.y, path, problem.flat)
    problem.check_status(status, int(path[where]) if status != SOLVED else -1)
    return counts


def _compute_kernel_matrix(X: np.ndarray, kernel: Kernel, gamma: float | None) -> np.ndarray:
    if kernel in DISTANCES:
        return -cdist(X, X, DISTANCES[kernel])
    if kernel == "rbf":
        assert gamma is not None
        return np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    if kernel == "linear":
        X = X - X.mean(axis=0)  # the origin does not matter; near it, less is lost to rounding
        return X @ X.T
    if X.shape[0] != X.shape[1] or not np.allclose(X, X.T, rtol=1e-9, atol=1e-12 * np.abs(X).max()):
        raise DataError("a precomputed kernel must be a symmetric N x N matrix")
    centred = X - X.mean(axis=0)
    values = np.linalg.eigvalsh(centred - centred.mean(axis=1)[:, None])
    if values[0] < -EIGENVALUE_TOLERANCE * max(values[-1], -values[0]):
        raise DataError("this kernel matrix is not positive definite, not even on weights that sum to 0")
    return 0.5 * (X + X.T)


def find_opposite_pair(X: np.ndarray, y: np.ndarray) -> tuple[int, int] | None:
    """Return the first two equal samples of different classes, which no rule can separate, if there are any."""
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    twin = first[place.ravel()]
    opposite = np.flatnonzero(y != y[twin])
    return (int(twin[opposite[0]]), int(opposite[0])) if opposite.size else None
