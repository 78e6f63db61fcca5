"""Speed of the complexity of subsets along a path, as ratios measured in one run: `make bench`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from zoloss_cli.complexity.contribution import sum_paths
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.hard_margin import build_problem, compute_path_complexities
from zoloss_cli.data.dataset import generate

SMALL = "complexity, yin-yang 100"
LARGE = "complexity, 400, 40 flipped"


@pytest.fixture(scope="module")
def small():
    pool = generate("yinyang", 1, size=100)
    return build_problem(pool.X, pool.y)


@pytest.fixture(scope="module")
def large():
    pool = generate("yinyang", 1, size=400)
    return build_problem(pool.X, np.where(np.arange(400) < 360, pool.y, 1 - pool.y))


def orders(problem, count):
    return [np.random.default_rng(k).permutation(len(problem)) for k in range(count)]


def from_scratch(problem, every):
    """scikit-learn's hard-margin SVM of every so many-th set along a path; returns how many it solved."""
    (order,) = orders(problem, 1)
    sizes = range(every, len(problem) + 1, every)
    for k in sizes:
        rows = order[:k]
        SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(problem.K[np.ix_(rows, rows)], problem.y[rows])
    return len(sizes)


def time_paths(benchmark, problem, count):
    """Time so many paths through all samples; a unit is a set along one."""

    def follow(all_orders):
        for order in all_orders:
            compute_path_complexities(problem, order)

    benchmark.extra_info["units"] = count * len(problem)
    benchmark.pedantic(follow, (orders(problem, count),), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group=SMALL)
def test_path_reference_svc(benchmark, small):
    benchmark.extra_info["units"] = benchmark.pedantic(from_scratch, (small, 10), rounds=3)


@pytest.mark.benchmark(group=SMALL)
def test_path(benchmark, small):
    time_paths(benchmark, small, 100)


@pytest.mark.benchmark(group=LARGE)
def test_large_path_reference_svc(benchmark, large):
    benchmark.extra_info["units"] = benchmark.pedantic(from_scratch, (large, 50), rounds=2)


@pytest.mark.benchmark(group=LARGE)
def test_large_path(benchmark, large):
    time_paths(benchmark, large, 20)


@pytest.mark.benchmark(group=LARGE)
def test_permutations_with_their_equations(benchmark, large):
    benchmark.extra_info["units"] = 100 * 400
    benchmark.pedantic(sum_paths, (large, 1, 100, 50), rounds=3, warmup_rounds=1)


@pytest.mark.benchmark(group="exact decomposition, 2^31 subsets")
def test_all_subsets_on_all_cores(benchmark):
    pool = generate("disks", 2, size=31)
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(decompose, (build_problem(pool.X, pool.y),), rounds=1)
