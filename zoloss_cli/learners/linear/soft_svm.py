"""The linear soft-margin SVM with its C chosen by cross-validation."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.learners.base import NEGLIGIBLE_WEIGHT_SHARE, PositiveList, Problem
from zoloss_cli.learners.linear_base import LinearLearner, rotate_into_span

DUALITY_GAP = 1e-7  # relative duality gap to solve to
MAX_DUALITY_GAP = 1e-3
# A tuple, since a default must not change.
C_GRID: Any = tuple(2.0**exponent for exponent in (-5, -3, -1, 1, 3, 5))
MAX_COLUMNS_BYTES = 32 << 20  # beyond this, the solver is not faster with them
ERROR_DECIMALS = 9  # weighted errors that agree to this many decimals are equal


class SoftSVMClassifier(LinearLearner):
    """The soft-margin SVM (soft-SVM): the linear C-SVC with C chosen by cross-validation.

    C is the one with the smallest (weighted) cross-validation error; on a tie the smallest C, as in LIBSVM's
    grid search. Folds are stratified and drawn at random, as in LIBSVM. Sample weights scale C: C_i =
    C N phi_i. The rounds of AdaBoost keep the C of the first.

    Parameters
    ----------
    C : non-empty list of float > 0, default=(0.03125, 0.125, 0.5, 2.0, 8.0, 32.0)
        Values of C to choose from.
    folds : int >= 2, default=5
        Number of folds of the cross-validation. If a class has fewer samples than folds, there are as many
        folds as that class has samples; with fewer than two, the middle C of the grid is used.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    C_ : float
        The chosen value.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Li & Lin name no grid: 2^-5, 2^-3, ..., 2^5 fits the published numbers.

    Deviation: solved to the optimum by an interior-point method instead of to LIBSVM's 1e-3, which gives the
    same errors several times faster, with a larger gain for larger C (`make bench`).

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section IV.B.
    .. [2] Chang, C.-C. and Lin, C.-J. (2001). LIBSVM: A library for support vector machines.
    .. [3] Hsu, C.-W., Chang, C.-C. and Lin, C.-J. (2003). A practical guide to support vector classification.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SoftSVMClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = SoftSVMClassifier(C=[0.03, 0.3, 3.0], random_state=0).fit(scale(X), y)
    >>> model.C_ in model.C, model.score(scale(X), y) > 0.82
    (True, True)
    """

    def __init__(
        self,
        C: Annotated[PositiveList, Field(description="values of C to choose from")] = C_GRID,
        folds: Annotated[int, Field(ge=2, description="number of folds of the cross-validation")] = 5,
        random_state=None,
    ):
        self.C = C
        self.folds = folds
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the optimal weights for the C with the smallest cross-validation error."""
        scale = problem.phi * problem.phi.size
        # The solver stalls if the ratio of negligible weights to the largest one is extreme.
        kept = scale > NEGLIGIBLE_WEIGHT_SHARE * scale.max()
        X, y, axes = problem.X, problem.y, None
        if X.shape[1] > 1 + X.shape[0]:
            X, axes = problem.cached_by_X("span", lambda: rotate_into_span(problem.X, 1))
        columns = problem.cached_by_X("padded columns", lambda: build_columns(X))
        if not kept.all():
            X, y, scale = X[kept], y[kept], scale[kept]
            columns = build_columns(X)
        self.C_ = problem.cached_by_X_and_y("C", lambda: self._choose_C(X, y, scale, problem.rng))
        # After a round of boosting without errors the weights are the same, and so is the solution.
        latest = problem.cached_by_X_and_y("latest solution", dict)
        if not np.array_equal(latest.get("phi"), problem.phi):
            weights = self._solve(X, columns, y, self.C_ * scale)
            latest.update(phi=problem.phi.copy(), weights=weights)
        return latest["weights"] if axes is None else axes @ latest["weights"]

    def _solve(self, X: np.ndarray, columns: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
        weights, gap = _solve_or_fail(X, columns, y, C)
        if not gap < MAX_DUALITY_GAP:  # features far from 0 look like the constant: move them there
            mean = X.mean(axis=0) - np.eye(X.shape[1])[0]
            centred = X - mean
            weights, gap = _solve_or_fail(centred, build_columns(centred), y, C)
            weights[0] -= mean @ weights
        if not gap < MAX_DUALITY_GAP:
            raise ValueError(
                f"{type(self).__name__}: no solution with C={self.sorted_C[-1]:g}; scale the features"
            )
        return weights

    @property
    def sorted_C(self) -> list[float]:
        """The values of C in ascending order."""
        return sorted(float(c) for c in self.C)

    def _choose_C(self, X: np.ndarray, y: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> float:
        grid = self.sorted_C
        n_folds = min(self.folds, int((y > 0).sum()), int((y < 0).sum()))
        if len(grid) == 1 or n_folds < 2:
            return grid[len(grid) // 2]
        fold = draw_stratified_folds(y, n_folds, rng)
        errors = np.zeros(len(grid))
        for f in range(n_folds):
            train, held_out = fold != f, fold == f
            X_train, y_train, scale_train = X[train], y[train], scale[train]
            columns = build_columns(X_train)
            X_held_out, y_held_out, scale_held_out = X[held_out], y[held_out], scale[held_out]
            for g, C in enumerate(grid):
                margins = y_held_out * (X_held_out @ self._solve(X_train, columns, y_train, C * scale_train))
                # A score of 0 predicts +1.
                wrong = (margins < 0.0) | ((margins == 0.0) & (y_held_out < 0.0))
                errors[g] += scale_held_out[wrong].sum()
        # Weighted errors are sums of floats: equal ones must compare equal.
        return grid[int(np.argmin(np.round(errors, ERROR_DECIMALS)))]


def _solve_or_fail(
    X: np.ndarray, columns: np.ndarray, y: np.ndarray, C: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the weights and the duality gap, which is infinite if there is no solution."""
    try:
        return solve_linear_svm(X, columns, y, C, DUALITY_GAP)
    except np.linalg.LinAlgError:
        return np.zeros(X.shape[1]), np.inf


def build_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns that the solver takes in addition to X; none if they would need too much memory.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 1 + n_features)
        Samples, the constant 1 first.

    Returns
    -------
    ndarray
        X', padded; or an array of shape (0, 0).
    """
    return pad_columns(X) if X.nbytes <= MAX_COLUMNS_BYTES else np.empty((0, 0))


def draw_stratified_folds(y: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return a fold for each sample: each class is shuffled and dealt out in turn.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1.0 or +1.0.
    n_folds : int
        Number of folds.
    rng : numpy.random.Generator
        Source of random draws.

    Returns
    -------
    ndarray of shape (n_samples,)
        Numbers 0, ..., n_folds - 1.
    """
    fold = np.empty(y.size, int)
    for sign in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(y == sign))
        fold[members] = np.arange(members.size) % n_folds
    return fold
