"""Sets of samples that no w classifies correctly, and the least weight of samples that hits them all."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zoloss_cli.kernels.hull import separate
from zoloss_cli.learners.search.certificates import find_farkas_weights
from zoloss_cli.learners.search.merged_samples import MergedSamples
from zoloss_cli.learners.search.progress import SearchProgress, run_solver

COLLECT_ROUNDS = 20  # passes through the samples before the first program, and after each solution of it
GREEDY_ROUNDS = 80  # hitting sets found greedily between two programs
ROUNDS_PER_GREEDY_SET = 3
SOLVER_SLACK = 1e-6  # a bound of the solver is lowered by this


class ImpossibleSets:
    """Impossible sets of samples with their proofs, and the bounds that they imply.

    Parameters
    ----------
    samples : MergedSamples
        The samples.
    integers : list of list of int
        Their signed features as integers, on which the proofs are checked.
    rng : numpy.random.Generator
        Decides where a search for a set starts.

    Attributes
    ----------
    proofs : dict of {tuple of int: list of int}
        Farkas' weights of each set: exact, positive integers.
    w : ndarray
        The separator that `find_separator` found last.
    """

    def __init__(self, samples: MergedSamples, integers: list[list[int]], rng: np.random.Generator):
        self.samples, self.integers, self.rng = samples, integers, rng
        self.proofs: dict[tuple[int, ...], list[int]] = {}
        c, size = samples.c, samples.Y.shape[1]
        self._weights_are_whole = bool(np.all(c == np.round(c)))  # then bounds are whole numbers too
        self._ones = np.ones(len(c))
        self.w, self._corral, self._weights = np.empty(size), np.empty(size + 2, np.int64), np.empty(size + 2)

    def find_separator(self, without: Iterable[int] = ()) -> bool:
        """Return whether a w classifies all samples but these correctly; it is then in `w`."""
        return self._separate(self._mask_without(without)) == 0

    def collect_sets(self, without: Iterable[int], rounds: int) -> tuple[int, float]:
        """Collect impossible sets among the samples but these.

        The sets of one round have no sample in common, so that every w is wrong on a sample of each.

        Parameters
        ----------
        without : iterable of int
            Samples to leave out.
        rounds : int
            How often to begin anew.

        Returns
        -------
        n_new : int
            How many sets are new.
        bound : float
            A lower bound that the sets of one round imply.
        """
        before, bound, c = len(self.proofs), 0.0, self.samples.c
        for _ in range(rounds):
            alive = self._mask_without(without)
            total = 0.0
            while (size := self._separate(alive)) > 0:
                members = tuple(sorted(int(i) for i in self._corral[:size]))
                alive[list(members)] = False
                if members not in self.proofs:
                    proof = find_farkas_weights([self.integers[i] for i in members])
                    if proof is None:
                        continue
                    self.proofs[members] = proof
                total += float(c[list(members)].min())
            bound = max(bound, total)
        return len(self.proofs) - before, bound

    def find_greedy_hitting_set(self) -> list[int]:
        """Return samples that hit every set, chosen greedily by how many they hit for their weight."""
        sets, c = list(self.proofs), self.samples.c
        sets_through: dict[int, list[int]] = {}
        degree = np.zeros(len(c))
        for number, members in enumerate(sets):
            degree[list(members)] += 1.0
            for i in members:
                sets_through.setdefault(i, []).append(number)
        left, chosen = set(range(len(sets))), []
        while left:
            i = int(np.argmax(degree / c * (1.0 + 0.2 * self.rng.random(len(degree)))))
            chosen.append(i)
            for number in sets_through[i]:
                if number in left:
                    left.remove(number)
                    degree[list(sets[number])] -= 1.0
        return chosen

    def solve_hitting_set(self, search: SearchProgress) -> tuple[float, np.ndarray | None, bool]:
        """Solve the integer program for the least weight of samples that hits all sets, by HiGHS.

        The bound of the solver is trusted; the sets are proved.

        Parameters
        ----------
        search : SearchProgress
            Gives the time that is left, and reports progress.

        Returns
        -------
        bound : float
            A lower bound on the weight.
        chosen : ndarray or None
            The best samples that were found.
        solved : bool
            Whether they are optimal.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix

        c, sizes = self.samples.c, [len(members) for members in self.proofs]
        places = (np.repeat(np.arange(len(sizes)), sizes), np.concatenate(list(self.proofs)))
        matrix = csr_matrix((np.ones(sum(sizes)), places), shape=(len(sizes), len(c)))
        options = {"mip_rel_gap": 0.0}
        if search.seconds_left is not None:
            options["time_limit"] = search.seconds_left
        found = run_solver(
            search,
            lambda: milp(
                c,
                constraints=LinearConstraint(matrix, 1.0, np.inf),
                integrality=np.ones(len(c)),
                bounds=Bounds(0.0, 1.0),
                options=options,
            ),
        )
        bound = max(0.0, (found.mip_dual_bound or 0.0) - SOLVER_SLACK)
        chosen = None if found.x is None else np.flatnonzero(found.x > 0.5)
        return (float(np.ceil(bound)) if self._weights_are_whole else bound), chosen, found.status == 0

    def _mask_without(self, without: Iterable[int]) -> np.ndarray:
        alive = np.ones(len(self.samples.c), bool)
        alive[list(without)] = False
        return alive

    def _separate(self, alive: np.ndarray) -> int:
        """Return 0 if `w` is now right on all samples alive, else the size of an impossible set, or -1."""
        members = np.flatnonzero(alive)
        if len(members) == 0:
            return -1
        first = int(self.rng.integers(len(members)))
        return separate(
            self.samples.Y, self._ones, members, len(members), first, self.w, self._corral, self._weights
        )


def raise_bound_by_hitting_sets(sets: ImpossibleSets, search: SearchProgress, programs: int) -> None:
    """Raise the bound of the search, set by set and program by program, until it should stop.

    Every w is wrong on a sample of each impossible set, so its errors hit all of them. Greedy hitting sets
    show where sets are missing; the program gives the bound that those so far imply. When the samples that its
    solution leaves can be separated, that is an optimum.

    Parameters
    ----------
    sets : ImpossibleSets
        To be completed.
    search : SearchProgress
        What to raise the bound of.
    programs : int
        How many integer programs to solve at most.
    """
    samples = sets.samples
    unavoidable = samples.unavoidable_loss
    search.raise_bound(unavoidable + sets.collect_sets([], COLLECT_ROUNDS)[1])
    for _ in range(programs if sets.proofs else 0):
        for _ in range(GREEDY_ROUNDS):
            if search.should_stop():
                break
            if not sets.collect_sets(sets.find_greedy_hitting_set(), ROUNDS_PER_GREEDY_SET)[0]:
                break
        if search.should_stop():
            break
        bound, chosen, is_solved = sets.solve_hitting_set(search)
        search.raise_bound(unavoidable + bound)
        if chosen is None or search.should_stop():
            break
        if sets.find_separator(chosen):
            search.offer(unavoidable + float(samples.c[samples.Y @ sets.w <= 0.0].sum()), sets.w)
        if not sets.collect_sets(chosen, COLLECT_ROUNDS)[0] and is_solved:
            break
