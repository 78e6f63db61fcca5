"""The soft-margin SVM with kernels that stand for infinite ensembles: Lin & Li (2005)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from scipy.spatial.distance import cdist

from zoloss_cli.kernels.smo import solve_dual
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.problem import NEGLIGIBLE_WEIGHT_SHARE, Problem, Samples

DISTANCES: dict[str, Literal["euclidean", "cityblock"]] = {"perceptron": "euclidean", "stump": "cityblock"}
WEIGHT_DECIMALS = 9  # weights with mean 1 that agree in so many decimals are the same


class KernelSVMClassifier(BinaryLearner):
    """SVM-perceptron: the C-SVC with the perceptron or the stump kernel.

    The perceptron kernel is -||x - x'||, the stump kernel -||x - x'||_1. They stand for ensembles of all
    perceptrons or of all decision stumps, and need no parameter: C is the only one. Sample weights scale it,
    C_i = C n phi_i.

    Parameters
    ----------
    C : float > 0, default=1.0
        Cost of margin errors.
    kernel : {'perceptron', 'stump'}, default='perceptron'
        An ensemble of all perceptrons, or of all stumps.
    tolerance : float > 0, default=0.001
        Largest violation of the optimality conditions at which the solver stops.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    dual_coef_ : ndarray of shape (n_support,)
        y_i alpha_i of the support vectors.
    intercept_ : float
        The bias.
    n_features_in_ : int
        Number of features.
    samples_ : ndarray of shape (n_samples, 1 + n_features)
        The samples (1, x) that `support_` refers to.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.

    Notes
    -----
    Solved as by LIBSVM [3]_, to its tolerance of 1e-3, but on one kernel matrix for all fits on subsets of the
    same samples. The kernel's additive constant is left out, since the bias makes up for it.

    References
    ----------
    .. [1] Lin, H.-T. and Li, L. (2005). Infinite ensemble learning with support vector machines.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Table 4.5.
    .. [3] Fan, R.-E., Chen, P.-H. and Lin, C.-J. (2005). Working set selection using second order information
       for training support vector machines.

    Examples
    --------
    >>> from zoloss_cli import KernelSVMClassifier, load_dataset
    >>> X, y = load_dataset("sonar")
    >>> model = KernelSVMClassifier(C=8.0).fit(X, y)
    >>> model.score(X, y), len(model.support_) < len(y)
    (1.0, True)
    """

    version = 2  # 2: without LIBSVM's rounding of the kernel to single precision

    def __init__(
        self,
        C: Annotated[float, Field(gt=0, description="cost of margin errors")] = 1.0,
        kernel: Annotated[
            Literal["perceptron", "stump"],
            Field(description="an ensemble of all perceptrons, or of all stumps"),
        ] = "perceptron",
        tolerance: Annotated[
            float,
            Field(gt=0, description="largest violation of the optimality conditions at which the solver stops"),
        ] = 1e-3,
    ):
        self.C = C
        self.kernel = kernel
        self.tolerance = tolerance

    def train(self, problem: Problem) -> None:
        """Solve the dual, or take a known solution of the same dual."""
        samples, subset = problem.all_samples
        self.samples_ = samples.X
        scale = problem.phi * problem.phi.size
        solutions = samples.cached_by_X(("SVMs", self.kernel, self.C, self.tolerance), dict)
        # A column of a code and its opposite have opposite solutions, and boosting comes back to the same
        # weights when nothing was misclassified.
        side = problem.y[0]
        members = np.arange(samples.X.shape[0])[subset]
        parts = members, side * problem.y > 0.0, np.round(scale, WEIGHT_DECIMALS)
        key = tuple(part.tobytes() for part in parts)
        if key not in solutions:
            solutions[key] = self._solve(samples, members, side * problem.y, scale)
        self.support_, coefficients, bias = solutions[key]
        self.dual_coef_, self.intercept_ = side * coefficients, side * bias

    def _solve(
        self, samples: Samples, members: np.ndarray, y: np.ndarray, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the support vectors among all samples, their coefficients, and the bias."""
        kept = scale > NEGLIGIBLE_WEIGHT_SHARE * scale.max()
        members, y, scale = members[kept], y[kept], scale[kept]
        if np.all(y == y[0]):
            return members[:0], np.empty(0), float(y[0])
        gram = self._compute_kernel(samples)
        alpha, bias, _ = solve_dual(gram, members, y, self.C * scale, self.tolerance)
        support = np.flatnonzero(alpha)
        return members[support], alpha[support] * y[support], bias

    def _compute_kernel(self, samples: Samples) -> np.ndarray:
        """Return the kernel of all training samples, one row each, with these samples."""
        key = ("kernel", self.kernel, id(self.samples_))
        return samples.cached_by_X(key, lambda: -cdist(self.samples_, samples.X, DISTANCES[self.kernel]))

    def compute_scores(self, samples: Samples) -> np.ndarray:
        """Return the scores from a kernel matrix that all SVMs on the same samples share."""
        return self.dual_coef_ @ self._compute_kernel(samples)[self.support_] + self.intercept_

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores from the kernel with the support vectors alone."""
        distances = cdist(X, self.samples_[self.support_], DISTANCES[self.kernel])
        return -distances @ self.dual_coef_ + self.intercept_
