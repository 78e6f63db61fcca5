"""Principal points and subsets against all subsets one by one; what bounds a search."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoloss_cli.complexity import decomposition
from zoloss_cli.complexity.decomposition import cluster_samples, decompose
from zoloss_cli.complexity.hard_margin import build_problem, fit_hard_margin_svm
from zoloss_cli.data.dataset import generate
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.kernels.subsets import estimate_solves


def random_problem(seed, n, kernel="perceptron"):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    return build_problem(rng.standard_normal((n, 2)), y, kernel, 2.0 if kernel == "rbf" else None)


def every_union(problem, groups):
    """{(complexity, error): the unions that have them}, one solve from scratch each."""
    found: dict[tuple[int, int], set] = {}
    for chosen in product([False, True], repeat=int(groups.max()) + 1):
        rows = np.flatnonzero(np.array(chosen)[groups])
        pair = (len(fit_hard_margin_svm(problem, rows).support), len(problem) - len(rows))
        found.setdefault(pair, set()).add(tuple(rows.tolist()))
    return found


def principal(found):
    """Definition 1.4, word for word."""
    return sorted(p for p in found if all(q[0] > p[0] or q[1] > p[1] for q in found if q != p))


def as_sets(points):
    return {(p.complexity, p.error): {tuple(rows.tolist()) for rows in p.subsets} for p in points}


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 8), st.sampled_from(["perceptron", "rbf"]))
def test_all_unions_are_accounted_for(seed, n, count, kernel):
    problem = random_problem(seed, n, kernel)
    groups = cluster_samples(problem, min(n, max(count, 2)))
    oracle = every_union(problem, groups)
    found = decompose(problem, groups)
    assert [tuple(pair) for pair in found.pairs.tolist()] == sorted(oracle)
    assert (found.exact, found.all_pairs) == (True, True)
    expected = {pair: oracle[pair] for pair in principal(oracle)}
    assert as_sets(found.points) == expected
    assert found.n_subsets == sum(len(unions) for unions in expected.values())
    proved = decompose(problem, groups, all_pairs=False)
    assert as_sets(proved.points) == expected
    assert (proved.exact, proved.all_pairs) == (True, False)
    guessed = decompose(problem, groups, exact=False)
    assert not guessed.exact
    assert set(as_sets(guessed.points)) <= set(oracle)  # nothing is claimed that is not there


def test_sizes_beyond_one_machine_word_are_kept_apart():
    problem = random_problem(1, 150)
    groups = cluster_samples(problem, 4)
    found = decompose(problem, groups)
    assert [tuple(pair) for pair in found.pairs.tolist()] == sorted(every_union(problem, groups))


def test_progress_goes_from_nothing_to_all():
    shares = []
    problem = random_problem(2, 20)
    decompose(problem, progress=lambda share, left: shares.append((share, left)))
    assert shares == sorted(shares)
    assert shares[-1] == (1.0, 0.0)


def test_a_search_in_many_parts_finds_the_same(monkeypatch):
    problem = random_problem(6, 14)
    at_once = decompose(problem)
    monkeypatch.setattr(decomposition, "SOLVES_PER_REPORT", 3)
    in_parts = decompose(problem)
    assert as_sets(in_parts.points) == as_sets(at_once.points)
    assert in_parts.solves == at_once.solves
    np.testing.assert_array_equal(in_parts.pairs, at_once.pairs)


def test_the_estimate_is_that_of_the_search():
    problem = random_problem(3, 14)
    search = decomposition.UnionSearch(problem, np.arange(14))
    counter, total = np.uint64(5), 0.0
    for _ in range(1000):
        arguments = search.rows, search.groups, search.sizes, search.stack, np.uint64(counter)
        solves, _, counter = estimate_solves(*arguments)
        total += solves
    assert total / 1000 == pytest.approx(decompose(problem).solves, rel=0.2)
    for seed in range(3):  # of which some drew numbers beyond a signed integer
        problem = build_problem(*generate("yinyang", seed, size=40)[:2])
        assert 0.0 < decomposition.estimate_seconds(problem, cluster_samples(problem, 12), dives=20) < 3600.0


def test_threads_share_the_unions_and_change_nothing():
    for seed in range(3):
        problem = random_problem(seed, 16)
        groups, found = cluster_samples(problem, 11), set()
        for threads in (1, 2, 5):
            search = decomposition.UnionSearch(problem, groups)
            search.search_all(None, threads)
            results = (search.bits, search.best, search.count, search.masks)
            found.add((search.solves, *(x.tobytes() for x in results)))
        assert len(found) == 1
        alone = decomposition.UnionSearch(problem, groups)
        alone.search_with_pruning(-1, None)
        np.testing.assert_array_equal(alone.collect_pairs(), search.collect_pairs())
        assert alone.solves == search.solves


def test_branches_are_all_unions():
    problem = random_problem(1, 16)
    search = decomposition.UnionSearch(problem, cluster_samples(problem, 11))
    branches = search.split_into_branches(20)
    assert len(branches) == 20
    assert sum(branch.share for branch in branches) == pytest.approx(1.0)
    for branch in branches:
        undecided = np.count_nonzero(branch.state == decomposition.UNDECIDED)
        assert branch.share == 2.0 ** (undecided - 11)
        np.testing.assert_array_equal(branch.inside, (branch.state == decomposition.IN)[search.groups])
        fit = fit_hard_margin_svm(problem, np.flatnonzero(branch.inside))
        assert branch.solution.size[1] == len(fit.support)


def test_what_nothing_separates_ends_all_threads():
    rng = np.random.default_rng(0)
    problem = build_problem(rng.standard_normal((14, 2)), np.arange(14) % 2, "linear")
    with pytest.raises(DataError, match="the linear kernel does not separate the two classes"):
        decompose(problem)


def test_too_many_clusters_are_refused_with_what_to_do():
    problem = random_problem(5, 70)
    for clusters, exact, message in (
        (cluster_samples(problem, 41), True, r"41 clusters would take about .*: merge them .*exact=False"),
        (None, False, r"70 clusters are too many .* 63 for a heuristic one"),
        (np.zeros(70, int), True, "that of sample 0 has two"),
        ([0, 1, 2], True, "there are 3 cluster numbers for 70 samples"),
    ):
        with pytest.raises(ConfigError, match=message):
            decompose(problem, clusters, exact)
    with pytest.raises(ConfigError, match="2 to 70 clusters"):
        cluster_samples(problem, 1)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(2, 10))
def test_clusters_are_merged_by_the_rule(seed, n, count):
    """Against the rule spelled out: from scratch, all pairs at every merge."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.arange(n) % 2
    count = min(count, n)
    D = np.sqrt(((X[:, None] - X[None, :]) ** 2).sum(axis=2))
    sets = [[i] for i in range(n)]
    while len(sets) > count:
        scores = {}
        for a in range(len(sets)):
            for b in range(a):
                union = sets[a] + sets[b]
                if y[union[0]] == y[union[-1]]:
                    scores[a, b] = D[np.ix_(union, union)].max() / D[np.ix_(union, y != y[union[0]])].min()
        a, b = min(scores, key=scores.get)
        sets[b] += sets.pop(a)
    found = cluster_samples(build_problem(X, y), count)
    assert found.max() + 1 == count
    members = {tuple(np.flatnonzero(found == k).tolist()) for k in range(count)}
    assert members == {tuple(sorted(s)) for s in sets}


def test_equal_samples_of_one_class_are_merged_first():
    X = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 0.0], [5.0, 5.1]])
    assert cluster_samples(build_problem(X, [0, 1, 0, 1]), 3).tolist() == [0, 1, 0, 2]
    assert cluster_samples(build_problem(X, [1, 1, 1, 1]), 1).tolist() == [0, 0, 0, 0]
