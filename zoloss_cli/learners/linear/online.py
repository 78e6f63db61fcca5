"""Input of the online kernels: padded samples, and sample weights as step sizes or as draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoloss_cli.kernels.random import FIXED_ORDER, PERMUTED, RANDOM, build_alias_table
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.problem import Problem

ORDERS = {"fixed": FIXED_ORDER, "permuted": PERMUTED, "random": RANDOM}
NO_ALIAS_TABLE = (np.empty(0, np.uint64), np.empty(0, np.int32))
COLUMN_MULTIPLE = 4
PADDED_SAMPLES = "padded samples"  # the key under which problems keep them


def pad_columns(X: np.ndarray) -> np.ndarray:
    """Return X with zero columns up to a multiple of four, so that inner products need no remainder loop."""
    columns = X.shape[-1]
    padded = np.zeros((*X.shape[:-1], columns + -columns % COLUMN_MULTIPLE))
    padded[..., :columns] = X
    return padded


def build_padded_samples(problem: Problem) -> np.ndarray:
    """Return the samples y (1, x), padded."""
    return problem.cached_by_X_and_y(PADDED_SAMPLES, lambda: sign_and_pad(problem.X[:, 1:], problem.y))


def sign_and_pad(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the samples y (1, x) of features X, padded, with no copy on the way."""
    n, m = X.shape
    padded = np.zeros((n, 1 + m + -(1 + m) % COLUMN_MULTIPLE))
    padded[:, 0] = y
    np.multiply(X, y[:, None], out=padded[:, 1 : 1 + m])
    return padded


def build_steps_and_draws(problem: Problem, weighting: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sample weights in the form that online kernels take.

    Parameters
    ----------
    problem : Problem
        The problem, whose weights sum to 1.
    weighting : {'reweight', 'resample'}
        Whether weights are step sizes N phi_i under uniform draws, or draws by phi with steps of 1.

    Returns
    -------
    step : ndarray of shape (n_samples,)
        Step sizes.
    cut, alias : ndarray
        The alias table of the draws, empty for uniform ones.
    """
    n = problem.phi.size
    if np.all(problem.phi == problem.phi[0]):
        return np.ones(n), *NO_ALIAS_TABLE
    if weighting == "resample":
        return np.ones(n), *build_alias_table(problem.phi)
    return n * problem.phi, *NO_ALIAS_TABLE


def run_on_padded_samples(
    learner: LinearLearner,
    problem: Problem,
    start: np.ndarray,
    run: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the weights of an online kernel that runs on padded samples, without the padding.

    Parameters
    ----------
    learner : LinearLearner
        The learner that records epochs.
    problem : Problem
        The problem to fit to.
    start : ndarray of shape (1 + n_features,)
        Weights to start from.
    run : callable
        Called with the padded samples y (1, x), the padded start, the epochs to record, and room for their
        weights; returns padded weights.

    Returns
    -------
    ndarray of shape (1 + n_features,)
        The weights.
    """
    checkpoints, path = learner._prepare_recording(problem)
    wide_path = pad_columns(path)
    w = run(build_padded_samples(problem), pad_columns(start), checkpoints, wide_path)
    size = problem.X.shape[1]
    path[:] = wide_path[:, :size]
    return w[:size]
