"""Contributions of samples to the complexity: estimators, and greedy removal (Li 2006, section 1.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.complexity.decomposition import compute_mean_growth
from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels import hard_margin as kernels

PERMUTATIONS_PER_BLOCK = 10  # between two reports of progress

Progress = Callable[[int, int], None]  # called with the number done and the total
Seed = int | Sequence[int] | np.ndarray


@dataclass(frozen=True)
class PathSums:
    """Sums over random paths of subsets; those of several blocks of paths can be added with +, in any order."""

    s1: int
    s2: int  # contributions are counted when a sample joins s1 to s2 - 1 others
    permutations: int  # number of paths
    by_sample: np.ndarray  # (n_samples, 2): growth of the complexity when a sample joins, how often it joined
    products: np.ndarray  # (n_samples + 1, n_samples): P'P, and below it P'Delta, of (1.12); may have no rows
    by_size: np.ndarray  # (n_groups, s2, 2): the same by the sample's group and the size of the set it joins

    def __add__(self, other: PathSums) -> PathSums:
        if (self.s1, self.s2, self.by_size.shape) != (other.s1, other.s2, other.by_size.shape):
            raise ConfigError("only paths through subsets of the same sizes and groups can be added")
        added = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[2:]]
        return PathSums(self.s1, self.s2, *added)


def sum_paths(
    problem: HardMarginProblem,
    seed: Seed,
    permutations: int,
    s1: int = 0,
    s2: int | None = None,
    groups: ArrayLike | None = None,
    equations: bool = True,
) -> PathSums:
    """Sum the growth of the complexity along random paths from the empty set to all samples.

    `groups` number the samples' groups from 0. `equations` are those of `solve_least_squares`, which need a
    matrix as large as the kernel's.
    """
    n = len(problem)
    s2 = n if s2 is None else s2
    if not 0 <= s1 < s2 <= n or permutations < 1:
        raise ConfigError(
            f"0 <= s1 < s2 <= {n} and at least 1 permutation are needed (got {s1}, {s2}, {permutations})"
        )
    group = np.zeros(n, np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    if group.shape != (n,) or group.min() < 0:
        raise ConfigError(f"groups must be {n} numbers from 0")
    counter = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    shapes = (n, 2), (n + 1 if equations else 0, n), (int(group.max()) + 1, s2, 2)
    sums = [np.zeros(shape, np.int64) for shape in shapes]
    problem.check_status(
        *kernels.add_path_sums(problem.K, problem.y, problem.flat, counter, permutations, s1, s2, group, *sums)
    )
    return PathSums(s1, s2, permutations, *sums)


def sum_paths_in_blocks(
    problem: HardMarginProblem,
    permutations: int,
    seed: Seed,
    s1: int = 0,
    groups: ArrayLike | None = None,
    equations: bool = False,
    progress: Progress | None = None,
) -> PathSums:
    """Sum random paths block by block, and report progress."""
    words = [int(word) for word in np.atleast_1d(seed)]
    total: PathSums | None = None
    for done in range(0, max(permutations, 1), PERMUTATIONS_PER_BLOCK):  # 0 permutations: `sum_paths` refuses
        count = min(PERMUTATIONS_PER_BLOCK, permutations - done)
        sums = sum_paths(problem, [*words, done], count, s1, groups=groups, equations=equations)
        total = sums if total is None else total + sums
        if progress is not None:
            progress(done + count, permutations)
    assert total is not None
    return total


def average_contributions(sums: PathSums) -> np.ndarray:
    """Return the average contribution of each sample (1.13); NaN for samples that no path counted.

    With s1 = 0 and s2 = N, it tends to the Shapley value of the sample.
    """
    return compute_mean_growth(*sums.by_sample.T)


def solve_least_squares(sums: PathSums) -> np.ndarray:
    """Return the contributions that best fit all equations, each with noise of the same variance.

    This is (1.12) with Sigma = I. They need about a hundred times as many permutations as the average.
    """
    if len(sums.products) == 0:
        raise ConfigError("these sums lack the equations for least squares")
    half, right = sums.products[:-1], sums.products[-1]
    products = (half + half.T - np.diag(np.diag(half))).astype(float)
    return np.linalg.lstsq(products, right.astype(float), rcond=None)[0]


def compute_leave_one_out(problem: HardMarginProblem, subset: ArrayLike | None = None) -> np.ndarray:
    """Return the contribution of each sample to all samples, or to a subset (Definition 1.8)."""
    indices = np.arange(len(problem)) if subset is None else np.asarray(subset, dtype=np.int64)
    if len(indices) == 0:
        return np.empty(0, np.int64)
    whole, without = _solve_without_each(problem, indices)
    return whole - without


@dataclass(frozen=True)
class RightmostSegment:
    """A descent along the rightmost segment of the complexity-error plot."""

    removed: np.ndarray  # samples in the order of their removal
    complexities: np.ndarray  # of the whole set, and after each removal


def descend_rightmost_segment(problem: HardMarginProblem, cost: float = 1.0) -> RightmostSegment:
    """Remove the sample that contributes most, as long as that is at least `cost` (section 1.5.1).

    This is the greedy method of the thesis, which warns that a single contribution is a noisy sign. The cost is
    that of memorizing a sample, lambda in the thesis. Of equal samples, the first is removed first.
    """
    indices = np.arange(len(problem))
    removed: list[int] = []
    complexities: list[int] = []
    while True:
        whole, without = _solve_without_each(problem, indices)
        complexities.append(whole)
        worst = int(np.argmin(without))
        if whole - without[worst] < cost:
            return RightmostSegment(np.array(removed, dtype=np.int64), np.array(complexities))
        removed.append(int(indices[worst]))
        indices = np.delete(indices, worst)


def _solve_without_each(problem: HardMarginProblem, indices: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the complexity of these samples, and without each of them."""
    whole, without, status, where = kernels.compute_leave_one_out(problem.K, problem.y, indices, problem.flat)
    problem.check_status(status, int(indices[where]))
    return whole, without


def list_one_vs_rest(y: np.ndarray) -> list[np.ndarray]:
    """Return the labels of each problem, 1 for a class and 0 for the rest; two classes are one problem."""
    classes = np.unique(y)
    return [(y == label).astype(np.int64) for label in (classes if len(classes) > 2 else classes[1:])]


def share_progress(progress: Progress, done: int, count: int) -> Progress:
    """Return a callback for one of `count` problems of the same size, of which `done` are done."""
    return lambda step, total: progress(done * total + step, count * total)
