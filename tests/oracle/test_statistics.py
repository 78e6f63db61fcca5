"""Tests of differences against hand-computed examples, other definitions and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from built_runs import build_run
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from zoloss_cli.errors import ResultsError
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.statistics import (
    compare_by_signed_ranks,
    compare_pair,
    compare_with_best,
    compute_average_ranks,
    compute_corrected_t_test,
    compute_critical_difference,
    compute_least_signed_rank_p,
    compute_signed_rank_p,
    correct_by_holm,
    find_best_learner,
)

# Demšar (2006), Table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets by their AUC.
DEMSAR = [
    [4, 3, 2, 1],
    [1, 2, 3, 4],
    [4, 1, 2, 3],
    [4, 1, 3, 2],
    [4, 2, 3, 1],
    [1, 2.5, 4, 2.5],
    [3, 2, 4, 1],
    [2.5, 2.5, 4, 1],
    [4, 3, 2, 1],
    [2.5, 2.5, 2.5, 2.5],
    [4, 2.5, 1, 2.5],
    [3, 2, 4, 1],
    [4, 1, 2, 3],
    [3, 1, 4, 2],
]
VARIANTS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def run_of(values, sizes=(80, 20), metric="test_error", train=0.8) -> RunResult:
    """A run from {(data set, learner): {split: value}}."""
    return build_run(
        {place: {metric: list(by_split.values())} for place, by_split in values.items()},
        {place: list(by_split) for place, by_split in values.items()},
        sizes,
        metric=metric,
        split={"repeats": 2, "train": train},
    )


def means_of(rows, learners) -> RunResult:
    """A run whose cells have one split each: the given numbers."""
    return run_of(
        {(f"d{i}", x): {0: v} for i, row in enumerate(rows) for x, v in zip(learners, row, strict=True)}
    )


# -- one data set ---------------------------------------------------------------------------------------

numbers = st.floats(-50, 50).map(lambda x: round(x, 2))
differences = st.lists(numbers, min_size=2, max_size=30).filter(lambda d: max(d) > min(d))
sizes = st.tuples(st.integers(2, 500), st.integers(1, 500))


def test_a_hand_computed_corrected_t_test():
    """Mean 2, s^2 = 8/3, (1/4 + 20/80) s^2 = 4/3, so t is the root of 3; with 3 degrees p = 1/2 - 1/pi."""
    t, p = compute_corrected_t_test([2.0, 0.0, 4.0, 2.0], 80, 20)
    assert t == pytest.approx(math.sqrt(3))
    assert p == pytest.approx(0.5 - 1 / math.pi)


@given(differences, sizes)
def test_the_corrected_t_test_is_its_plain_loop(d, parts):
    n_train, n_test = parts
    total = 0.0
    for x in d:
        total += x
    mean = total / len(d)
    squares = 0.0
    for x in d:
        squares += (x - mean) ** 2
    s2 = squares / (len(d) - 1)
    expected = mean / math.sqrt(s2 / len(d) + s2 * n_test / n_train)
    t, p = compute_corrected_t_test(d, n_train, n_test)
    assert t == pytest.approx(expected, rel=1e-6, abs=1e-9)
    tail = stats.t.cdf(-abs(expected), len(d) - 1)
    assert p == pytest.approx(2 * tail, rel=1e-4, abs=1e-12)


@given(differences, sizes, st.floats(0.01, 100))
def test_swapping_flips_the_sign_and_the_scale_does_not_matter(d, parts, unit):
    t, p = compute_corrected_t_test(d, *parts)
    swapped, same = compute_corrected_t_test([-x for x in d], *parts)
    assert (swapped, same) == (-t, p)
    scaled, p_scaled = compute_corrected_t_test([unit * x for x in d], *parts)
    assert scaled == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert p_scaled == pytest.approx(p, rel=1e-5, abs=1e-12)


@given(differences, sizes)
def test_the_correction_only_raises_p(d, parts):
    uncorrected = stats.ttest_1samp(d, 0.0).pvalue
    assert compute_corrected_t_test(d, *parts)[1] >= uncorrected - 1e-12


def test_differences_that_are_all_the_same():
    assert compute_corrected_t_test([0.0, 0.0, 0.0], 80, 20) == (0.0, 1.0)
    assert compute_corrected_t_test([1.5, 1.5], 80, 20) == (math.inf, 0.0)
    assert compute_corrected_t_test([-1.5, -1.5], 80, 20) == (-math.inf, 0.0)


def test_splits_are_paired_by_their_numbers():
    run = run_of({("d", "a"): {0: 9.0, 1: 12.0, 3: 10.0, 7: 50.0}, ("d", "b"): {3: 6.0, 1: 12.0, 0: 7.0}})
    comparison = compare_pair(run, "d", "a", "b")
    assert (comparison.splits, comparison.difference) == (3, 2.0)
    assert (comparison.t, comparison.p) == compute_corrected_t_test([2.0, 0.0, 4.0], 80, 20)
    assert find_best_learner(run, "d") == "b"
    assert compare_with_best(run, "d") == [comparison]
    assert compare_with_best(run, "d", "a")[0].difference == -2.0


def test_where_the_test_does_not_apply():
    two = {("d", "a"): {0: 1.0, 1: 2.0}, ("d", "b"): {0: 2.0, 1: 5.0}}
    cases = [
        (run_of({place: {0: v[0]} for place, v in two.items()}), "one split has no variance"),
        (run_of(two, (100, 0), "train_01_loss", "all"), "all samples train"),
        (run_of(two, metric="train_error"), "the test is for test errors, and this is train_error"),
    ]
    for run, reason in cases:
        comparison = compare_pair(run, "d", "a", "b")
        assert comparison.p is None
        assert comparison.t is None
        assert reason in comparison.reason
        assert comparison.difference < 0
    assert compare_pair(run_of({("d", "a"): {0: 1.0}, ("d", "b"): {1: 1.0}}), "d", "a", "b") is None


# -- across data sets -----------------------------------------------------------------------------------


def test_the_worked_example_of_demsar():
    ranks = compute_average_ranks(means_of(DEMSAR, VARIANTS))
    assert ranks.learners == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert ranks.ranks == pytest.approx([1.964, 2.000, 2.893, 3.143], abs=5e-4)
    assert len(ranks.datasets) == 14
    assert ranks.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert compute_critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=5e-3)  # his q is 2.291 there
    assert ranks.groups == [(0, 3)]  # 3.143 - 1.964 < 1.25
    # At 0.10 he finds C4.5 worse than C4.5+m and C4.5+m+cf, but not than C4.5+cf.
    assert compute_average_ranks(means_of(DEMSAR, VARIANTS), 0.10).groups == [(0, 2), (2, 3)]


def test_friedman_as_demsar_has_it_but_for_ties():
    """His chi^2 is 9.28 from average ranks alone; ties make ranks vary less and divide it by less than 1."""
    table = np.array(DEMSAR)
    n, k = table.shape
    plain = 12 * n / (k * (k + 1)) * (np.sum(table.mean(axis=0) ** 2) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)
    ties = 3 * (2**3 - 2) + (4**3 - 4)  # three pairs, and one data set where all four are equal
    expected = stats.chi2.sf(plain / (1 - ties / (n * k * (k * k - 1))), k - 1)
    assert compute_average_ranks(means_of(DEMSAR, VARIANTS)).friedman_p == pytest.approx(expected)


@pytest.mark.parametrize(
    ("learners", "q"),
    list(enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], start=2)),
)
def test_nemenyi_by_the_published_critical_values(learners, q):
    """Demšar's Table 5 (a)."""
    expected = q * math.sqrt(learners * (learners + 1) / (6 * 20))
    assert compute_critical_difference(learners, 20, 0.05) == pytest.approx(expected, rel=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=2, max_size=12))
