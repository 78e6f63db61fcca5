"""Complexity-error pairs of subsets, principal points and principal subsets (Li 2006, section 1.4)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.complexity.measure import Problem
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.subsets import UNDECIDED, all_rows, dive, new_stack, search

MOST_CLUSTERS = 40  # for a search that is exact
MOST_BITS = 63
MOST_SUBSETS = 4096  # that are kept of one complexity
SLACK = 4
SOLVES = 50_000  # between two reports
DIVES = 300

Progress = Callable[[float, float], None]  # the share of all subsets that is done, the seconds left or infinity


@dataclass(frozen=True)
class PrincipalPoint:
    """No subset is simpler with as few errors, or has fewer with as low a complexity (Definition 1.4)."""

    complexity: int
    error: int  # examples that are not in the subset
    count: int  # of principal subsets
    subsets: list[np.ndarray]  # their rows; at most MOST_SUBSETS of them


@dataclass(frozen=True)
class Decomposition:
    """What the subsets that are unions of clusters have to offer."""

    clusters: np.ndarray  # of each example
    points: list[PrincipalPoint]  # by complexity
    pairs: np.ndarray  # (complexity, error) of the subsets that were looked at, sorted
    exact: bool  # whether no principal point or subset can have been missed
    all_pairs: bool  # whether `pairs` has those of all subsets
    solves: int
    seconds: float

    @property
    def subsets(self) -> int:
        return sum(point.count for point in self.points)


def decompose(
    problem: Problem,
    clusters: np.ndarray | None = None,
    exact: bool = True,
    all_pairs: bool = True,
    progress: Progress | None = None,
) -> Decomposition:
    """Principal points and subsets among all unions of clusters; without clusters, among all subsets.

    Exact, with all complexity-error pairs, every union is accounted for. Without them, unions are left out that
    others prove not to be principal, which is faster. If not exact, unions are left out whose part is already
    more complex by 4 than a union that is as large: more examples take away more than that so seldom that the
    principal points are nearly always the same, in a small part of the time.
    """
    groups = (
        np.arange(len(problem)) if clusters is None else np.unique(clusters, return_inverse=True)[1].ravel()
    )
    if len(groups) != len(problem):
        raise ConfigError(f"there are {len(groups)} cluster numbers for {len(problem)} examples")
    _refuse_too_many(problem, groups, exact)
    for k in range(groups.max() + 1):
        if len(np.unique(problem.y[groups == k])) > 1:
            raise ConfigError(
                f"a cluster has examples of one class, but row {np.argmax(groups == k)}'s has two"
            )
    began, state = time.perf_counter(), _Search(problem, groups)
    if exact:
        state.run(-1 if all_pairs else len(problem), progress)
    else:
        state.run(0, None)  # quick, and it finds nearly all: what it found prunes the next one
        state.run(SLACK, progress)
    pairs = state.all_pairs() if exact and all_pairs else state.best_pairs()
    return Decomposition(
        groups, state.points(), pairs, exact, exact and all_pairs, state.solves, time.perf_counter() - began
    )


def expected_seconds(problem: Problem, groups: np.ndarray, dives: int = DIVES) -> float:
    """About how long an exact search takes here: Knuth's estimate, from random chains of decisions."""
    state, counter, total = _Search(problem, groups), np.uint64(1), 0.0
    dive(state.rows, groups, state.sizes, state.stack, counter)
    began, looked = time.perf_counter(), 0.0
    for _ in range(dives):
        solves, made, counter = dive(state.rows, groups, state.sizes, state.stack, np.uint64(counter))
        total += solves
        looked += made
    return total / dives * (time.perf_counter() - began) / max(looked, 1.0)


def _refuse_too_many(problem: Problem, groups: np.ndarray, exact: bool) -> None:
    count = int(groups.max()) + 1
    if exact and MOST_CLUSTERS < count <= MOST_BITS:
        raise ConfigError(
            f"an exact decomposition of {count} clusters would take about {expected_time(problem, groups)}, and"
            f" {MOST_CLUSTERS} is the limit: merge them into fewer, or take the heuristic one (exact=False)"
        )
    if count > MOST_BITS:
        raise ConfigError(
            f"{count} clusters are too many to go over their unions: merge them into {MOST_CLUSTERS} at most"
            f" for an exact decomposition, {MOST_BITS} for a heuristic one"
        )


def expected_time(problem: Problem, groups: np.ndarray) -> str:
    """As `expected_seconds`, in words."""
    seconds = expected_seconds(problem, groups)
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


@dataclass
class _Search:
    """What searches through the same unions share: room to work, and the best unions of each complexity."""

    problem: Problem
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
        self.masks = np.zeros((n + 1, MOST_SUBSETS), np.uint64)

    def run(self, slack: int, progress: Progress | None) -> None:
        """Go through the unions; a slack below 0 leaves none out."""
        k = len(self.sizes)
        self.stack.size[0] = 0
        self.stack.f[0] = 1.0  # of no example, the solution is all of one class
        path, state, place = np.zeros(k, np.int64), np.full(k, UNDECIDED), np.zeros(3, np.int64)
        inside, share, first = np.zeros(len(self.groups), bool), 0.0, None
        while place[1] >= 0:
            status, where, done = search(
                self.rows,
                self.groups,
                self.sizes,
                self.stack,
                (path, state, inside, place),
                (self.bits, self.best, self.count, self.masks),
                slack,
                SOLVES,
            )
            self.problem.check(status, where)
            share += done
            first = first or (share, time.perf_counter())  # the first part may have been waiting for a compiler
            if progress is not None:
                made, seconds = share - first[0], time.perf_counter() - first[1]
                left = seconds * (1.0 - share) / made if made > 0.0 else float("inf")
                progress(share, left if share < 1.0 else 0.0)
        self.solves += int(place[2])

    def points(self) -> list[PrincipalPoint]:
        found, largest, n = [], -1, len(self.groups)
        for c in np.flatnonzero(self.best >= 0):
            if self.best[c] > largest:
                largest = self.best[c]
                kept = self.masks[c, : min(self.count[c], MOST_SUBSETS)]
                subsets = [
                    np.flatnonzero((mask >> self.groups.astype(np.uint64)) & np.uint64(1)) for mask in kept
                ]
                found.append(PrincipalPoint(int(c), int(n - largest), int(self.count[c]), subsets))
        return found

    def all_pairs(self) -> np.ndarray:
        n = len(self.groups)
        sizes = np.arange(n + 1)
        held = (self.bits[:, sizes // 64] >> (sizes % 64).astype(np.uint64)) & np.uint64(1)
        c, size = np.nonzero(held)
        pairs = np.column_stack([c, n - size])
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def best_pairs(self) -> np.ndarray:
        return np.array([(point.complexity, point.error) for point in self.points()])
