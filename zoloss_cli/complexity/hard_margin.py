"""The complexity of a data set: the support vectors of its hard-margin SVM (Li 2006, section 1.3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist

from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.kernels.hard_margin import INDEFINITE, INSEPARABLE, NO_WEIGHT, SOLVED, path_counts, solve
from zoloss_cli.learners.kernel_svm import DISTANCES

Kernel = Literal["perceptron", "stump", "rbf", "linear", "precomputed"]
FLAT = 1e-12  # of the largest squared distance: what is less is no distance
NEGATIVE = 1e-8  # of the largest eigenvalue: more below 0 is no rounding


class InseparableError(DataError):
    """A kernel does not separate the classes; a command says it by its own lines and options instead."""

    def __init__(self, what: str, advice: str, kernel: str, row: int):
        super().__init__(f"{what} (found at row {row}, from 0): {advice}")
        self.what, self.kernel, self.row = what, kernel, row


@dataclass(frozen=True)
class HardMarginProblem:
    """Examples as their kernel matrix and their classes, -1.0 or 1.0, for all questions about their subsets."""

    K: np.ndarray
    y: np.ndarray
    kernel: str
    flat: float

    def __len__(self) -> int:
        return len(self.y)

    def check(self, status: int, example: int) -> None:
        """Say what a solver that did not end well found at this example."""
        if status == SOLVED:
            return
        which = "this kernel matrix" if self.kernel == "precomputed" else f"the {self.kernel} kernel"
        if status == INDEFINITE:
            raise DataError(
                f"{which} is not positive definite, not even on weights that sum to 0 (row {example})"
            )
        how = "not at all" if status == INSEPARABLE else "not at all, or by too little for the arithmetic"
        advice = "the perceptron kernel separates any set"
        if self.kernel == "perceptron":
            advice = "rows of different classes are nearly the same, remove some of them"
        elif self.kernel == "rbf":
            advice = "take a larger gamma"
        raise InseparableError(f"{which} separates the two classes {how}", advice, self.kernel, example)


@dataclass(frozen=True)
class HardMarginSVM:
    """The hard-margin SVM of some rows: at x it is the sum of coefficients times K(row, x), plus the bias."""

    support: np.ndarray  # rows of the problem, in their order
    coefficients: np.ndarray  # y_i alpha_i
    bias: float


def build_problem(X, y, kernel: Kernel = "perceptron", gamma: float | None = None) -> HardMarginProblem:
    """A problem from N x m features and labels of at most two classes; the greater label is positive.

    The kernels are -||x - x'|| (perceptron), -||x - x'||_1 (stump), exp(-gamma ||x - x'||^2) (rbf) and x.x'
    (linear); for `precomputed`, X is the N x N kernel matrix.
    """
    if kernel not in get_args(Kernel):
        raise ConfigError(f"no kernel is called '{kernel}'{suggest_nearest(kernel, get_args(Kernel))}")
    if (gamma is not None) != (kernel == "rbf") or not (gamma is None or gamma > 0.0):
        raise ConfigError("gamma belongs to the kernel 'rbf' only, which needs one above 0")
    X = np.asarray(X, dtype=np.float64)
    signs = encode_labels(X, y)
    K = np.ascontiguousarray(_kernel_matrix(X, kernel, gamma))
    largest = float(np.max(np.diag(K)[:, None] + np.diag(K)[None, :] - 2.0 * K))
    return HardMarginProblem(K, signs, kernel, FLAT * largest)


def encode_labels(X: np.ndarray, y) -> np.ndarray:
    """The classes as -1.0 and 1.0, where rows and labels are such that there is a complexity."""
    labels = np.asarray(y)
    if X.ndim != 2 or labels.shape != X.shape[:1] or len(labels) == 0:
        raise DataError(f"X must be N x m and y of length N, at least 1; they are {X.shape} and {labels.shape}")
    if not np.all(np.isfinite(X)):
        raise DataError(
            f"row {np.argwhere(~np.isfinite(X))[0, 0]} (counted from 0) has a value that is no number"
        )
    classes = np.unique(labels)
    if len(classes) > 2:
        raise DataError(
            f"the complexity is that of two classes; y has {len(classes)}: take one against the rest"
        )
    signs = np.where(labels == classes[-1], 1.0, -1.0)
    pair = find_opposite_pair(X, signs)
    if pair is not None:
        raise DataError(
            f"rows {pair[0]} and {pair[1]} (counted from 0) have equal features and different"
            " labels: no rule fits both; remove one of them"
        )
    return signs


def data_complexity(X, y, kernel: Kernel = "perceptron", gamma: float | None = None) -> int:
    """How complex a data set of two classes is: the number of support vectors of its hard-margin SVM.

    Li's thesis (2006), section 1.3.4. One class has complexity 0, equal rows count once, and with the
    perceptron kernel -||x - x'|| every set has one, unless equal rows have different labels. Other kernels:
    see `build_problem`. Scaling all features by one factor changes nothing with kernels other than rbf.

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


def fit_hard_margin_svm(problem: HardMarginProblem, rows: np.ndarray | None = None) -> HardMarginSVM:
    """The hard-margin SVM of these rows of a problem, or of all."""
    rows = np.arange(len(problem)) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(rows) == 0:
        return HardMarginSVM(rows, np.empty(0), 0.0)
    s, status, where = solve(problem.K, problem.y, rows, problem.flat)
    problem.check(status, int(rows[where]))
    if s.size[1] == 0:
        return HardMarginSVM(rows[:0], np.empty(0), float(problem.y[rows[0]]))
    coefficients = s.coef[1 : s.size[0] + 1]
    weights = np.abs(coefficients)
    kept = np.flatnonzero(weights > NO_WEIGHT * weights.max())
    support = rows[s.place[1 : s.size[0] + 1][kept]]
    by_row = np.argsort(support)
    return HardMarginSVM(support[by_row], coefficients[kept][by_row], float(s.coef[0]))


def count_along_path(problem: HardMarginProblem, order) -> np.ndarray:
    """The complexity of the first 0, 1, ..., n rows in this order; each starts from the solution before it."""
    order = np.asarray(order, dtype=np.int64)
    counts, status, where = path_counts(problem.K, problem.y, order, problem.flat)
    problem.check(status, int(order[where]) if status != SOLVED else -1)
    return counts


def _kernel_matrix(X: np.ndarray, kernel: Kernel, gamma: float | None) -> np.ndarray:
    if kernel in DISTANCES:
        return -cdist(X, X, DISTANCES[kernel])
    if kernel == "rbf":
        return np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    if kernel == "linear":
        X = X - X.mean(axis=0)  # where the origin is changes nothing; near it, less is lost to rounding
        return X @ X.T
    if X.shape[0] != X.shape[1] or not np.allclose(X, X.T, rtol=1e-9, atol=1e-12 * np.abs(X).max()):
        raise DataError("a precomputed kernel must be a symmetric N x N matrix")
    centred = X - X.mean(axis=0)
    values = np.linalg.eigvalsh(centred - centred.mean(axis=1)[:, None])
    if values[0] < -NEGATIVE * max(values[-1], -values[0]):
        raise DataError("this kernel matrix is not positive definite, not even on weights that sum to 0")
    return 0.5 * (X + X.T)


def find_opposite_pair(X: np.ndarray, y: np.ndarray) -> tuple[int, int] | None:
    """The first two equal rows of different classes, which no rule can tell apart; None if there are none."""
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    twin = first[place.ravel()]
    opposite = np.flatnonzero(y != y[twin])
    return (int(twin[opposite[0]]), int(opposite[0])) if opposite.size else None
