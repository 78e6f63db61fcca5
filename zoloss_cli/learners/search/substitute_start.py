"""The start of a search if LIBLINEAR's own package is not installed: scikit-learn's models."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.linear.liblinear import C_GRID
from zoloss_cli.learners.problem import Problem

MAX_ITERATIONS = 1000  # as LIBLINEAR's own
TOLERANCE = 1e-4


def compute_substitute_start(loss: Literal["squared-hinge", "logistic"], problem: Problem) -> np.ndarray:
    """Return weights to start from: those of the C with the fewest training errors, the last one on a tie.

    scikit-learn solves the same problems with its own copy of an older LIBLINEAR: weights agree only up to the
    solver's tolerance, so searches that start here may end elsewhere; a warning says so.

    Parameters
    ----------
    loss : {'squared-hinge', 'logistic'}
        Loss to minimize.
    problem : Problem
        Samples (1, x) and labels.

    Returns
    -------
    ndarray of shape (1 + n_features,)
        The weights, bias first; 0 if no C gives finite ones.
    """
    warnings.warn(
        "the package liblinear-official is not installed, so the search starts from scikit-learn's weights, "
        "and its result may differ: pip install liblinear-official",
        stacklevel=2,
    )
    fewest, best = problem.y.size + 1, np.zeros(problem.X.shape[1])
    for C in C_GRID:
        weights = _solve(loss, C, problem)
        if not np.all(np.isfinite(weights)):
            continue
        errors = int(find_strict_errors(problem.X @ weights, problem.y).sum())
        if errors <= fewest:
            fewest, best = errors, weights
    return best


def _solve(loss: str, C: float, problem: Problem) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    # The bias is the first feature, regularized like any other.
    common = {"C": C, "tol": TOLERANCE, "fit_intercept": False, "max_iter": MAX_ITERATIONS, "random_state": 0}
    model = (
        LogisticRegression(solver="liblinear", **common)
        if loss == "logistic"
        else LinearSVC(loss="squared_hinge", dual=False, **common)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not be exact
        return model.fit(problem.X, problem.y).coef_[0]
