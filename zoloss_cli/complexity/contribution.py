"""What each example adds to the complexity: estimators, categories, removal (Li 2006, section 1.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from zoloss_cli.complexity.growth import compute_mean_growth
from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.contribution import add_paths, without_each

PERMUTATIONS_PER_BLOCK = 10  # permutations between two reports

Progress = Callable[[int, int], None]  # what is done, of how many


@dataclass(frozen=True)
class PathSums:
    """What random subset paths add up to; blocks of paths are added with +, in any order."""

    s1: int
    s2: int
    permutations: int
    by_sample: np.ndarray  # N x [growth of the complexity, times], when an example joins s1 to s2 - 1 others
    products: np.ndarray  # P'P and below it P'Delta of (1.12), see kernels/contribution.py
    by_size: np.ndarray  # groups x s2 x [growth, times]

    def __add__(self, other: PathSums) -> PathSums:
        if (self.s1, self.s2, self.by_size.shape) != (other.s1, other.s2, other.by_size.shape):
            raise ConfigError("only paths through subsets of the same sizes and groups can be added")
        added = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[2:]]
        return PathSums(self.s1, self.s2, *added)


def sum_paths(
    problem: HardMarginProblem,
    seed,
    permutations: int,
    s1: int = 0,
    s2: int | None = None,
    groups=None,
    equations: bool = True,
) -> PathSums:
    """The sums of so many random paths, which depend on the seed (a number or several) and nothing else.

    Contributions are those to subsets of s1 to s2 - 1 examples; s2 is the number of all if it is not given.
    `groups` numbers the examples' groups for `average_by_size`, from 0. Without `equations`, which take a matrix
    as large as the kernel's, there are no least squares.
    """
    n = len(problem)
    s2 = n if s2 is None else s2
    if not 0 <= s1 < s2 <= n or permutations < 1:
        raise ConfigError(
            f"0 <= s1 < s2 <= {n} and 1 permutation at least are needed: {s1}, {s2}, {permutations}"
        )
    groups = np.zeros(n, np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    if groups.shape != (n,) or groups.min() < 0:
        raise ConfigError(f"groups must be {n} numbers from 0")
    counter = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    by_sample, products = np.zeros((n, 2), np.int64), np.zeros((n + 1 if equations else 0, n), np.int64)
    by_size = np.zeros((int(groups.max()) + 1, s2, 2), np.int64)
    problem.check(
        *add_paths(
            problem.K,
            problem.y,
            problem.flat,
            counter,
            permutations,
            s1,
            s2,
            groups,
            by_sample,
            products,
            by_size,
        )
    )
    return PathSums(s1, s2, permutations, by_sample, products, by_size)


def sum_paths_in_blocks(
    problem: HardMarginProblem,
    permutations: int,
    seed,
    s1: int = 0,
    groups=None,
    equations: bool = False,
    progress: Progress | None = None,
) -> PathSums:
    """The sums of random paths, made in parts so that progress can be told; see `sum_paths`."""
    total, done = None, 0
    words = [int(word) for word in np.atleast_1d(seed)]
    while done < permutations:
        count = min(PERMUTATIONS_PER_BLOCK, permutations - done)
        part = sum_paths(problem, [*words, done], count, s1, groups=groups, equations=equations)
        total, done = part if total is None else total + part, done + count
        if progress is not None:
            progress(done, permutations)
    return total


def average_contributions(sums: PathSums) -> np.ndarray:
    """The average contribution of each example (1.13); with s1 = 0 and s2 = N it tends to its Shapley value.

    NaN for an example that no path had in the middle.
    """
    return compute_mean_growth(*sums.by_sample.T)


def solve_least_squares(sums: PathSums) -> np.ndarray:
    """The contributions that fit all equations best, each with noise of the same variance: (1.12), Sigma = I.

    They need about a hundred times as many permutations as the average.
    """
    if len(sums.products) == 0:
        raise ConfigError("these sums were made without the equations that least squares solves")
    half, right = sums.products[:-1], sums.products[-1]
    products = (half + half.T - np.diag(np.diag(half))).astype(float)
    return np.linalg.lstsq(products, right.astype(float), rcond=None)[0]


def average_by_size(sums: PathSums) -> np.ndarray:
    """The mean contribution of each group (row) to subsets of 0, 1, ... s2 - 1 examples: Figure 1.11."""
    return compute_mean_growth(sums.by_size[..., 0], sums.by_size[..., 1])


def compute_leave_one_out(problem: HardMarginProblem, rows=None) -> np.ndarray:
    """The contribution of each row to the set of all these (Definition 1.8)."""
    rows = np.arange(len(problem)) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(rows) == 0:
        return np.empty(0, np.int64)
    whole, without, status, where = without_each(problem.K, problem.y, rows, problem.flat)
    problem.check(status, int(rows[where]))
    return whole - without


@dataclass(frozen=True)
class RightmostSegment:
    """A way down the rightmost segment: rows in the order of their removal, and the complexity after each."""

    removed: np.ndarray
    complexities: np.ndarray  # of the whole set first


def descend_rightmost_segment(
    problem: HardMarginProblem, cost: int = 1, most: int | None = None
) -> RightmostSegment:
    """Remove the example that contributes most, as long as it is `cost` or more (the greedy method of 1.5.1).

    `cost` is what it takes to memorize one example, lambda in the thesis; at most `most` are removed. Of equal
    ones the first row goes. The thesis warns of it: a single contribution is a noisy sign.
    """
    rows, removed, complexities = np.arange(len(problem)), [], []
    most = len(rows) if most is None else most
    while True:
        whole, without, status, where = without_each(problem.K, problem.y, rows, problem.flat)
        problem.check(status, int(rows[where]))
        complexities.append(whole)
        worst = int(np.argmin(without))
        if len(removed) >= most or whole - without[worst] < cost:
            return RightmostSegment(np.array(removed, dtype=np.int64), np.array(complexities))
        removed.append(int(rows[worst]))
        rows = np.delete(rows, worst)
