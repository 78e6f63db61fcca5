"""The 0-1 loss as a mixed-integer program."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.learners.search.direct_optimizer import Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.progress import run_solver

FEASIBILITY_TOLERANCE = 1e-9  # the solver's: what z may miss 0 by, times M, must stay far below the margin


class MixedIntegerClassifier(VertexSearch):
    """MIP: min sum c_i z_i with <y_i, w> >= margin - M_i z_i, z_i in {0, 1}, |w_j| <= 1, by cvxpy and HiGHS.

    The formulation of equation (8) of Nguyen & Sanner (2013); they do not solve it so. HiGHS knows no
    indicator constraints, so M_i is the least that lets any w be wrong on row i: margin + sum_j |y_ij|,
    for rows of length 1. The start is handed over as a first solution.

    It is exact for rules with `margin` only: the best rules of real data may have a smaller one, and
    branching rarely ends beyond a few dozen examples. So the answer is recounted strictly, `lower_bound_`
    knows of equal rows only, and the program's own bound, which holds for rules with that margin, is
    `program_bound_`, with `program_optimal_`.

    >>> from zoloss_cli import MixedIntegerClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "differ", "differ", "same"]
    >>> model = MixedIntegerClassifier().fit(X, y)
    >>> model.training_errors_, round(model.program_bound_), model.program_optimal_
    (1, 1, True)
    """

    def __init__(
        self,
        margin: Annotated[
            float, Field(gt=1e-7, lt=1, description="what a row of length 1 must be right by, if |w_j| <= 1")
        ] = 1e-5,
        nodes: Annotated[int, Field(ge=1, description="how many nodes the solver may visit")] = 1_000_000,
        time_limit: TimeLimit = 60.0,
        seeding: Start = "svm",
    ):
        self.margin = margin
        self.nodes = nodes
        self.time_limit = time_limit
        self.seeding = seeding

    def learn(self, problem, start):
        self.program_bound_, self.program_optimal_ = 0.0, False
        weights = super().learn(problem, start)
        self.program_bound_ = max(self.program_bound_, self._search.lower_bound)
        self.program_optimal_ |= self._search.optimal
        return weights

    def _explore(self, problem, samples, search):
        import cvxpy as cp

        n, P = samples.Y.shape
        w, z = cp.Variable(P), cp.Variable(n, boolean=True)
        low, high = cp.Parameter(P), cp.Parameter(P)
        M = self.margin + np.abs(samples.Y).sum(axis=1)
        program = cp.Problem(
            cp.Minimize(samples.c @ z),
            [samples.Y @ w >= self.margin - cp.multiply(M, z), w >= low, w <= high],
        )
        options = {
            "solver": cp.HIGHS,
            "primal_feasibility_tolerance": FEASIBILITY_TOLERANCE,
            "mip_feasibility_tolerance": FEASIBILITY_TOLERANCE,
            "mip_abs_gap": 1e-6,
            "mip_rel_gap": 0.0,
            "mip_max_nodes": self.nodes,
            "threads": 1,
        }
        # cvxpy hands HiGHS the solution of the last solve: the first one has w fixed to the start.
        low.value = high.value = search.w / np.max(np.abs(search.w), initial=1e-300)
        program.solve(**options)
        low.value, high.value = -np.ones(P), np.ones(P)
        if search.should_stop():
            return
        limit = {} if search.seconds_left is None else {"time_limit": search.seconds_left}
        run_solver(search, lambda: program.solve(warm_start=True, **options, **limit))
        if w.value is not None and np.any(w.value):
            search.offer(samples.compute_loss(w.value), w.value)
        info = program.solver_stats.extra_stats
        bound = max(0.0, float(getattr(info, "mip_dual_bound", 0.0)))
        self.program_bound_ = samples.unavoidable_loss + bound
        self.program_optimal_ = program.status == cp.OPTIMAL
