"""A second opinion: the same scoring systems as a mixed-integer program, solved by HiGHS through SciPy."""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from zoloss_cli.learners.scoring.conditions import ScoringProblem


@dataclass(frozen=True)
class MilpAnswer:
    """The objective and bound that HiGHS found, in mean sample weights, and whether it says that they agree."""

    loss: float
    bound: float
    is_optimal: bool


@dataclass(frozen=True)
class MilpProgram:
    """Minimize costs @ v over integers v between lower and upper, subject to A v >= least.

    The variables are points v_j, whether v_j is not 0 (u_j), the threshold, and for each merged sample whether
    it is an error. A positive sample that is not an error has a total of at least the threshold, a negative one
    of at most the threshold minus 1.
    """

    costs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    A: np.ndarray
    least: np.ndarray


def build_milp(problem: ScoringProblem) -> MilpProgram:
    levels, max_levels, gains, lowest, highest, _ = problem.arrays
    M, N = levels.shape
    reach = float(problem.max_terms * problem.max_points * max_levels.max(initial=1))
    zeros = np.zeros
    # Columns: v (M), u (M), the threshold, errors (N).
    signs = np.where(gains > 0, 1.0, -1.0)
    rows = [np.hstack([levels.T * signs[:, None], zeros((N, M)), -signs[:, None], np.eye(N) * (2 * reach + 2)])]
    least = [np.where(gains > 0, 0.0, 1.0)]
    upper, lower = np.diag(highest.astype(float)), np.diag(lowest.astype(float))
    rest = zeros((M, 1 + N))
    rows += [np.hstack([-np.eye(M), upper, rest]), np.hstack([np.eye(M), -lower, rest])]
    least += [zeros(M), zeros(M)]
    rows.append(np.concatenate([zeros(M), -np.ones(M), zeros(1 + N)])[None, :])
    least.append(np.array([-float(problem.max_terms)]))
    return MilpProgram(
        np.concatenate([zeros(M), np.full(M, float(problem.penalty)), [0.0], np.abs(gains).astype(float)]),
        np.concatenate([lowest, zeros(M), [-reach], zeros(N)]),
        np.concatenate([highest, np.ones(M), [reach + 1], np.ones(N)]),
        np.vstack(rows),
        np.concatenate(least),
    )


def solve_by_milp(problem: ScoringProblem) -> MilpAnswer:
    program = build_milp(problem)
    best = [np.inf, np.inf, True]
    for extra in _list_required_signs(problem):
        A = np.vstack([program.A, *(row[None, :] for row, _ in extra)])
        b = np.concatenate([program.least, [value for _, value in extra]])
        answer = milp(
            program.costs,
            constraints=LinearConstraint(A, lb=b),
            integrality=np.ones(len(program.costs)),
            bounds=Bounds(program.lower, program.upper),
            options={"mip_rel_gap": 0.0},
        )
        if answer.status == 2:  # no such rule
            continue
        found = np.inf if answer.x is None else float(answer.fun)
        bound = found if answer.status == 0 else float(answer.mip_dual_bound)
        best = [min(best[0], found), min(best[1], bound), best[2] and answer.status == 0]
    return MilpAnswer(to_milp_loss(problem, best[0]), to_milp_loss(problem, best[1]), bool(best[2]))


def to_milp_loss(problem: ScoringProblem, cost: float) -> float:
    alone = np.minimum(problem.gains, 0).sum()
    return float((problem.negative + alone + cost) / problem.scale)


def _list_required_signs(problem: ScoringProblem) -> list[list[tuple[np.ndarray, float]]]:
    """Return rows to add: for each choice of a condition in every required column, and of its points' sign."""
    levels, _, _, lowest, highest, required = problem.arrays
    M, N = levels.shape
    unit = np.eye(M, 2 * M + 1 + N)
    columns = []
    for column in range(problem.n_required):
        conditions = np.flatnonzero(required == column)
        rows = [(unit[j], 1.0) for j in conditions if highest[j] > 0]
        columns.append(rows + [(-unit[j], 1.0) for j in conditions if lowest[j] < 0])
    return [list(choice) for choice in itertools.product(*columns)]
