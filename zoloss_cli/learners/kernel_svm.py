"""The soft-margin SVM with kernels that represent infinite ensembles: Lin & Li (2005)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field
from scipy.spatial.distance import cdist

from zoloss_cli.kernels.svm import combine_rows, solve_dual
from zoloss_cli.learners.base import NEGLIGIBLE_WEIGHT_SHARE, BinaryLearner, Problem, Samples, set_within

DISTANCES: dict[str, Literal["euclidean", "cityblock"]] = {"perceptron": "euclidean", "stump": "cityblock"}
WEIGHT_DECIMALS = 9  # weights with mean 1 that agree to this many decimals are equal
MAX_SHARED_BYTES = 2**31  # of kernel matrices shared by fits
LEARNERS_AT_ONCE = 32  # whose scores are one product of matrices

_shared_kernels: ContextVar[dict | None] = ContextVar("shared_kernels", default=None)


def share_kernels() -> AbstractContextManager[None]:
    """Cache kernel matrices within a block, so that fits to the same samples share them, up to 2 GiB."""
    return set_within(_shared_kernels, {})


class Solution(NamedTuple):
    """A solved dual, oriented by the first sample."""

    support: np.ndarray  # indices among all samples
    coefficients: np.ndarray
    bias: float
    scores: np.ndarray  # of all samples


@dataclass(eq=False, repr=False)
class KernelSVMClassifier(BinaryLearner):  # numpydoc ignore=PR02
    """SVM-perceptron: the C-SVC with the perceptron or the stump kernel.

    The perceptron kernel is -||x - x'||, the stump kernel -||x - x'||_1. They represent ensembles of all
    perceptrons or of all decision stumps, and have no parameters: C is the only one. Sample weights scale it,
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
    Solved as in LIBSVM [3]_, to its tolerance of 1e-3, but on one kernel matrix for all fits on subsets of the
    same samples. The kernel's additive constant is omitted, since the bias absorbs it.

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

    C: Annotated[float, Field(gt=0, description="cost of margin errors")] = 1.0
    kernel: Annotated[
        Literal["perceptron", "stump"],
        Field(description="an ensemble of all perceptrons, or of all stumps"),
    ] = "perceptron"
    tolerance: Annotated[
        float,
        Field(gt=0, description="largest violation of the optimality conditions at which the solver stops"),
    ] = 1e-3

    def train(self, problem: Problem) -> None:
        """Solve the dual, or reuse a known solution of the same dual."""
        samples, subset = problem.all_samples
        self.samples_ = samples.X
        scale = problem.phi * problem.phi.size
        # A column of a code and its opposite have opposite solutions, and boosting returns to the same weights
        # if nothing was misclassified.
        side = problem.y[0]
        members = np.arange(samples.X.shape[0])[subset]
        parts = members, side * problem.y > 0.0, np.round(scale, WEIGHT_DECIMALS)
        key = tuple(part.tobytes() for part in parts)
        solutions = samples.cached_by_X(("SVMs", self.kernel, self.C, self.tolerance), dict)
        if key not in solutions:
            solutions[key] = self._solve(samples, members, side * problem.y, scale)
        solution = solutions[key]
        self.support_ = solution.support
        self.dual_coef_, self.intercept_ = side * solution.coefficients, side * solution.bias
        # Solutions stay in the cache, so no other support gets this id.
        samples.cached_by_X("solutions by support", dict)[id(self.support_)] = solution

    def _solve(self, samples: Samples, members: np.ndarray, y: np.ndarray, scale: np.ndarray) -> Solution:
        """Return the support vectors among all samples, their coefficients, the bias and the scores."""
        kept = scale > NEGLIGIBLE_WEIGHT_SHARE * scale.max()
        members, y, scale = members[kept], y[kept], scale[kept]
        if np.all(y == y[0]):
            return Solution(members[:0], np.empty(0), float(y[0]), np.full(len(samples.X), y[0]))
        gram = self._compute_kernel(samples)
        alpha, bias, gradient, _ = solve_dual(gram, members, y, self.C * scale, self.tolerance)
        support = np.flatnonzero(alpha)
        solution = Solution(members[support], alpha[support] * y[support], bias, np.empty(len(gram)))
        solution.scores[members] = y - gradient + bias
        others = np.setdiff1d(np.arange(len(gram)), members, assume_unique=True)
        # Samples that the solver did not see, from as few rows of the kernel as possible.
        if 0 < others.size < support.size:
            coefficients = np.zeros(len(gram))
            coefficients[solution.support] = solution.coefficients
            solution.scores[others] = gram[others] @ coefficients + bias
        elif others.size:
            rows = combine_rows(gram, solution.support, solution.coefficients)
            solution.scores[others] = rows[others] + bias
        return solution

    def _compute_kernel(self, samples: Samples) -> np.ndarray:
        """Return the kernel between all training samples, one row each, and these samples."""
        key = ("kernel", self.kernel, id(self.samples_))
        return samples.cached_by_X(key, lambda: self._compute_kernel_once(samples.X))

    def _compute_kernel_once(self, X: np.ndarray) -> np.ndarray:
        shared = _shared_kernels.get()
        if shared is None:
            return -cdist(self.samples_, X, DISTANCES[self.kernel])
        key = (self.kernel, *(hashlib.sha256(part.tobytes()).digest() for part in (self.samples_, X)))
        if key in shared:
            return shared[key]
        kernel = -cdist(self.samples_, X, DISTANCES[self.kernel])
        if kernel.nbytes + sum(each.nbytes for each in shared.values()) <= MAX_SHARED_BYTES:
            shared[key] = kernel
        return kernel

    def compute_scores(self, samples: Samples) -> np.ndarray:
        """Return the scores known from the solver, or those from a kernel matrix that all SVMs share."""
        if samples.X is self.samples_:
            solution = samples.cached_by_X("solutions by support", dict).get(id(self.support_))
            if solution is not None and self.support_.size:
                same_side = self.dual_coef_[0] == solution.coefficients[0]
                return solution.scores if same_side else -solution.scores
        return self.dual_coef_ @ self._compute_kernel(samples)[self.support_] + self.intercept_

    @staticmethod
    def iterate_scores(learners: Sequence[KernelSVMClassifier], samples: Samples) -> Iterator[np.ndarray]:
        """Yield the scores of several SVMs, up to rounding, computed in batches by one matrix product each."""
        for start in range(0, len(learners), LEARNERS_AT_ONCE):
            some = learners[start : start + LEARNERS_AT_ONCE]
            if any(each.samples_ is not some[0].samples_ or each.kernel != some[0].kernel for each in some):
                yield from (each.compute_scores(samples) for each in some)
                continue
            coefficients = np.zeros((len(some), len(some[0].samples_)))
            for row, each in zip(coefficients, some, strict=True):
                row[each.support_] = each.dual_coef_
            scores = coefficients @ some[0]._compute_kernel(samples)
            yield from (row + each.intercept_ for row, each in zip(scores, some, strict=True))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores from the kernel with the support vectors only."""
        distances = cdist(X, self.samples_[self.support_], DISTANCES[self.kernel])
        return -distances @ self.dual_coef_ + self.intercept_
