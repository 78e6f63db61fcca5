"""Complexity-error pairs of subsets, principal points and principal subsets (Li 2006, section 1.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.complexity.union_search import ShareProgress, UnionSearch
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.subsets import estimate_solves

MAX_EXACT_CLUSTERS = 40  # of an exact search
MAX_CLUSTERS = 63  # they are the bits of a number
HEURISTIC_SLACK = 4  # of complexity
ESTIMATE_DIVES = 300


@dataclass(frozen=True)
class PrincipalPoint:
    """A complexity and an error such that no subset is smaller in one and no larger in the other.

    See Definition 1.4 of the thesis.

    Attributes
    ----------
    complexity : int
        The complexity of its principal subsets.
    error : int
        Number of samples outside of them.
    count : int
        Number of principal subsets.
    subsets : list of ndarray of int
        The samples of at most MAX_KEPT_SUBSETS of them.
    """

    complexity: int
    error: int
    count: int
    subsets: list[np.ndarray]


@dataclass(frozen=True)
class Decomposition:
    """The principal points among the unions of clusters.

    Attributes
    ----------
    clusters : ndarray of int of shape (n_samples,)
        The cluster of each sample.
    points : list of PrincipalPoint
        Sorted by complexity.
    pairs : ndarray of int of shape (n_pairs, 2)
        Complexity and error of the subsets examined, sorted.
    exact : bool
        Whether it is certain that no principal point or subset was missed.
    all_pairs : bool
        Whether `pairs` covers all subsets.
    solves : int
        Number of SVMs solved.
    seconds : float
        Duration of the search.
    """

    clusters: np.ndarray
    points: list[PrincipalPoint]
    pairs: np.ndarray
    exact: bool
    all_pairs: bool
    solves: int
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

    Parameters
    ----------
    problem : HardMarginProblem
        The samples.
    clusters : array-like of int of shape (n_samples,), optional
        The cluster of each sample.
    exact : bool
        Whether no principal point may be missed. If not, unions are skipped if a part of them is already more
        complex by 4 than a union of the same size: more samples rarely reduce the complexity by more than
        4, so the principal points are nearly always the same, in a small part of the time.
    all_pairs : bool
        Whether an exact search accounts for every union. If not, unions that others prove not to be principal
        are skipped, which is faster.
    progress : callable, optional
        Called with the share of all unions done, and the seconds left.

    Returns
    -------
    Decomposition
        The principal points and their subsets.
    """
    groups = (
        np.arange(len(problem)) if clusters is None else np.unique(clusters, return_inverse=True)[1].ravel()
    )
    _check_clusters(problem, groups, exact)
    start_time, found = time.perf_counter(), UnionSearch(problem, groups)
    if exact and all_pairs:
        found.search_all(progress)
    elif exact:
        found.search_with_pruning(len(problem), progress)
    else:
        found.search_with_pruning(0, None)  # quick, and finds nearly all: its results prune the next search
        found.search_with_pruning(HEURISTIC_SLACK, progress)
    points = _collect_points(found)
    pairs = (
        found.collect_pairs() if exact and all_pairs else np.array([(p.complexity, p.error) for p in points])
    )
    return Decomposition(
        groups, points, pairs, exact, exact and all_pairs, found.solves, time.perf_counter() - start_time
    )


def _collect_points(found: UnionSearch) -> list[PrincipalPoint]:
    points, largest, n = [], -1, len(found.groups)
    for c in np.flatnonzero(found.best >= 0).tolist():
        if found.best[c] > largest:
            largest = int(found.best[c])
            points.append(PrincipalPoint(c, n - largest, int(found.count[c]), found.collect_subsets(c)))
    return points


def estimate_seconds(problem: HardMarginProblem, groups: np.ndarray, dives: int = ESTIMATE_DIVES) -> float:
    """Estimate the seconds of an exact search: Knuth's estimate, from random chains of decisions."""
    state, counter, total = UnionSearch(problem, groups), np.uint64(1), 0.0
    estimate_solves(state.rows, groups, state.sizes, state.stack, counter)  # compiles
    start_time, made_in_all = time.perf_counter(), 0.0
    for _ in range(dives):
        solves, made, counter = estimate_solves(
            state.rows, groups, state.sizes, state.stack, np.uint64(counter)
        )
        total += solves
        made_in_all += made
    return total / dives * (time.perf_counter() - start_time) / max(made_in_all, 1.0)


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
