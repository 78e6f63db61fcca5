"""The authors' combinatorial search against a plain loop over the words of its description."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import strict_errors, whole
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.combinatorial import (
    WORST,
    RefitScorer,
    descend_by_first_swaps,
    enumerate_combinations,
)
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import build_merged_samples
from zoloss_cli.registry import make_learner


def search_plainly(table, n, size, pool, most):
    """Score combinations of the first samples, then swaps; return what was scored, in order, and the end."""
    visited = []

    def score(members):
        visited.append(tuple(members))
        loss, total = table[frozenset(members)]
        return loss, -abs(total)  # the larger |sum of labels| at equal losses

    best, least = tuple(range(size)), (np.inf, np.inf)
    for members in list(combinations(range(pool), size))[:most]:
        found = score(members)
        if found < least:
            best, least = members, found
    improved = True
    while improved:
        improved = False
        for place in range(size):
            for new in range(n):
                if improved or new in best:
                    continue
                tried = (*best[:place], new, *best[place + 1 :])
                found = score(tried)
                if found < least:
                    best, least, improved = tried, found, True
    return visited, best, least


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(0, 4), st.integers(1, 60))
def test_the_first_swap_that_helps_is_made_and_the_search_starts_over(seed, size, extra, most):
    rng = np.random.default_rng(seed)
    n = 9
    table = {
        frozenset(members): (float(rng.integers(0, 6)), int(rng.integers(-3, 4)))
        for members in combinations(range(n), size)
    }
    visited = []

    def score(members):
        visited.append(tuple(members))
        loss, total = table[frozenset(members)]
        return loss, -abs(total)

    found = enumerate_combinations(score, lambda: False, range(size + extra), size, most)
    best, least = descend_by_first_swaps(score, lambda: False, *found, list(range(n)))
    assert (visited, tuple(best), least) == search_plainly(table, n, size, size + extra, most)


def test_a_search_that_has_to_stop_keeps_the_swap_it_has_just_made():
    losses = {frozenset({0}): 5.0, frozenset({1}): 4.0, frozenset({2}): 3.0}
    found = descend_by_first_swaps(
        lambda c: (losses[frozenset(c)], 0.0), lambda: True, [0], (5.0, 0.0), [0, 1, 2]
    )
    assert found == ([1], (4.0, 0.0))


@pytest.mark.parametrize("name", ["liver", "heart"])
def test_a_score_is_that_of_the_better_of_two_refits(name):
    X, y = whole(name)
    signs, rows = np.where(y == 1, 1.0, -1.0), np.column_stack([np.ones(len(y)), X])
    problem = Problem(rows, signs, np.full(len(y), 1 / len(y)), np.random.default_rng(0))
    samples = build_merged_samples(problem)
    search = SearchProgress("refit")
    scorer = RefitScorer(problem, samples, search)
    rng = np.random.default_rng(1)
    losses = []
    for _ in range(5):
        chosen = rng.choice(len(samples.Y), samples.Y.shape[1] - 1, replace=False)
        loss, balance = scorer.score(chosen)
        labels = np.sign(rows @ (np.linalg.svd(samples.Y[chosen])[2][-1] @ samples.axes))
        labels[labels == 0] = 1.0
        wrong = []
        for refit in (
            LinearSVC(C=1.0, dual=False, fit_intercept=False, tol=1e-9, max_iter=10_000),
            LogisticRegression(C=1.0, fit_intercept=False, tol=1e-9, max_iter=10_000),
        ):
            margins = signs * refit.fit(rows, labels).decision_function(rows)
            wrong += [np.sum(margins <= 0), np.sum(margins >= 0)]
        # LIBLINEAR stops at a tolerance of 1e-4, which turns single samples next to the hyperplane; the samples
        # on the hyperplane itself have the labels of rounding.
        assert loss == pytest.approx(min(wrong), abs=3)
        assert -balance == pytest.approx(abs(labels.sum()), abs=2 * len(chosen))
        losses.append(loss)
    assert search.loss == min(losses) < len(y) / 2
    assert scorer.score([3] * (rows.shape[1] - 1)) == WORST  # samples that fix no hyperplane


@pytest.mark.parametrize("name", ["pcs", "csa"])
def test_the_authors_variant_refits(name):
    X, y = whole("liver")
    learner = make_learner(name, {"variant": "refit", "lines": 40, "time_limit": 3.0}, 0).fit(X, y)
    assert learner.training_errors_ == strict_errors(learner, X, y) <= 99  # where the SVM starts
