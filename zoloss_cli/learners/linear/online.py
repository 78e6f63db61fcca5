"""What the online learners share: padded rows, and sample weights as steps or as draws."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.random import FIXED_ORDER, PERMUTED, RANDOM, alias_table
from zoloss_cli.learners.base import Problem

ORDERS = {"fixed": FIXED_ORDER, "permuted": PERMUTED, "random": RANDOM}
NO_ALIAS_TABLE = (np.empty(0, np.uint64), np.empty(0, np.int32))


def pad_columns(rows: np.ndarray) -> np.ndarray:
    """Zero columns appended up to a multiple of four: inner products then need no remainder loop."""
    extra = -rows.shape[-1] % 4
    widths = [(0, 0)] * (rows.ndim - 1) + [(0, extra)]
    return np.ascontiguousarray(np.pad(rows, widths))


def build_padded_samples(problem: Problem) -> np.ndarray:
    """The rows y x, padded."""
    return problem.cached_by_X_and_y("padded rows", lambda: pad_columns(problem.X * problem.y[:, None]))


def build_steps_and_draws(problem: Problem, weighting: str):
    """(step, cut, alias) for the kernels: N phi_i and uniform draws, or unit steps and draws by phi."""
    n = problem.phi.size
    if np.all(problem.phi == problem.phi[0]):
        return np.ones(n), *NO_ALIAS_TABLE
    if weighting == "resample":
        return np.ones(n), *alias_table(problem.phi)
    return n * problem.phi, *NO_ALIAS_TABLE


def run_on_padded_samples(learner, problem, start, run):
    """Call run(Z, w, checkpoints, path) on padded rows y x and cut the padding off what comes back."""
    checkpoints, path = learner._prepare_recording(problem)
    wide_path = pad_columns(path)
    w = run(build_padded_samples(problem), pad_columns(start), checkpoints, wide_path)
    size = problem.X.shape[1]
    path[:] = wide_path[:, :size]
    return w[:size]
