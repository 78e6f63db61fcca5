"""Speed of the complexity of subsets along a path, as ratios measured in one run: `make bench`."""

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
def problems():
    small, large = generate("yinyang", 1, size=100), generate("yinyang", 1, size=400)
    flipped = np.where(np.arange(400) < 360, large.y, 1 - large.y)
    return {SMALL: build_problem(small.X, small.y), LARGE: build_problem(large.X, flipped)}


def orders(problem, count):
    return [np.random.default_rng(k).permutation(len(problem)) for k in range(count)]


def from_scratch(problem, every):
    (order,) = orders(problem, 1)
    for k in range(every, len(problem) + 1, every):
        rows = order[:k]
        SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(problem.K[np.ix_(rows, rows)], problem.y[rows])


def follow(problem, all_orders):
    for order in all_orders:
        compute_path_complexities(problem, order)


@pytest.mark.parametrize(("group", "size", "every", "rounds"), [(SMALL, "", 10, 3), (LARGE, "large_", 50, 2)])
def test_path_reference_svc(measure, problems, group, size, every, rounds):
    problem = problems[group]
    units = len(problem) // every
    measure(group, f"{size}path_reference_svc", lambda: from_scratch(problem, every), units, rounds)


@pytest.mark.parametrize(("group", "size", "count"), [(SMALL, "", 100), (LARGE, "large_", 20)])
def test_path(measure, problems, group, size, count):
    problem = problems[group]
    paths = orders(problem, count)
    measure(group, f"{size}path", lambda: follow(problem, paths), count * len(problem))


def test_permutations_with_their_equations(measure, problems):
    name = "permutations_with_their_equations"
    measure(LARGE, name, lambda: sum_paths(problems[LARGE], 1, 100, 50), 100 * 400, 3)


def test_all_subsets_on_all_cores(measure):
    pool = generate("disks", 2, size=31)
    problem = build_problem(pool.X, pool.y)
    measure(
        "exact decomposition, 2^31 subsets", "all_subsets_on_all_cores", lambda: decompose(problem), rounds=1
    )
