"""The 0-1 loss as a mixed-integer program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.learners.base import NeededPackage, Problem
from zoloss_cli.learners.search.base import Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.progress import SearchProgress, run_solver
from zoloss_cli.learners.search.samples import MergedSamples
from zoloss_cli.utils.imports import import_optional

FEASIBILITY_TOLERANCE = 1e-9  # the solver's: its error in z, times M, must stay far below the margin


@dataclass(eq=False, repr=False)
class MixedIntegerClassifier(VertexSearch):  # numpydoc ignore=PR02
    """Mixed-integer program (MIP) for the 0-1 loss, by cvxpy and HiGHS.

    Minimizes the sum of c_i z_i with <y_i, w> >= margin - M_i z_i, z_i in {0, 1} and |w_j| <= 1. It is exact
    only for rules with `margin`: the best rules of real data may have a smaller one, and branching rarely ends
    beyond a few dozen samples. So the result is recounted strictly, and `lower_bound_` accounts only for equal
    samples.

    Parameters
    ----------
    margin : float in (1e-07, 1), default=1e-05
        Margin that a sample of length 1 must have where |w_j| <= 1.
    nodes : int >= 1, default=1000000
        Maximum number of nodes that the solver visits.
    time_limit : float > 0 or None, default=60.0
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='svm'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_features_in_ : int
        Number of features.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    program_bound_ : float
        Lower bound of the program, which holds for rules with `margin`.
    program_optimal_ : bool
        Whether the program was solved to optimality.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    The formulation is equation (8) of the paper, which does not solve it this way. HiGHS has no indicator
    constraints, so M_i is the smallest value that lets any w misclassify sample i: margin + sum_j |y_ij|, for
    samples of length 1. The start is passed as a first solution.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Equation (8).

    Examples
    --------
    >>> from zoloss_cli import MixedIntegerClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "differ", "differ", "same"]
    >>> model = MixedIntegerClassifier().fit(X, y)
    >>> model.training_errors_, round(model.program_bound_), model.program_optimal_
    (1, 1, True)
    """

    margin: Annotated[
        float,
        Field(gt=1e-7, lt=1, description="margin that a sample of length 1 must have where |w_j| <= 1"),
    ] = 1e-5
    nodes: Annotated[int, Field(ge=1, description="maximum number of nodes that the solver visits")] = 1_000_000
    time_limit: TimeLimit = 60.0
    seeding: Start = "svm"

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights that solve the program, or the best ones found."""
        self.program_bound_, self.program_optimal_ = 0.0, False
        weights = super().learn(problem, start)
        self.program_bound_ = max(self.program_bound_, self._search.lower_bound)
        self.program_optimal_ |= self._search.optimal
        return weights

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return cvxpy, and what the start needs."""
        return [NeededPackage("cvxpy"), *super().list_needed_packages()]

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        cp = import_optional("cvxpy", "the learner 'mip'")
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
        # cvxpy passes the last solution to HiGHS: in the first solve, w is fixed to the start.
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
