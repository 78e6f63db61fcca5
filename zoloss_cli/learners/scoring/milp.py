"""A second opinion: the same scoring systems as a mixed-integer program, solved by HiGHS through SciPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.learners.scoring.scoring_problem import ScoringProblem


@dataclass(frozen=True)
class MilpAnswer:
    """What HiGHS found.

    Attributes
    ----------
    loss : float
        The smallest objective that it found, in mean sample weights; infinity if none.
    bound : float
        No rule has a smaller one, up to its tolerances.
    is_optimal : bool
        Whether it says that both agree.
    """

    loss: float
    bound: float
    is_optimal: bool


def solve_by_milp(problem: ScoringProblem, time_limit: float | None = None) -> MilpAnswer:
    """Solve a scoring problem as a mixed-integer program.

    The variables are points v_j, whether v_j is not 0 (u_j), the threshold, and for each merged sample whether
    it is an error. A positive sample that is none has a total of at least the threshold, a negative one of
    at most the threshold minus 1.

    Parameters
    ----------
    problem : ScoringProblem
        The problem.
    time_limit : float or None, default=None
        Seconds.

    Returns
    -------
    MilpAnswer
        Objective and bound.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    levels, max_levels, gains, lowest, highest, required = problem.arrays
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
    costs = np.concatenate([zeros(M), np.full(M, float(problem.penalty)), [0.0], np.abs(gains).astype(float)])
    alone = np.minimum(gains, 0).sum()
    best = [np.inf, np.inf, True]
    for extra in _list_required_signs(required, problem.n_required, M, N, lowest, highest):
        A = np.vstack([*rows, *(row[None, :] for row, _ in extra)])
        b = np.concatenate([*least, [value for _, value in extra]])
        bounds = Bounds(
            np.concatenate([lowest, zeros(M), [-reach], zeros(N)]),
            np.concatenate([highest, np.ones(M), [reach + 1], np.ones(N)]),
        )
        options = {} if time_limit is None else {"time_limit": time_limit}
        answer = milp(
            costs,
            constraints=LinearConstraint(A, lb=b),
            integrality=np.ones(len(costs)),
            bounds=bounds,
            options={"mip_rel_gap": 0.0, **options},
        )
        if answer.status == 2:  # no such rule
            continue
        found = np.inf if answer.x is None else float(answer.fun)
        bound = found if answer.status == 0 else float(answer.mip_dual_bound)
        best = [min(best[0], found), min(best[1], bound), best[2] and answer.status == 0]
    loss, bound = (float((problem.negative + alone + cost) / problem.scale) for cost in best[:2])
    return MilpAnswer(loss, bound, bool(best[2]))


def _list_required_signs(
    required: np.ndarray, n_required: int, M: int, N: int, lowest: np.ndarray, highest: np.ndarray
) -> list[list[tuple[np.ndarray, float]]]:
    """Return rows to add: for each choice of a condition of every required column, and of its points' sign."""
    choices: list[list[tuple[np.ndarray, float]]] = [[]]
    for column in range(n_required):
        grown = []
        for j in np.flatnonzero(required == column):
            for sign in (1.0, -1.0):
                if (highest[j] if sign > 0 else -lowest[j]) <= 0:
                    continue
                row = np.zeros(2 * M + 1 + N)
                row[j] = sign
                grown += [[*choice, (row, 1.0)] for choice in choices]
        choices = grown
    return choices
