"""Tests of differences and effect sizes against examples, other definitions and brute force."""

import itertools
import math
import re

import numpy as np
import pytest
from built_runs import build_run
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from zoloss_cli.errors import ResultsError
from zoloss_cli.report.runs import RunResult, build_column_titles
from zoloss_cli.report.statistics import (
    compare_by_signed_ranks,
    compare_pair,
    compare_with_best,
    compute_average_ranks,
    compute_corrected_t_test,
    compute_critical_difference,
    compute_least_signed_rank_p,
    compute_paired_d,
    compute_rank_biserial,
    compute_signed_rank_p,
    correct_by_holm,
    find_best_learner,
    find_settings,
)
from zoloss_cli.report.statistics_text import StatisticsReport, build_rank_grid, render_statistics

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


numbers = st.integers(-400, 400).map(lambda x: x / 16)
differences = st.lists(numbers, min_size=2, max_size=30).filter(lambda d: max(d) > min(d))
sizes = st.tuples(st.integers(2, 500), st.integers(1, 500))


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


def test_nemenyi_by_the_published_critical_values():
    """Demšar's Table 5 (a)."""
    published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for learners, q in enumerate(published, start=2):
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


def test_learners_exactly_the_critical_difference_apart_differ(monkeypatch):
    monkeypatch.setattr("zoloss_cli.report.statistics.compute_critical_difference", lambda *_: 1.0)
    run = means_of([[1, 2, 3]] * 3, ["a", "b", "c"])
    assert compute_average_ranks(run).groups == []
    rows = [row.split(",") for row in render_statistics([run], "csv", 0.05).splitlines()]
    assert [row[10] for row in rows if row[1] == "nemenyi"] == ["1", "1", "1"]


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


def test_ranks_at_a_setting_are_those_of_its_rows_on_the_splits_that_all_learners_have():
    """At 10 epochs the order is a, b, c on both data sets, and at 20 epochs the reverse; split 9 only c has."""
    values = {}
    for data, (epochs, order) in itertools.product(("one", "look at two"), ((10, "abc"), (20, "cba"))):
        values |= {(f"{data} at {epochs} epochs", x): {0: i, 1: i + 2.0} for i, x in enumerate(order)}
        values[f"{data} at {epochs} epochs", "c"][9] = -100.0
    run = run_of(values)
    assert find_settings(run) == {
        f"{n} epochs": [f"one at {n} epochs", f"look at two at {n} epochs"] for n in (10, 20)
    }
    for names, order in zip(find_settings(run).values(), ("abc", "cba"), strict=True):
        found = compute_average_ranks(run, names=names)
        assert (found.learners, found.ranks, found.datasets) == (
            [*order],
            [1.0, 2.0, 3.0],
            [[d] for d in names],
        )
    lines = build_rank_grid(run, 0.05).lines
    assert [line[:5] for line in lines] == [
        ["test_error at 10 epochs", "2", "1.00 ", "2.00 ", "3.00 "],
        ["test_error at 20 epochs", "2", "3.00 ", "2.00 ", "1.00 "],
    ]
    assert find_settings(run_of(values | {("three", "a"): {0: 1.0}})) == {}
    (line,) = build_rank_grid(means_of(DEMSAR, VARIANTS), 0.05).lines
    assert [*line[:6], line[7]] == ["test_error", "14", "3.14 ", "2.00 ", "2.89 ", "1.96 ", "1.25"]
    (line,) = build_rank_grid(means_of([[1, 2, 3]] * 6, ["a", "b", "c"]), 0.05).lines
    assert line[2:5] == ["1.00 ", "2.00 ", "3.00*"]  # 2 apart, and the critical difference is 1.35


