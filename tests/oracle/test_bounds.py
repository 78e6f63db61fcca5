"""What is proved of perceptrons: exact margins, bounds that hold, and how seldom the stopping rule is wrong."""

from __future__ import annotations

import math

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from zoloss_cli import MarginBoundClassifier, MistakeBoundClassifier, StoppingRuleClassifier
from zoloss_cli.data.dataset import generate
from zoloss_cli.learners import mistake_bounds as bounds
from zoloss_cli.learners.mistake_bounds import (
    compute_margin,
    compute_radius,
    find_best_comparison,
    find_widest_separator,
)

ROUNDING = 1 + 1e-9
SEEDS = st.integers(0, 2**32 - 1)


def random_set(seed, n, m, margin, flipped=0.0):
    pool = generate("separable", seed, size=n, dimensions=m, margin=margin, flipped=flipped)
    # Examples of different lengths: none is further from the plane for it, so the margin is still there.
    lengths = np.random.default_rng(seed).uniform(1.0, 3.0, (n, 1))
    return pool.X * lengths, np.where(pool.y == 1, 1.0, -1.0)


separable_sets = st.builds(random_set, SEEDS, st.integers(2, 60), st.integers(2, 12), st.floats(0.005, 0.9))
any_sets = st.builds(
    random_set, SEEDS, st.integers(2, 60), st.integers(2, 12), st.floats(0.005, 0.9), st.floats(0, 0.45)
)


def perceptron_of_the_notes(X, signs, rounds, at_zero):
    """(mistakes, weights): predicts `at_zero` where w x = 0, which is +1 in 003 and -1 in 004."""
    w, mistakes = np.zeros(X.shape[1]), 0
    for _ in range(rounds):
        before = mistakes
        for x, y in zip(X, signs, strict=True):
            score = w @ x
            if (at_zero if score == 0.0 else np.sign(score)) != y:
                w, mistakes = w + y * x, mistakes + 1
        if mistakes == before:
            break
    return mistakes, w


# -- margins ------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(separable_sets)
def test_the_largest_margin_is_that_of_a_quadratic_program(problem):
    X, signs = problem
    w = find_widest_separator(X, signs)
    u = cvxpy.Variable(X.shape[1])
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(u)), [cvxpy.multiply(signs, X @ u) >= 1]).solve()
    assert np.linalg.norm(w) == pytest.approx(1.0)
    assert compute_margin(X, signs, w) == pytest.approx(1 / np.linalg.norm(u.value), rel=1e-4)


def test_the_largest_margin_in_the_plane_by_trying_all_directions():
    angles = np.linspace(0, 2 * np.pi, 4_001)
    for seed in range(10):
        X, signs = random_set(seed, 8, 2, 0.2)
        tried = max(compute_margin(X, signs, np.array([np.cos(a), np.sin(a)])) for a in angles)
        found = compute_margin(X, signs, find_widest_separator(X, signs))
        assert tried <= found * ROUNDING
        assert found == pytest.approx(tried, rel=0.01)


