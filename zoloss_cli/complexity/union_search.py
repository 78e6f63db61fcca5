"""Searches through the unions of clusters, on all cores if no union is skipped."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.kernels.hard_margin import HardMarginSolution, allocate_solution, copy_solution
from zoloss_cli.kernels.subsets import (
    IN,
    OUT,
    UNDECIDED,
    allocate_stack,
    build_full_rows,
    find_most_violated,
    get_level,
    include_cluster,
    search_unions,
)

MAX_KEPT_SUBSETS = 1024  # of one complexity
SOLVES_PER_REPORT = 50_000
SHARED_BRANCHES = 64  # the same for any number of threads, and so the result is, too

ShareProgress = Callable[[float, float], None]  # called with the share of unions done, the seconds left


@dataclass
class Branch:
    """A part of all unions: which clusters are in, which are out, and the solution of those that are in.

    Attributes
    ----------
    solution : HardMarginSolution
        The SVM of the samples that are in.
    state : ndarray of int of shape (n_clusters,)
        IN, OUT or UNDECIDED.
    inside : ndarray of bool of shape (n_samples,)
        Whether a sample is in.
    share : float
        The share of all unions.
    """

    solution: HardMarginSolution
    state: np.ndarray
    inside: np.ndarray
    share: float = 1.0


class ShareReport:
    """Report how far all branches are together.

    Parameters
    ----------
    progress : callable or None
        Called with the share of unions done, and the seconds left or infinity.
    """

    def __init__(self, progress: ShareProgress | None):
        self._progress, self._share = progress, 0.0
        self._first: tuple[float, float] | None = None  # share and time of the first report
        self._lock = threading.Lock()

    def add(self, share: float) -> None:
        """Add the share that a thread has done."""
        with self._lock:
            self._share += share
            # The first part may have waited for a compiler: it does not predict the rest.
            self._first = self._first or (self._share, time.perf_counter())
            if self._progress is not None:
                done, seconds = self._share - self._first[0], time.perf_counter() - self._first[1]
                left = seconds * max(1.0 - self._share, 0.0) / done if done > 0.0 else float("inf")
                self._progress(self._share, left if self._share < 1.0 else 0.0)


@dataclass
class UnionSearch:
    """The largest unions of each complexity found by searches through the same clusters.

    Attributes
    ----------
    problem : HardMarginProblem
        The samples.
    groups : ndarray of int of shape (n_samples,)
        The cluster of each sample.
    solves : int
        Number of SVMs solved.
    sizes : ndarray of int of shape (n_clusters,)
        The size of each cluster.
    best : ndarray of int of shape (n_samples + 1,)
        The size of the largest unions by complexity, -1 for none.
    count : ndarray of int of shape (n_samples + 1,)
        Number of unions of that size.
    """

    problem: HardMarginProblem
    groups: np.ndarray
    solves: int = 0
    sizes: np.ndarray = field(init=False)

    def __post_init__(self):
        n, k = len(self.problem), int(self.groups.max()) + 1
        self.sizes = np.bincount(self.groups)
        self.rows = build_full_rows(self.problem.K, self.problem.y, self.problem.flat)
        self.stack = allocate_stack(n, k + 1)
        self.bits = np.zeros((n + 1, n // 64 + 1), np.uint64)
        self.best = np.full(n + 1, -1)
        self.best[0] = np.unique(self.problem.y, return_counts=True)[1].max()  # a whole class
        self.count = np.zeros(n + 1, np.int64)
        self.masks = np.zeros((n + 1, MAX_KEPT_SUBSETS), np.uint64)

    def search_with_pruning(self, slack: int, progress: ShareProgress | None) -> None:
        """Search the unions one after the other, since earlier results prune later ones."""
        self.search_branch(self.build_root(), slack, ShareReport(progress), threading.Event())

    def search_all(self, progress: ShareProgress | None, threads: int | None = None) -> None:
        """Search all unions without skipping any, in branches that threads share."""
        report, stop = ShareReport(progress), threading.Event()

        def search_alone(branch: Branch) -> UnionSearch:
            found = UnionSearch(self.problem, self.groups)
            found.search_branch(branch, -1, report, stop)
            return found

        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            try:
                for found in pool.map(search_alone, self.split_into_branches()):
                    self.merge(found)
            finally:  # Ctrl-C, or an inseparable set: the others can stop
                stop.set()

    def build_root(self) -> Branch:
        """Return the branch of all unions."""
        n = len(self.groups)
        solution = allocate_solution(n)
        solution.f[:] = 1.0  # with no samples, the solution is a single class
        return Branch(solution, np.full(len(self.sizes), UNDECIDED), np.zeros(n, bool))

    def split_into_branches(self, count: int = SHARED_BRANCHES) -> list[Branch]:
        """Split all unions into about this many branches, the largest by the cluster that violates it most."""
        found = [self.build_root()]
        whole: list[Branch] = []
        while found and len(found) + len(whole) < count:
            branch = found.pop(int(np.argmax([b.share for b in found])))
            chosen = find_most_violated(self.rows.y, branch.solution.f, self.groups, branch.state)
            if chosen < 0:
                whole.append(branch)
                continue
            solution, inside = allocate_solution(len(self.groups)), branch.inside.copy()
            copy_solution(branch.solution, solution)
            self.problem.check_status(*include_cluster(self.rows, inside, self.groups, chosen, solution))
            with_it, without = branch.state.copy(), branch.state.copy()
            with_it[chosen], without[chosen] = IN, OUT
            half = 0.5 * branch.share
            found += [Branch(solution, with_it, inside, half)]
            found += [Branch(branch.solution, without, branch.inside, half)]
            self.solves += 1
        return found + whole

    def search_branch(self, branch: Branch, slack: int, report: ShareReport, stop: threading.Event) -> None:
        """Search the unions of a branch; with a slack below 0, none is skipped."""
        copy_solution(branch.solution, get_level(self.stack, 0))
        path, place = np.zeros(len(self.sizes), np.int64), np.zeros(3, np.int64)
        progress = (path, branch.state.copy(), branch.inside.copy(), place)
        found = (self.bits, self.best, self.count, self.masks)
        while place[1] >= 0 and not stop.is_set():
            status, where, done = search_unions(
                self.rows, self.groups, self.sizes, self.stack, progress, found, slack, SOLVES_PER_REPORT
            )
            self.problem.check_status(status, where)
            report.add(branch.share * done)
        self.solves += int(place[2])

    def merge(self, other: UnionSearch) -> None:
        """Add the results of another search among other unions."""
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
        """Return the samples of each of the largest unions of complexity c."""
        kept = np.sort(self.masks[c, : min(self.count[c], MAX_KEPT_SUBSETS)])
        return [np.flatnonzero((mask >> self.groups.astype(np.uint64)) & np.uint64(1)) for mask in kept]

    def collect_pairs(self) -> np.ndarray:
        """Return complexity and number of samples left out, for all unions encountered, sorted."""
        n = len(self.groups)
        sizes = np.arange(n + 1)
        held = (self.bits[:, sizes // 64] >> (sizes % 64).astype(np.uint64)) & np.uint64(1)
        c, size = np.nonzero(held)
        found = np.column_stack([c, n - size])
        return found[np.lexsort((found[:, 1], found[:, 0]))]
