"""The linear SVM and logistic regression of Nguyen & Sanner (2013): LIBLINEAR over a grid of C."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.zero_one import strict_mistakes
from zoloss_cli.learners.base import UnweightedLinearLearner
from zoloss_cli.learners.parameters import PositiveList
from zoloss_cli.learners.search.result_mixin import SearchResultMixin

SOLVERS = {"squared-hinge": 2, "logistic": 0}
# 2^-10, ..., 2^-1, 1, 2^0.5, 2, 4, 2^4, 2^6, 2^8, 2^10
EXPONENTS = (*range(-10, 0), 0, 0.5, 1, 2, 4, 6, 8, 10)


class LibLinearClassifier(SearchResultMixin, UnweightedLinearLearner):
    """LIBLINEAR (Fan et al. 2008) with the C that leaves the fewest training errors: the columns SVM and LR.

    Nguyen & Sanner (2013), section 6. The bias is a feature of ones, regularized like any other. `C_` is
    the choice. Rules that the paper leaves out:
    the solvers -s 2 and -s 0 with -e 1e-4 and the grid are the authors' program's; that the last C of
    the grid is kept on equal errors is what the printed numbers of SLA, which starts here, need.

    LIBLINEAR has no sample weights.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import LibLinearClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = LibLinearClassifier(loss="logistic").fit(scale(X), y)
    >>> model.training_errors_, model.lower_bound_, model.optimal_
    (39, 0.0, False)
    """

    def __init__(
        self,
        loss: Annotated[
            Literal["squared-hinge", "logistic"], Field(description="SVM (-s 2) or logistic regression (-s 0)")
        ] = "squared-hinge",
        C: Annotated[PositiveList, Field(description="the values to choose from")] = tuple(
            2.0**e for e in EXPONENTS
        ),
        tolerance: Annotated[float, Field(gt=0, description="LIBLINEAR's -e")] = 1e-4,
    ):
        self.loss = loss
        self.C = C
        self.tolerance = tolerance

    def learn(self, problem, start):
        fewest, best = problem.y.size + 1, start
        for C, weights in zip(self.C, self.solve_grid(problem.X, problem.y), strict=True):
            if not np.all(np.isfinite(weights)):  # LIBLINEAR can overflow where features are not scaled
                continue
            errors = int(strict_mistakes(problem.X @ weights, problem.y).sum())
            if errors <= fewest:
                fewest, best, self.C_ = errors, weights, float(C)
        if fewest > problem.y.size:
            raise FloatingPointError(f"{type(self).__name__}: no C gives finite weights; scale the features")
        return best

    def solve_grid(self, X, y):
        """LIBLINEAR's weights for each C."""
        from liblinear.liblinearutil import parameter, train
        from liblinear.liblinearutil import problem as liblinear_problem

        rows = liblinear_problem(y, X)
        for C in self.C:
            options = f"-s {SOLVERS[self.loss]} -c {C:.17g} -e {self.tolerance:.17g} -q"
            model = train(rows, parameter(options))
            # LIBLINEAR's weights speak for the label that it met first.
            yield model.get_labels()[0] * np.array(model.w[: X.shape[1]])