def test_nothing_separates_opposite_labels_or_zeros():
    for X in ([[1.0, 2.0], [1.0, 2.0]], [[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]):
        assert find_widest_separator(np.array(X), np.array([1.0, -1.0])) is None


@settings(max_examples=20)
@given(any_sets, st.integers(1, 12))
def test_the_best_comparison_is_that_of_a_quadratic_program(problem, rounds):
    X, signs = problem
    ours = bounds.compute_inseparable_bound(X, signs, *find_best_comparison(X, signs, rounds), rounds)
    u = cvxpy.Variable(X.shape[1])
    short = cvxpy.pos(1 - cvxpy.multiply(signs, X @ u))
    least = compute_radius(X) ** 2 * cvxpy.sum_squares(u) + 2 * rounds * cvxpy.sum(short)
    assert ours == pytest.approx(cvxpy.Problem(cvxpy.Minimize(least)).solve(), rel=1e-3)


# -- no bound is broken -------------------------------------------------------------------------------


@given(separable_sets)
def test_no_more_mistakes_than_theorem_one_allows(problem):
    X, signs = problem
    found = bounds.count_mistakes(X, signs, 100_000)
    assert found.counted <= found.bound * ROUNDING
    assert np.all(signs * (X @ found.weights) > 0)  # it ends with a separator
    assert found.rounds <= found.bound + 1
    # Any separator gives a bound; the widest gives the least.
    assert found.bound <= bounds.compute_mistake_bound(X, signs, found.weights) * ROUNDING


@settings(max_examples=30)
@given(separable_sets)
def test_the_notes_own_ties_keep_the_bounds_too(problem):
    X, signs = problem
    X = np.round(X, 1)  # so that w x = 0 happens
    widest = find_widest_separator(X, signs)
    for at_zero in (1.0, -1.0):
        mistakes, _ = perceptron_of_the_notes(X, signs, 30, at_zero)
        if widest is not None:
            assert mistakes <= bounds.compute_mistake_bound(X, signs, widest) * ROUNDING
        if compute_radius(X):
            comparison = find_best_comparison(X, signs, 30)
            assert mistakes <= bounds.compute_inseparable_bound(X, signs, *comparison, 30) * ROUNDING


@given(separable_sets, st.floats(0.05, 1.0))
def test_no_more_margin_mistakes_than_theorem_two_allows(problem, epsilon):
    X, signs = problem
    found = bounds.count_margin_mistakes(X, signs, 100_000, epsilon)
    assert found.counted <= found.bound * ROUNDING
    gamma = compute_margin(X, signs, find_widest_separator(X, signs))
    assert compute_margin(X, signs, found.weights) >= (1 - epsilon) * gamma / ROUNDING
    half = bounds.compute_margin_mistake_bound(X, signs, find_widest_separator(X, signs))
    assert half == pytest.approx(8 * (compute_radius(X) / gamma) ** 2 + 4 * compute_radius(X) / gamma)


@given(any_sets, st.integers(1, 15), SEEDS, st.floats(0.001, 10.0))
def test_no_more_mistakes_than_any_comparison_allows(problem, rounds, seed, share):
    X, signs = problem
    found = bounds.count_inseparable_mistakes(X, signs, rounds)
    assert found.counted <= found.bound * ROUNDING
    for w in (*np.random.default_rng(seed).standard_normal((5, X.shape[1])), found.weights, signs @ X):
        if w.any():
            other = bounds.compute_inseparable_bound(X, signs, w, share * compute_radius(X), found.rounds)
            assert found.counted <= other * ROUNDING
            assert found.bound <= other * (1 + 1e-6)  # the best is the best


def test_distances_count_in_every_round():
    """A set that nothing separates: the mistakes grow with the rounds, so a bound that does not must break."""
    X, signs = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    mistakes = [bounds.count_inseparable_mistakes(X, signs, rounds).counted for rounds in (1, 10, 100)]
    assert mistakes[2] > 50 * mistakes[0]
    once = bounds.compute_inseparable_bound(X, signs, *find_best_comparison(X, signs, 1), 1)
    assert mistakes[2] > once


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_unit_vectors_of_one_label_are_the_tight_case(k):
    for signs in (np.ones(k), -np.ones(k)):
        found = bounds.count_mistakes(np.eye(k), signs, 10)
        assert (found.counted, found.rounds) == (k, 2)
        assert found.bound == pytest.approx(k)
    # 004 predicts -1 at 0, so it errs on each of the positive ones; 003 predicts +1, and errs on none.
    assert perceptron_of_the_notes(np.eye(k), np.ones(k), 5, -1.0)[0] == k
    assert perceptron_of_the_notes(np.eye(k), np.ones(k), 5, 1.0)[0] == 0
    pool = generate("axes", 5, size=k)
    learner = MistakeBoundClassifier(intercept=False).fit(pool.X, pool.y)
    assert learner.counted_ == k
    assert learner.bound_ == pytest.approx(k)


def test_learners_give_rows_a_constant_unless_told_otherwise():
    """1 and 3 on a line: separable with a threshold only."""
    X, y = np.array([[1.0], [3.0]]), [0, 1]
    assert MistakeBoundClassifier(intercept=False, epochs=9).fit(X, y).bound_ == math.inf
    with_threshold = MistakeBoundClassifier().fit(X, y)
    rows, signs = np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([-1.0, 1.0])
    assert with_threshold.bound_ == pytest.approx(
        10 / compute_margin(rows, signs, find_widest_separator(rows, signs)) ** 2
    )
    assert with_threshold.score(X, y) == 1.0
    wide = MarginBoundClassifier(epsilon=0.25).fit(X, y)
    assert wide.counted_ <= wide.bound_


# -- when to stop -------------------------------------------------------------------------------------


def test_the_run_of_right_answers_is_by_the_natural_logarithm():
    assert bounds.compute_required_streak(100.0, 0.1, 0.05) == math.ceil(10 * math.log(2000))
    assert bounds.compute_sample_size(100.0, 0.1, 0.05) == 100 * 77
    # A hypothesis that is wrong a little more often than epsilon passes with a chance below delta/M.
    for M, epsilon, delta in [(1.0, 0.5, 0.5), (30.0, 0.2, 0.1), (1e4, 0.01, 1e-3)]:
        n = bounds.compute_required_streak(M, epsilon, delta)
        assert (1 - epsilon) ** n <= delta / M
    assert (1 - 0.01) ** math.ceil(math.log10(1e7) / 0.01) > 1e-7  # by the base 10 they are too few


def test_the_rule_as_it_is_written():
    """Plain Python: after so many right answers in a row it stops; each mistake starts the count anew."""
    rng = np.random.default_rng(3)
    for seed in range(30):
        X, signs = random_set(seed, 40, 4, 0.05)
        M = bounds.compute_mistake_bound(X, signs, find_widest_separator(X, signs))
        order = rng.integers(0, 40, int(bounds.compute_sample_size(M, 0.2, 0.3)))
        needed, w, right, seen = bounds.compute_required_streak(M, 0.2, 0.3), np.zeros(4), 0, 0
        for k in order:
            if right == needed:
                break
            seen += 1
            right += 1
            if signs[k] * (w @ X[k]) <= 0:
                w, right = w + signs[k] * X[k], 0
        found = bounds.count_until_trusted(X, signs, order, M, 0.2, 0.3)
        assert found.counted == seen <= found.bound
        np.testing.assert_allclose(found.weights, w)


def test_after_all_mistakes_that_there_can_be_the_last_hypothesis_needs_no_test():
    X, signs = np.eye(3), np.ones(3)
    found = bounds.count_until_trusted(X, signs, np.array([0, 0, 1, 2, 0, 1]), 3.0 - 1e-12, 0.9, 0.9)
    assert bounds.compute_required_streak(3.0, 0.9, 0.9) == 2
    assert (found.counted, found.weights.tolist()) == (4, [1.0, 1.0, 1.0])


@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 0.3), (0.2, 0.1), (0.02, 0.5)])
def test_the_stopping_rule_is_wrong_as_seldom_as_it_says(epsilon, delta):
    """Errors are exact: the distribution is uniform on the training rows."""
    runs, failures, errors = 200, 0, []
    for seed in range(runs):
        pool = generate("separable", seed, size=300, dimensions=5, margin=0.02)
        learner = StoppingRuleClassifier(epsilon, delta, epochs=2000, intercept=False, random_state=seed)
        error = 1 - learner.fit(pool.X, pool.y).score(pool.X, pool.y)
        failures += error > epsilon
        errors.append(error)
        assert learner.counted_ <= learner.bound_
    assert failures <= binom.ppf(0.999, runs, delta)
    assert max(errors) > 0  # it does stop before it knows everything
