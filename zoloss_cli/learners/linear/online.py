"""What the online learners share: padded rows, and sample weights as steps or as draws."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.random import FIXED_ORDER, PERMUTED, RANDOM, alias_table
from zoloss_cli.learners.base import Problem

ORDERS = {"fixed": FIXED_ORDER, "permuted": PERMUTED, "random": RANDOM}
NO_TABLE = (np.empty(0, np.uint64), np.empty(0, np.int32))


def padded(rows: np.ndarray) -> np.ndarray:
    """Zero columns appended up to a multiple of four: inner products then need no remainder loop."""
    extra = -rows.shape[-1] % 4
    widths = [(0, 0)] * (rows.ndim - 1) + [(0, extra)]
    return np.ascontiguousarray(np.pad(rows, widths))


def padded_rows(problem: Problem) -> np.ndarray:
    """The rows y x, padded."""
    return problem.once("padded rows", lambda: padded(problem.X * problem.y[:, None]))


def steps_and_draws(problem: Problem, weighting: str):
    """(step, cut, alias) for the kernels: N phi_i and uniform draws, or unit steps and draws by phi."""
    n = problem.phi.size
    if np.all(problem.phi == problem.phi[0]):
        return np.ones(n), *NO_TABLE
    if weighting == "resample":
        return np.ones(n), *alias_table(problem.phi)
    return n * problem.phi, *NO_TABLE


def run_padded(learner, problem, start, run):
    """Call run(Z, w, checkpoints, path) on padded rows y x and cut the padding off what comes back."""
    checkpoints, path = learner._recording(problem)
    wide_path = padded(path)
    w = run(padded_rows(problem), padded(start), checkpoints, wide_path)
    size = problem.X.shape[1]
    path[:] = wide_path[:, :size]
    return w[:size]
