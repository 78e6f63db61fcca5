"""Principal points and subsets among the unions of clusters of samples (Li 2006, section 1.4)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.hard_margin import HardMarginSolution, allocate_solution, copy_solution
from zoloss_cli.kernels.subsets import (
    IN,
    OUT,
    UNDECIDED,
    allocate_stack,
    build_full_rows,
    estimate_solves,
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
    """A part of all unions: which clusters are in, which are out, and the solution of those that are in."""

    solution: HardMarginSolution
    state: np.ndarray  # of each cluster: IN, OUT or UNDECIDED
    inside: np.ndarray  # whether each sample is in
    share: float = 1.0  # of all unions


class ShareReport:
    """Report the share of unions that all threads have done together, and the seconds left."""

    def __init__(self, progress: ShareProgress | None):
        self._progress, self._share = progress, 0.0
        self._first: tuple[float, float] | None = None  # share and time of the first report
        self._lock = threading.Lock()

    def add(self, share: float) -> None:
        """Add the share that a thread has done."""
        with self._lock:
            self._share += share
            # The first part may include compilation: it does not predict the rest.
            self._first = self._first or (self._share, time.perf_counter())
            if self._progress is not None:
                done, seconds = self._share - self._first[0], time.perf_counter() - self._first[1]
                left = seconds * max(1.0 - self._share, 0.0) / done if done > 0.0 else float("inf")
                self._progress(self._share, left if self._share < 1.0 else 0.0)


class UnionSearch:
    """The largest unions of each complexity found by searches through the same clusters."""

    def __init__(self, problem: HardMarginProblem, groups: np.ndarray):
        self.problem, self.groups = problem, groups  # groups: the cluster of each sample
        self.solves = 0  # number of SVMs solved
        self.sizes = np.bincount(groups)
        n = len(problem)
        self.rows = build_full_rows(problem.K, problem.y, problem.flat)
        self.stack = allocate_stack(n, len(self.sizes) + 1)
        # By complexity: the sizes of unions as bits, the largest size (-1: none), the number of unions of that
        # size, and their clusters as bits.
        self.bits = np.zeros((n + 1, n // 64 + 1), np.uint64)
        self.best = np.full(n + 1, -1)
        self.best[0] = np.unique(problem.y, return_counts=True)[1].max()  # a whole class
        self.count = np.zeros(n + 1, np.int64)
        self.masks = np.zeros((n + 1, MAX_KEPT_SUBSETS), np.uint64)

    def search_with_pruning(self, slack: int, progress: ShareProgress | None) -> None:
        """Search the unions sequentially, since earlier results prune later ones."""
        self.search_branch(self.build_root(), slack, ShareReport(progress), threading.Event())

    def search_all(self, progress: ShareProgress | None, threads: int | None = None) -> None:
        """Search all unions without pruning, in branches that threads share."""
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
            found.append(Branch(solution, with_it, inside, half))
            found.append(Branch(branch.solution, without, branch.inside, half))
            self.solves += 1
        return found + whole

    def search_branch(self, branch: Branch, slack: int, report: ShareReport, stop: threading.Event) -> None:
        """Search the unions of a branch; a slack below 0 disables pruning."""
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
        sizes = np.arange(len(self.groups), -1, -1)  # of unions that leave out 0, 1, ... samples
        return np.argwhere((self.bits[:, sizes // 64] >> (sizes % 64).astype(np.uint64)) & np.uint64(1))


MAX_EXACT_CLUSTERS = 40  # of an exact search
MAX_CLUSTERS = 63  # they are the bits of a number
HEURISTIC_SLACK = 4  # of complexity
ESTIMATE_DIVES = 300


@dataclass(frozen=True)
class PrincipalPoint:
    """A complexity and an error that no subset improves on (Definition 1.4 of the thesis)."""

    complexity: int
    error: int  # number of samples outside of its principal subsets
    count: int  # of principal subsets
    subsets: list[np.ndarray]  # the samples of at most MAX_KEPT_SUBSETS of them


@dataclass(frozen=True)
class Decomposition:
    """The principal points among the unions of clusters."""

    clusters: np.ndarray  # the cluster of each sample
    points: list[PrincipalPoint]  # sorted by complexity
    pairs: np.ndarray  # (n_pairs, 2): complexity and error of the subsets examined, sorted
    exact: bool  # whether it is certain that no principal point or subset was missed
    all_pairs: bool  # whether `pairs` covers all subsets
    solves: int  # number of SVMs solved
    seconds: float

    @property
    def n_subsets(self) -> int:
        """Number of principal subsets."""
        return sum(point.count for point in self.points)


def decompose(
    problem: HardMarginProblem,
    clusters: ArrayLike | None = None,
    exact: bool = True,
    all_pairs: bool = True,
    progress: ShareProgress | None = None,
) -> Decomposition:
    """Find principal points and subsets among all unions of clusters; without clusters, among all subsets.

    An `exact` search misses no principal point. Otherwise a union is skipped if a part of it is already more
    complex by 4 than a union of the same size, which rarely misses any. Without `all_pairs`, an exact search
    skips unions that others prove not to be principal, which is faster.
    """
    each = np.arange(len(problem))
    groups = each if clusters is None else np.unique(clusters, return_inverse=True)[1].ravel()
    _check_clusters(problem, groups, exact)
    start_time, found = time.perf_counter(), UnionSearch(problem, groups)
    if exact and all_pairs:
        found.search_all(progress)
    elif exact:
        found.search_with_pruning(len(problem), progress)
    else:
        found.search_with_pruning(0, None)  # quick, and finds nearly all: its results prune the next search
        found.search_with_pruning(HEURISTIC_SLACK, progress)
    points, largest = [], -1
    for c in np.flatnonzero(found.best >= 0).tolist():
        if found.best[c] > largest:
            largest = int(found.best[c])
            error = len(problem) - largest
            points.append(PrincipalPoint(c, error, int(found.count[c]), found.collect_subsets(c)))
    is_complete = exact and all_pairs
    pairs = found.collect_pairs() if is_complete else np.array([(p.complexity, p.error) for p in points])
    seconds = time.perf_counter() - start_time
    return Decomposition(groups, points, pairs, exact, is_complete, found.solves, seconds)


def estimate_seconds(problem: HardMarginProblem, groups: np.ndarray, dives: int = ESTIMATE_DIVES) -> float:
    """Estimate the seconds of an exact search: Knuth's estimate, from random chains of decisions."""
    search, counter, total, solved = UnionSearch(problem, groups), np.uint64(1), 0.0, 0
    arguments = search.rows, groups, search.sizes, search.stack
    estimate_solves(*arguments, counter)  # compiles
    start_time = time.perf_counter()
    for _ in range(dives):
        estimate, solves, counter = estimate_solves(*arguments, np.uint64(counter))
        total += estimate
        solved += solves
    return total / dives * (time.perf_counter() - start_time) / max(solved, 1)


