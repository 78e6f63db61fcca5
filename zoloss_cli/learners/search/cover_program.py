"""The linear program for the lightest samples that hit all sets, to which sets can be added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zoloss_cli.learners.search.progress import SearchProgress, run_solver

HIT, SPARED = 1, 0


class CoverProgram:
    """Minimize the cost of samples taken in parts such that every set has a total of 1; some are decided.

    Parameters
    ----------
    costs : ndarray of shape (n_samples,)
        The cost of each sample.
    search : SearchProgress
        The search that provides the clock and reports progress meanwhile.

    Attributes
    ----------
    x : ndarray of shape (n_samples,)
        The last solution.
    duals : ndarray of shape (n_sets,)
        The weights of the sets in the dual solution.
    rows : list of int
        The numbers of the sets, in the order added.
    """

    def __init__(self, costs: np.ndarray, search: SearchProgress):
        import highspy

        self.search, self.rows = search, list[int]()
        self.x, self.duals = np.zeros(len(costs)), np.zeros(0)
        self._is_optimal = highspy.HighsModelStatus.kOptimal
        self._infinity = highspy.kHighsInf
        self._decided: dict[int, int] = {}
        self._solver = solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        n = len(costs)
        solver.addVars(n, np.zeros(n), np.full(n, self._infinity))
        solver.changeColsCost(n, np.arange(n, dtype=np.int32), np.asarray(costs, dtype=float))

    def add_sets(self, numbers: Sequence[int], members: Sequence[Sequence[int]]) -> None:
        """Add sets, each with a number and its samples."""
        sizes = [len(each) for each in members]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        indices = np.concatenate(members).astype(np.int32)
        bounds = np.ones(len(sizes)), np.full(len(sizes), self._infinity)
        self._solver.addRows(len(sizes), *bounds, len(indices), starts, indices, np.ones(len(indices)))
        self.rows += numbers

    def decide(self, decisions: dict[int, int]) -> None:
        """Set samples to HIT or SPARED, and all others to free."""
        for i in self._decided.keys() - decisions.keys():
            self._solver.changeColBounds(i, 0.0, self._infinity)
        for i, value in decisions.items():
            if self._decided.get(i) != value:
                self._solver.changeColBounds(i, float(value), float(value))
        self._decided = dict(decisions)

    def solve(self) -> bool:
        """Find a solution, and return whether there is one before time is up."""
        solver = self._solver
        left = self.search.seconds_left
        limit = self._infinity if left is None else solver.getRunTime() + left  # its clock keeps running
        solver.setOptionValue("time_limit", limit)
        run_solver(self.search, solver.run)
        if solver.getModelStatus() != self._is_optimal:
            return False
        found = solver.getSolution()
        self.x, self.duals = np.array(found.col_value), np.array(found.row_dual)
        return True
