"""The linear soft-margin SVM with its C chosen by cross-validation."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.svm import linear_svm
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.parameters import PositiveList

GAP = 1e-7  # relative duality gap to solve to
ACCEPTED_GAP = 1e-3
# Weights this far below the largest change no solution, but their ratio to it stalls the solver.
WEIGHTLESS = 1e-9


class SoftSVMClassifier(LinearLearner):
    """soft-SVM: the linear C-SVC with parameter selection (Chang & Lin 2001; Hsu et al. 2003).

    C is the one with the smallest (weighted) cross-validation error, the smallest C on a tie, as in
    LIBSVM's grid search; `C_` is the choice. Li & Lin (2007), section IV.B, name no grid: 2^-5, 2^-3,
    ..., 2^5 fits the printed numbers. Folds are stratified and drawn at random, as in LIBSVM. Sample
    weights scale C: C_i = C N phi_i. AdaBoost's rounds keep the C of the first. Where a class has fewer
    examples than folds, there are as many folds as that class has examples; with fewer than two, the
    grid's middle C is taken.

    Deviation: solved to the optimum by an interior-point method instead of to LIBSVM's 1e-3, which
    gives the same errors several times faster, and the more so the larger C is (`make bench`).

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SoftSVMClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = SoftSVMClassifier(C=[0.03, 0.3, 3.0], random_state=0).fit(scale(X), y)
    >>> model.C_ in model.C, model.score(scale(X), y) > 0.82
    (True, True)
    """

    def __init__(
        self,
        C: Annotated[PositiveList, Field(description="the values to choose from")] = (
            2.0**-5,
            2.0**-3,
            2.0**-1,
            2.0,
            2.0**3,
            2.0**5,
        ),
        folds: Annotated[int, Field(ge=2, description="folds of the cross-validation")] = 5,
        random_state=None,
    ):
        self.C = C
        self.folds = folds
        self.random_state = random_state

    def learn(self, problem, start):
        scale = problem.phi * problem.phi.size
        kept = scale > WEIGHTLESS * scale.max()
        Z, y, scale = (problem.X * problem.y[:, None])[kept], problem.y[kept], scale[kept]
        self.C_ = problem.cached_by_X_and_y("C", lambda: self._choose(Z, y, scale, problem.rng))
        # After a round of boosting without error the weights are the same, and so is the solution.
        last_phi, weights = problem.made.get("solution", (None, None))
        if not np.array_equal(last_phi, problem.phi):
            weights = self._solve(Z, self.C_ * scale)
            problem.made["solution"] = problem.phi.copy(), weights
        return weights

    def _solve(self, Z, C):
        weights, gap = linear_svm(Z, C, GAP)
        if not gap < ACCEPTED_GAP:
            raise FloatingPointError(
                f"{type(self).__name__}: no solution with C={self.C_grid[-1]:g}; scale the features"
            )
        return weights

    @property
    def C_grid(self) -> list[float]:
        return sorted(float(c) for c in self.C)

    def _choose(self, Z, y, scale, rng) -> float:
        grid = self.C_grid
        folds = min(self.folds, int((y > 0).sum()), int((y < 0).sum()))
        if len(grid) == 1 or folds < 2:
            return grid[len(grid) // 2]
        fold = draw_stratified_folds(y, folds, rng)
        errors = np.zeros(len(grid))
        for f in range(folds):
            train, held = fold != f, fold == f
            for g, C in enumerate(grid):
                margins = Z[held] @ self._solve(Z[train], C * scale[train])
                wrong = (margins < 0.0) | ((margins == 0.0) & (y[held] < 0.0))  # a score of 0 predicts +1
                errors[g] += scale[held][wrong].sum()
        # Weighted errors are sums of floats: equal ones must compare as equal.
        return grid[int(np.argmin(np.round(errors, 9)))]


def draw_stratified_folds(y, folds, rng) -> np.ndarray:
    """Each class shuffled and dealt out in turn."""
    fold = np.empty(y.size, int)
    for sign in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(y == sign))
        fold[members] = np.arange(members.size) % folds
    return fold