def test_what_cannot_be_ranked_is_one_sentence():
    for run, part in [
        (means_of([[1, 2], [2, 1]], ["a", "b"]), "fewer than three learners"),
        (means_of([[1, 2, 3]], ["a", "b", "c"]), "fewer than two distinct data sets"),
        (means_of([[1], [2]], ["a"]), "only one learner"),
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


@given(differences)
def test_d_is_students_t_without_the_number_of_splits(d):
    t = stats.ttest_1samp(d, 0.0).statistic
    assert compute_paired_d(d) == pytest.approx(t / math.sqrt(len(d)), abs=1e-12)
    assert compute_paired_d(d * 50) == pytest.approx(compute_paired_d(d), rel=0.5)  # t is seven times as large


def test_d_of_differences_that_are_all_the_same():
    assert compute_paired_d([0.0, 0.0]) == 0.0
    assert compute_paired_d([-2.0, -2.0]) == -math.inf


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=12))
def test_the_rank_biserial_correlation_is_wins_minus_losses_among_walsh_averages(d):
    """Ranks of one sign count the pairs, each with itself too, whose sum has that sign: W+ without ties."""
    r = compute_rank_biserial(d)
    assert -1.0 <= r <= 1.0
    assert compute_rank_biserial([-x for x in d]) == -r
    left = [x for x in d if x]
    if len({abs(x) for x in left}) == len(left) > 0:
        sums = [a + b for a, b in itertools.combinations_with_replacement(left, 2)]
        plus, minus = sum(s > 0 for s in sums), sum(s < 0 for s in sums)
        assert r == pytest.approx((plus - minus) / (plus + minus))


def build_values(shifts: dict[str, float], n_datasets: int = 12, seed: int = 0):
    """Learners whose errors differ by known amounts, on data sets of random difficulty."""
    rng = np.random.default_rng(seed)
    cells = {}
    for i in range(n_datasets):
        difficulty = rng.uniform(5, 30)
        for learner, shift in shifts.items():
            cells[f"d{i}", learner] = {"test_error": (difficulty + shift + rng.normal(0, 0.5, 10)).tolist()}
    return build_run(cells, sizes=(80, 20), split={"repeats": 10})


SHIFTS = {"fld": 0.0, "pocket": 0.05, "svm": 4.0, "ccd": 6.0}


def test_the_paragraph_says_what_the_tests_find():
    run = build_values(SHIFTS)
    text, ranks = StatisticsReport(run, 0.05).describe(), compute_average_ranks(run)
    assert "4 learners are compared by their means of test error on 12 data sets" in text
    assert ranks.friedman_p < 0.05
    assert "Friedman's test rejects at 0.05 that all are equal (p <0.001)." in text
    titles = build_column_titles(run.learners)
    best = titles[ranks.learners[0]]
    assert (
        f"{ranks.critical_difference:.2f} or more apart: {best} is significantly better than SVM and CCD"
        in text
    )
    named = {(a, b) for a, b in re.findall(r"(\S+) is better than (\S+) \(p", text)}
    expected = set()
    for pair in compare_by_signed_ranks(run)[1]:
        if pair.holm <= 0.05:
            better, worse = (pair.first, pair.second) if pair.wins > pair.losses else (pair.second, pair.first)
            expected.add((titles[better], titles[worse]))
    assert named == expected
    tested = [c for d in run.datasets for c in compare_with_best(run, d)]
    significant = sum(c.p <= 0.05 for c in tested)
    assert f"{significant} of {len(tested)} differences from the data set's best learner" in text
    assert "does not show that learners are equal" in text


def test_the_paragraph_does_not_claim_what_was_not_found():
    text = StatisticsReport(build_values(dict.fromkeys(SHIFTS, 0.0), 8), 0.01).describe()
    assert "Friedman's test does not reject at 0.01" in text
    assert "ranks give no reason to prefer a learner" in text
    assert "is significantly better" not in text
    assert re.search(r"no two differ at 0.01|no difference can be significant at 0.01", text)
    few = StatisticsReport(build_values(SHIFTS, 3), 0.05).describe()
    assert "no difference can be significant at 0.05: 3 data sets give no corrected p below 1.000" in few