def test_ranks_are_a_permutation_of_their_sum_and_groups_are_all_maximal_ones(rows):
    ranks = compute_average_ranks(means_of(rows, ["a", "b", "c", "d"]))
    assert sum(ranks.ranks) == pytest.approx(10.0)
    assert ranks.ranks == sorted(ranks.ranks)
    assert 0.0 <= ranks.friedman_p <= 1.0
    near = [
        (i, j)
        for i, j in itertools.combinations(range(4), 2)
        if ranks.ranks[j] - ranks.ranks[i] < ranks.critical_difference
    ]
    largest = [(i, j) for i, j in near if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in near)]
    assert ranks.groups == largest


def test_equal_learners_are_nowhere_nan():
    run = means_of([[1.0, 1.0, 1.0]] * 3, ["a", "b", "c"])
    ranks = compute_average_ranks(run)
    assert (ranks.ranks, ranks.friedman_p, ranks.groups) == ([2.0, 2.0, 2.0], 1.0, [(0, 2)])
    assert [(x.p, x.holm, x.ties) for x in compare_by_signed_ranks(run)[1]] == [(1.0, 1.0, 3)] * 3


def test_only_data_sets_that_all_learners_have_are_ranked():
    run = means_of([[1, 2, 3], [1, 3, 2], [2, 1, 3]], ["a", "b", "c"])
    del run.cells["d1", "b"]
    assert compute_average_ranks(run).datasets == [["d0"], ["d2"]]
    assert compare_by_signed_ranks(run)[0] == [["d0"], ["d2"]]


