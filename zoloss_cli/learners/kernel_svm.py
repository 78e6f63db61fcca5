"""The soft-margin SVM with kernels that stand for infinite ensembles: Lin & Li (2005)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from scipy.spatial.distance import cdist

from zoloss_cli.kernels.smo import solve_dual
from zoloss_cli.learners.base import BinaryLearner, Samples

METRICS = {"perceptron": "euclidean", "stump": "cityblock"}
# Weights this far below the largest change no solution.
WEIGHTLESS = 1e-9
SAME_WEIGHTS = 9  # decimals, in mean weights


class KernelSVMClassifier(BinaryLearner):
    """SVM-perceptron: the C-SVC with the perceptron kernel -||x - x'||, or the stump kernel -||x - x'||_1.

    Lin & Li (2005); Table 4.5 of Li's thesis (2006). These kernels need no parameter: C is the only one.
    Sample weights scale it, C_i = C n phi_i. Solved as by LIBSVM (Fan, Chen & Lin 2005), to its tolerance of
    1e-3, but on one kernel matrix for all fits on parts of the same rows; the kernel's additive constant is
    left out, since the bias makes up for it.

    Attributes after fit: `support_`, `dual_coef_` (y_i alpha_i) and `intercept_`.

    >>> from zoloss_cli import KernelSVMClassifier, load_dataset
    >>> X, y = load_dataset("sonar")
    >>> model = KernelSVMClassifier(C=8.0).fit(X, y)
    >>> model.score(X, y), len(model.support_) < len(y)
    (1.0, True)
    """

    version = 2  # 2: without LIBSVM's rounding of the kernel to single precision

    def __init__(
        self,
        C: Annotated[float, Field(gt=0, description="how much errors cost")] = 1.0,
        kernel: Annotated[
            Literal["perceptron", "stump"],
            Field(description="an ensemble of all perceptrons, or of all stumps"),
        ] = "perceptron",
        tolerance: Annotated[float, Field(gt=0, description="how far optimality may be violated")] = 1e-3,
    ):
        self.C = C
        self.kernel = kernel
        self.tolerance = tolerance

    def train(self, problem):
        rows, which = problem.all_samples
        self.samples_ = rows.X
        scale = problem.phi * problem.phi.size
        fits = rows.cached_by_X(("SVMs", self.kernel, self.C, self.tolerance), dict)
        # A column of a code and its opposite have opposite solutions, and boosting comes back to the same
        # weights when nothing was wrong.
        turn = problem.y[0]
        members = np.arange(rows.X.shape[0])[which]
        key = tuple(part.tobytes() for part in (members, turn * problem.y > 0.0, np.round(scale, SAME_WEIGHTS)))
        if key not in fits:
            fits[key] = self._solved(rows, members, turn * problem.y, scale)
        self.support_, coefficients, bias = fits[key]
        self.dual_coef_, self.intercept_ = turn * coefficients, turn * bias

    def _solved(self, rows: Samples, members, y, scale) -> tuple[np.ndarray, np.ndarray, float]:
        """(support vectors among all rows, their coefficients, the bias)."""
        kept = scale > WEIGHTLESS * scale.max()
        members, y, scale = members[kept], y[kept], scale[kept]
        if np.all(y == y[0]):
            return members[:0], np.empty(0), float(y[0])
        alpha, bias, _ = solve_dual(self._kernel(rows), members, y, self.C * scale, self.tolerance)
        support = np.flatnonzero(alpha)
        return members[support], alpha[support] * y[support], bias

    def _kernel(self, rows: Samples) -> np.ndarray:
        """The kernel of all rows that it was trained on, one row each, with these rows."""
        key = ("kernel", self.kernel, id(self.samples_))
        return rows.cached_by_X(key, lambda: -cdist(self.samples_, rows.X, METRICS[self.kernel]))

    def compute_scores(self, rows):
        return self.dual_coef_ @ self._kernel(rows)[self.support_] + self.intercept_

    def scores(self, X):
        return -cdist(X, self.samples_[self.support_], METRICS[self.kernel]) @ self.dual_coef_ + self.intercept_
