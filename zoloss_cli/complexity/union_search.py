"""Searches through the unions of clusters, on all cores where nothing is left out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.kernels.hard_margin import Solution, copy_solution, new_solution
from zoloss_cli.kernels.subsets import (
    IN,
    OUT,
    UNDECIDED,
    all_rows,
    level,
    most_violated,
    new_stack,
    put_in,
    search,
)

MAX_KEPT_SUBSETS = 1024  # that are kept of one complexity
SOLVES_PER_REPORT = 50_000  # between two reports
SHARED_BRANCHES = 64  # that threads share: the same for any number of them, and so is what is found

Progress = Callable[[float, float], None]  # the share of all subsets that is done, the seconds left or infinity


@dataclass
class Branch:
    """A part of all unions: clusters that are in, that are out, and the solution of those that are in."""

    solution: Solution
    state: np.ndarray
    inside: np.ndarray  # whether an example is in
    share: float = 1.0  # of all unions


class ShareReport:
    """How far all branches are together, told to whoever wants to know."""

    def __init__(self, progress: Progress | None):
        self.progress, self.share, self.first = progress, 0.0, None
        self.lock = threading.Lock()

    def add(self, share: float) -> None:
        with self.lock:
            self.share += share
            # What came first may have been waiting for a compiler: it is no measure of the rest.
            self.first = self.first or (self.share, time.perf_counter())
            if self.progress is not None:
                made, seconds = self.share - self.first[0], time.perf_counter() - self.first[1]
                left = seconds * max(1.0 - self.share, 0.0) / made if made > 0.0 else float("inf")
                self.progress(self.share, left if self.share < 1.0 else 0.0)


@dataclass
class UnionSearch:
    """The best unions of each complexity that searches through the same clusters have found."""

    problem: HardMarginProblem
    groups: np.ndarray
    solves: int = 0
    sizes: np.ndarray = field(init=False)

    def __post_init__(self):
        n, k = len(self.problem), int(self.groups.max()) + 1
        self.sizes = np.bincount(self.groups)
        self.rows = all_rows(self.problem.K, self.problem.y, self.problem.flat)
        self.stack = new_stack(n, k + 1)
        self.bits = np.zeros((n + 1, n // 64 + 1), np.uint64)
        self.best = np.full(n + 1, -1)
        self.best[0] = np.unique(self.problem.y, return_counts=True)[1].max()  # a whole class
        self.count = np.zeros(n + 1, np.int64)
        self.masks = np.zeros((n + 1, MAX_KEPT_SUBSETS), np.uint64)

    def search_with_pruning(self, slack: int, progress: Progress | None) -> None:
        """Go through the unions one after the other, since what was found prunes what follows."""
        self.search_branch(self.build_root(), slack, ShareReport(progress), threading.Event())

    def search_all(self, progress: Progress | None, threads: int | None = None) -> None:
        """Go through all unions and leave none out, in branches that threads share."""
        report, stop = ShareReport(progress), threading.Event()

        def followed(branch: Branch) -> UnionSearch:
            found = UnionSearch(self.problem, self.groups)
            found.search_branch(branch, -1, report, stop)
            return found

        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            try:
                for found in pool.map(followed, self.split_into_branches()):
                    self.merge(found)
            finally:  # Ctrl-C, or a set that nothing separates: the others need not go on
                stop.set()

    def build_root(self) -> Branch:
        n = len(self.groups)
        solution = new_solution(n)
        solution.f[:] = 1.0  # of no example, the solution is all of one class
        return Branch(solution, np.full(len(self.sizes), UNDECIDED), np.zeros(n, bool))

    def split_into_branches(self, count: int = SHARED_BRANCHES) -> list[Branch]:
        """All unions in about so many parts: the largest is parted by the cluster that violates it most."""
        found, whole = [self.build_root()], []
        while found and len(found) + len(whole) < count:
            branch = found.pop(int(np.argmax([b.share for b in found])))
            chosen = most_violated(self.rows.y, branch.solution.f, self.groups, branch.state)
            if chosen < 0:
                whole.append(branch)
                continue
            solution, inside = new_solution(len(self.groups)), branch.inside.copy()
            copy_solution(branch.solution, solution)
            self.problem.check(*put_in(self.rows, inside, self.groups, chosen, solution))
            with_it, without = branch.state.copy(), branch.state.copy()
            with_it[chosen], without[chosen] = IN, OUT
            half = 0.5 * branch.share
            found += [Branch(solution, with_it, inside, half)]
            found += [Branch(branch.solution, without, branch.inside, half)]
            self.solves += 1
        return found + whole

    def search_branch(self, branch: Branch, slack: int, report: ShareReport, stop: threading.Event) -> None:
        """Go through the unions of a branch; a slack below 0 leaves none out."""
        copy_solution(branch.solution, level(self.stack, 0))
        path, place = np.zeros(len(self.sizes), np.int64), np.zeros(3, np.int64)
        progress = (path, branch.state.copy(), branch.inside.copy(), place)
        found = (self.bits, self.best, self.count, self.masks)
        while place[1] >= 0 and not stop.is_set():
            status, where, done = search(
                self.rows, self.groups, self.sizes, self.stack, progress, found, slack, SOLVES_PER_REPORT
            )
            self.problem.check(status, where)
            report.add(branch.share * done)
        self.solves += int(place[2])

    def merge(self, other: UnionSearch) -> None:
        """Add what was found among other unions."""
        self.solves += other.solves
        self.bits |= other.bits
        for c in np.flatnonzero(other.best > self.best):
            self.best[c], self.count[c] = other.best[c], 0
        for c in np.flatnonzero((other.best == self.best) & (other.count > 0)):
            kept = min(self.count[c], MAX_KEPT_SUBSETS)
            room = min(other.count[c], MAX_KEPT_SUBSETS - kept)
            self.masks[c, kept : kept + room] = other.masks[c, :room]
            self.count[c] += other.count[c]

    def collect_subsets(self, c: int) -> list[np.ndarray]:
        """The examples of the largest unions of complexity c."""
        kept = np.sort(self.masks[c, : min(self.count[c], MAX_KEPT_SUBSETS)])
        return [np.flatnonzero((mask >> self.groups.astype(np.uint64)) & np.uint64(1)) for mask in kept]

    def collect_pairs(self) -> np.ndarray:
        """(complexity, examples left out) of all unions that were met."""
        n = len(self.groups)
        sizes = np.arange(n + 1)
        held = (self.bits[:, sizes // 64] >> (sizes % 64).astype(np.uint64)) & np.uint64(1)
        c, size = np.nonzero(held)
        found = np.column_stack([c, n - size])
        return found[np.lexsort((found[:, 1], found[:, 0]))]
