"""Complexity-error pairs of subsets, principal points and principal subsets (Li 2006, section 1.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.complexity.union_search import Progress, UnionSearch
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.subsets import dive

MAX_EXACT_CLUSTERS = 40  # for a search that is exact
MAX_CLUSTERS = 63
HEURISTIC_SLACK = 4
ESTIMATE_DIVES = 300


@dataclass(frozen=True)
class PrincipalPoint:
    """No subset is simpler with as few errors, or has fewer with as low a complexity (Definition 1.4)."""

    complexity: int
    error: int  # examples that are not in the subset
    count: int  # of principal subsets
    subsets: list[np.ndarray]  # their rows; at most MAX_KEPT_SUBSETS of them


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
    def n_subsets(self) -> int:
        return sum(point.count for point in self.points)


def decompose(
    problem: HardMarginProblem,
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
    began, found = time.perf_counter(), UnionSearch(problem, groups)
    if exact and all_pairs:
        found.search_all(progress)
    elif exact:
        found.search_with_pruning(len(problem), progress)
    else:
        found.search_with_pruning(0, None)  # quick, and it finds nearly all: what it found prunes the next one
        found.search_with_pruning(HEURISTIC_SLACK, progress)
    points = _points(found)
    pairs = (
        found.collect_pairs() if exact and all_pairs else np.array([(p.complexity, p.error) for p in points])
    )
    return Decomposition(
        groups, points, pairs, exact, exact and all_pairs, found.solves, time.perf_counter() - began
    )


def _points(found: UnionSearch) -> list[PrincipalPoint]:
    points, largest, n = [], -1, len(found.groups)
    for c in np.flatnonzero(found.best >= 0):
        if found.best[c] > largest:
            largest = found.best[c]
            points.append(
                PrincipalPoint(int(c), int(n - largest), int(found.count[c]), found.collect_subsets(c))
            )
    return points


def estimate_seconds(problem: HardMarginProblem, groups: np.ndarray, dives: int = ESTIMATE_DIVES) -> float:
    """About how long an exact search takes here: Knuth's estimate, from random chains of decisions."""
    state, counter, total = UnionSearch(problem, groups), np.uint64(1), 0.0
    dive(state.rows, groups, state.sizes, state.stack, counter)
    began, looked = time.perf_counter(), 0.0
    for _ in range(dives):
        solves, made, counter = dive(state.rows, groups, state.sizes, state.stack, np.uint64(counter))
        total += solves
        looked += made
    return total / dives * (time.perf_counter() - began) / max(looked, 1.0)


def _refuse_too_many(problem: HardMarginProblem, groups: np.ndarray, exact: bool) -> None:
    count = int(groups.max()) + 1
    if exact and MAX_EXACT_CLUSTERS < count <= MAX_CLUSTERS:
        raise ConfigError(
            f"an exact decomposition of {count} clusters would take about {describe_expected_time(problem, groups)}, and"
            f" {MAX_EXACT_CLUSTERS} is the limit: merge them into fewer, or take the heuristic one (exact=False)"
        )
    if count > MAX_CLUSTERS:
        raise ConfigError(
            f"{count} clusters are too many to go over their unions: merge them into {MAX_EXACT_CLUSTERS} at most"
            f" for an exact decomposition, {MAX_CLUSTERS} for a heuristic one"
        )


def describe_expected_time(problem: HardMarginProblem, groups: np.ndarray) -> str:
    """As `estimate_seconds`, in words."""
    seconds = estimate_seconds(problem, groups)
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"