def test_what_cannot_be_ranked_is_one_sentence():
    for run, part in [
        (means_of([[1, 2], [2, 1]], ["a", "b"]), "fewer than three learners"),
        (means_of([[1, 2, 3]], ["a", "b", "c"]), "fewer than two distinct data sets"),
        (means_of([[1], [2]], ["a"]), "one learner only"),
        (run_of({("d", x): {0: 1.0} for x in "abc"}, metric="fit_time"), "shows fit_time"),
    ]:
        with pytest.raises(ResultsError, match=part):
            compute_average_ranks(run)


def brute_force_p(d):
    """By trying every pattern of signs on the ranks of what is not zero."""
    d = [x for x in d if x]
    ranks = stats.rankdata(np.abs(d))
    plus = sum(r for r, x in zip(ranks, d, strict=True) if x > 0)
    extreme = min(plus, sum(ranks) - plus)
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s)
        for signs in itertools.product([0, 1], repeat=len(d))
    ]
    return min(1.0, 2 * sum(s <= extreme for s in sums) / len(sums))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any))
def test_signed_ranks_with_ties_and_zeros_by_brute_force(d):
    assert compute_signed_rank_p(d) == pytest.approx(brute_force_p(d), rel=1e-12)


@pytest.mark.parametrize("n", [3, 5, 8, 12])
def test_signed_ranks_without_ties_by_brute_force(n):
    d = np.random.default_rng(n).normal(0.3, 1.0, n)
    assert compute_signed_rank_p(d) == pytest.approx(brute_force_p(d), rel=1e-12)


@pytest.mark.parametrize(("n", "p"), [(1, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125)])
def test_the_least_p_that_few_data_sets_can_give(n, p):
    assert compute_signed_rank_p([float(i + 1) for i in range(n)]) == compute_least_signed_rank_p(n) == p


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_closed_testing_with_bonferroni(p_values):
    """A p is corrected to the largest Bonferroni p of all sets of hypotheses that it is among."""
    places = range(len(p_values))
    subsets = [s for size in places for s in itertools.combinations(places, size + 1)]
    bonferroni = {s: min(1.0, len(s) * min(p_values[i] for i in s)) for s in subsets}
    expected = [max(p for s, p in bonferroni.items() if i in s) for i in places]
    assert correct_by_holm(p_values) == pytest.approx(expected, rel=1e-12)


def test_pairs_with_one_learner_are_corrected_for_those_only():
    run = means_of(np.random.default_rng(0).normal(size=(7, 4)).round(3).tolist(), list("abcd"))
    every, some = compare_by_signed_ranks(run)[1], compare_by_signed_ranks(run, "b")[1]
    assert [(x.first, x.second) for x in some] == [("a", "b"), ("b", "c"), ("b", "d")]
    plain = {(x.first, x.second): x.p for x in every}
    assert [x.p for x in some] == [plain[x.first, x.second] for x in some]
    assert [x.holm for x in some] == correct_by_holm([x.p for x in some])
    assert all(x.wins + x.ties + x.losses == 7 for x in every)
