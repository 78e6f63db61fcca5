"""Effect sizes against other definitions of the same, and the sentences about statistics against the tests."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from built_runs import build_run
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from zoloss_cli.report.cells import build_column_titles
from zoloss_cli.report.statistics import (
    compare_by_signed_ranks,
    compare_pair,
    compare_with_best,
    compute_average_ranks,
    compute_paired_d,
    compute_rank_biserial,
    name_effect,
)
from zoloss_cli.report.statistics_text import describe_statistics

numbers = st.integers(-400, 400).map(lambda x: x / 16)
differences = st.lists(numbers, min_size=2, max_size=30).filter(lambda d: max(d) > min(d))


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


def test_the_words_are_cohens():
    assert [name_effect(d) for d in (0.1, -0.2, 0.5, -0.8)] == ["negligible", "small", "medium", "large"]


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
    text, ranks = describe_statistics(run, 0.05), compute_average_ranks(run)
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
    assert f"{significant} of {len(tested)} differences to the data set's best learner" in text
    assert "does not show that learners are equal" in text


def test_the_paragraph_does_not_claim_what_was_not_found():
    text = describe_statistics(build_values(dict.fromkeys(SHIFTS, 0.0), 8), 0.01)
    assert "Friedman's test does not reject at 0.01" in text
    assert "ranks give no ground to prefer a learner" in text
    assert "is significantly better" not in text
    assert re.search(r"no two differ at 0.01|nothing can differ at 0.01", text)
    few = describe_statistics(build_values(SHIFTS, 3), 0.05)
    assert "nothing can differ at 0.05: 3 data sets give no corrected p below 1.000" in few


def test_against_one_learner_only_its_pairs_count():
    run = build_values(SHIFTS)
    text = describe_statistics(run, 0.05, "svm")
    assert "correction for 3 pairs" in text
    assert "differences to SVM in 12 rows" in text
    assert compare_pair(run, "d0", "fld", "svm").effect < -0.8