def _check_clusters(problem: HardMarginProblem, groups: np.ndarray, exact: bool) -> None:
    """Raise ConfigError if there are too many clusters, or one has samples of both classes."""
    if len(groups) != len(problem):
        raise ConfigError(f"there are {len(groups)} cluster numbers for {len(problem)} samples")
    count = int(groups.max()) + 1
    if exact and MAX_EXACT_CLUSTERS < count <= MAX_CLUSTERS:
        raise ConfigError(
            f"an exact decomposition of {count} clusters would take about "
            f"{describe_expected_time(problem, groups)}, and {MAX_EXACT_CLUSTERS} is the limit: merge them "
            "into fewer, or use the heuristic one (exact=False)"
        )
    if count > MAX_CLUSTERS:
        raise ConfigError(
            f"{count} clusters are too many to enumerate their unions: merge them into {MAX_EXACT_CLUSTERS} at "
            f"most for an exact decomposition, {MAX_CLUSTERS} for a heuristic one"
        )
    for k in range(count):
        if len(np.unique(problem.y[groups == k])) > 1:
            first = np.argmax(groups == k)
            raise ConfigError(f"a cluster must have one class, but that of sample {first} has two")


def describe_expected_time(problem: HardMarginProblem, groups: np.ndarray) -> str:
    """Return `estimate_seconds` in words."""
    seconds = estimate_seconds(problem, groups)
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def compute_squared_distances(problem: HardMarginProblem) -> np.ndarray:
    """Return the squared distances of samples in the kernel's space: 2 ||x - x'|| for -||x - x'||."""
    diagonal = np.diag(problem.K)
    return np.maximum(diagonal[:, None] + diagonal[None, :] - 2.0 * problem.K, 0.0)


def cluster_samples(problem: HardMarginProblem, count: int) -> np.ndarray:
    """Cluster the samples of each class.

    The thesis made its clusters by hand. Here, of all pairs of clusters of one class, the one whose union has
    the smallest diameter relative to its distance to the other class is merged, until `count` clusters are
    left, for both classes together. They are numbered in the order of their first samples.
    """
    fewest = len(np.unique(problem.y))
    if not fewest <= count <= len(problem):
        raise ConfigError(f"there can be {fewest} to {len(problem)} clusters of these samples, not {count}")
    D = compute_squared_distances(problem)
    same = problem.y[:, None] == problem.y[None, :]
    diameter = np.where(same, D, np.inf)  # of the union of two clusters; on the diagonal, of one
    gap = np.min(np.where(same, np.inf, D), axis=1) if fewest > 1 else np.ones(len(D))  # to the other class
    member = np.arange(len(problem))
    best, partner = np.full(len(D), np.inf), np.zeros(len(D), np.int64)  # of each cluster with a later one

    def update_partners(clusters: Iterable[int]) -> None:
        for i in clusters:
            scores = diameter[i, i + 1 :] / np.minimum(gap[i], gap[i + 1 :])
            if scores.size:
                partner[i] = i + 1 + np.argmin(scores)
                best[i] = scores[partner[i] - i - 1]

    update_partners(range(len(D)))
    for _ in range(len(problem) - count):
        a = int(np.argmin(best))
        b = int(partner[a])
        member[member == b] = a
        gap[a] = min(gap[a], gap[b])
        diameter[a] = np.maximum(np.maximum(diameter[a], diameter[b]), diameter[a, b])
        diameter[:, a] = diameter[a]
        diameter[b] = diameter[:, b] = np.inf
        # With a third cluster, a union never scores less than its parts did: only clusters whose partner was
        # one of them need a new one.
        update_partners(np.flatnonzero((partner == a) | (partner == b) | (np.arange(len(D)) == a)))
        best[b] = np.inf
    return np.unique(member, return_inverse=True)[1]


TYPICAL_THRESHOLD, NOISY_THRESHOLD = 2.0 / 3.0, 1.0  # as in the thesis


def compute_mean_growth(growth: ArrayLike, times: ArrayLike) -> np.ndarray:
    """Return growth / times: the mean growth of the complexity, NaN where it could never grow."""
    growth, times = np.asarray(growth), np.asarray(times)
    return np.divide(growth, times, out=np.full(times.shape, np.nan), where=times > 0)


def categorize_contributions(contributions: ArrayLike) -> np.ndarray:
    """Return 'typical' below the first threshold, 'noisy' above the second, and 'critical' between."""
    contributions = np.asarray(contributions)
    above = np.where(contributions > NOISY_THRESHOLD, "noisy", "critical")
    return np.where(contributions < TYPICAL_THRESHOLD, "typical", above)
