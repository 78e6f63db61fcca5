"""Sets of rows that cannot all be right, and the least weight of rows that hits all of them."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.hull import separate
from zoloss_cli.learners.search.certificates import find_farkas_weights
from zoloss_cli.learners.search.progress import SearchProgress, run_solver

ROUNDS = 20  # ways through the rows before the first program, and after each solution of it
GREEDY_ROUNDS = 80  # hitting sets found greedily between two programs
SLACK = 1e-6  # the solver's: a bound is lowered by this


class ImpossibleSets:
    """Impossible sets of rows with their proofs, and what they imply."""

    def __init__(self, Y, c, integers: list[list[int]], rng):
        self.Y, self.c, self.integers, self.rng = Y, c, integers, rng
        self.proofs: dict[tuple[int, ...], list[int]] = {}  # rows -> Farkas' weights, exact
        self.whole = bool(np.all(c == np.round(c)))  # then bounds are whole numbers too
        self.ones = np.ones(len(c))
        size = Y.shape[1]
        self.w, self.corral, self.weights = np.empty(size), np.empty(size + 2, np.int64), np.empty(size + 2)

    def find_separator(self, alive: np.ndarray) -> int:
        """0 if a w, then in self.w, is right on all rows alive; else the size of an impossible set, or -1."""
        members = np.flatnonzero(alive)
        if len(members) == 0:
            return -1
        first = int(self.rng.integers(len(members)))
        return separate(self.Y, self.ones, members, len(members), first, self.w, self.corral, self.weights)

    def collect_sets(self, without, rounds: int) -> tuple[int, float]:
        """(how many new impossible sets there are among the rows but these, a bound that they imply).

        The sets of one round have no row in common, so every w is wrong on a row of each.
        """
        before, bound = len(self.proofs), 0.0
        for _ in range(rounds):
            alive = np.ones(len(self.c), bool)
            alive[list(without)] = False
            total = 0.0
            while (size := self.find_separator(alive)) > 0:
                rows = tuple(sorted(int(i) for i in self.corral[:size]))
                alive[list(rows)] = False
                if rows not in self.proofs:
                    proof = find_farkas_weights([self.integers[i] for i in rows])
                    if proof is None:
                        continue
                    self.proofs[rows] = proof
                total += float(self.c[list(rows)].min())
            bound = max(bound, total)
        return len(self.proofs) - before, bound

    def find_greedy_hitting_set(self) -> list[int]:
        """Rows that hit every set: one after the other that hits many for its weight, more or less."""
        through: dict[int, list[int]] = {}
        degree = np.zeros(len(self.c))
        sets = list(self.proofs)
        for number, rows in enumerate(sets):
            degree[list(rows)] += 1.0
            for i in rows:
                through.setdefault(i, []).append(number)
        left, chosen = set(range(len(sets))), []
        while left:
            i = int(np.argmax(degree / self.c * (1.0 + 0.2 * self.rng.random(len(degree)))))
            chosen.append(i)
            for number in through[i]:
                if number in left:
                    left.remove(number)
                    degree[list(sets[number])] -= 1.0
        return chosen

    def solve_hitting_set(self, search: SearchProgress) -> tuple[float, np.ndarray | None, bool]:
        """(bound on the weight of rows that hit all sets, the best that was found, whether that is the least).

        An integer program, by HiGHS; its bound is trusted, the sets are proved.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix

        sizes = [len(rows) for rows in self.proofs]
        places = (np.repeat(np.arange(len(sizes)), sizes), np.concatenate(list(self.proofs)))
        matrix = csr_matrix((np.ones(sum(sizes)), places), shape=(len(sizes), len(self.c)))
        options = {"mip_rel_gap": 0.0}
        if search.time_limit is not None:
            options["time_limit"] = max(0.1, search.time_limit - search.seconds)
        found = run_solver(
            search,
            lambda: milp(
                self.c,
                constraints=LinearConstraint(matrix, 1.0, np.inf),
                integrality=np.ones(len(self.c)),
                bounds=Bounds(0.0, 1.0),
                options=options,
            ),
        )
        bound = max(0.0, (found.mip_dual_bound or 0.0) - SLACK)
        chosen = None if found.x is None else np.flatnonzero(found.x > 0.5)
        return (float(np.ceil(bound)) if self.whole else bound), chosen, found.status == 0


def raise_bound_by_hitting_sets(
    sets: ImpossibleSets, lost: float, search: SearchProgress, programs: int
) -> None:
    """Raise the search's bound, set by set and program by program, until it is over.

    Every w is wrong on a row of each impossible set, so its errors hit all of them. Greedy hitting sets
    show where sets are missing; the program says what those so far imply. When the rows that its solution
    leaves can be separated, that is an optimum.
    """
    search.raise_bound(lost + sets.collect_sets([], ROUNDS)[1])
    for _ in range(programs if sets.proofs else 0):
        for _ in range(GREEDY_ROUNDS):
            if search.should_stop() or not sets.collect_sets(sets.find_greedy_hitting_set(), 3)[0]:
                break
        if search.should_stop():
            break
        bound, chosen, solved = sets.solve_hitting_set(search)
        search.raise_bound(lost + bound)
        if chosen is None or search.should_stop():
            break
        alive = np.ones(len(sets.c), bool)
        alive[chosen] = False
        if sets.find_separator(alive) == 0:
            search.offer(lost + float(sets.c[sets.Y @ sets.w <= 0.0].sum()), sets.w)
        if not sets.collect_sets(chosen, ROUNDS)[0] and solved:
            break
