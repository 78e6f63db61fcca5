"""What is proved of perceptrons: exact margins, bounds that hold, and how seldom the stopping rule is wrong."""

import math

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_runs import find_reference_run
from scipy.optimize import linprog
from scipy.stats import binom

from zoloss_cli import MarginBoundClassifier, MistakeBoundClassifier, StoppingRuleClassifier
from zoloss_cli.data.dataset import generate
from zoloss_cli.data.generators import nested
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


@settings(max_examples=25)
@given(separable_sets)
def test_the_largest_margin_is_that_of_a_quadratic_program(problem):
    X, signs = problem
    w = find_widest_separator(X, signs)
    u = cvxpy.Variable(X.shape[1])
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(u)), [cvxpy.multiply(signs, X @ u) >= 1]).solve()
    assert np.linalg.norm(w) == pytest.approx(1.0)
    assert compute_margin(X, signs, w) == pytest.approx(1 / np.linalg.norm(u.value), rel=1e-4)


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


@given(separable_sets)
def test_no_more_mistakes_than_theorem_one_allows(problem):
    X, signs = problem
    found = bounds.count_mistakes(X, signs, 100_000)
    assert found.counted <= found.bound * ROUNDING
    assert np.all(signs * (X @ found.weights) > 0)  # it ends with a separator
    assert found.rounds <= found.bound + 1
    # Any separator gives a bound; the widest gives the least.
    assert found.bound <= bounds.compute_mistake_bound(X, signs, found.weights) * ROUNDING


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


def test_unit_vectors_of_one_label_are_the_tight_case():
    k = 10
    for signs in (np.ones(k), -np.ones(k)):
        found = bounds.count_mistakes(np.eye(k), signs, 10)
        assert (found.counted, found.rounds) == (k, 2)
        assert found.bound == pytest.approx(k)
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


def test_the_stopping_rule_is_wrong_as_seldom_as_it_says():
    """Errors are exact: the distribution is uniform on the training rows."""
    epsilon, delta, runs, failures, errors = 0.05, 0.3, 100, 0, []
    for seed in range(runs):
        pool = generate("separable", seed, size=300, dimensions=5, margin=0.02)
        learner = StoppingRuleClassifier(epsilon, delta, epochs=2000, intercept=False, random_state=seed)
        error = 1 - learner.fit(pool.X, pool.y).score(pool.X, pool.y)
        failures += error > epsilon
        errors.append(error)
        assert learner.counted_ <= learner.bound_
    assert failures <= binom.ppf(0.999, runs, delta)
    assert max(errors) > 0  # it does stop before it knows everything


def build_nested(size: int) -> tuple[np.ndarray, np.ndarray]:
    pool = nested(np.random.default_rng(size), size)
    return pool.X, np.where(pool.y == 1, 1.0, -1.0)


@pytest.mark.parametrize("size", [3, 11])
def test_the_least_weights_with_functional_margin_1_grow_like_fibonacci_numbers(size):
    """A linear program, which knows nothing of Fibonacci, finds the least largest weight."""
    X, signs = build_nested(size)
    rows = np.hstack([-(signs[:, None] * X), np.zeros((size, 1))])
    limits = np.vstack([
        np.hstack([np.eye(size), -np.ones((size, 1))]),
        np.hstack([-np.eye(size), -np.ones((size, 1))]),
    ])  # fmt: skip
    found = linprog(
        np.eye(size + 1)[-1],
        A_ub=np.vstack([rows, limits]),
        b_ub=np.concatenate([-np.ones(size), np.zeros(2 * size)]),
        bounds=[(None, None)] * (size + 1),
    )
    fibonacci = [1, 2]
    while len(fibonacci) < size:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert found.fun == pytest.approx(fibonacci[size - 1])


def test_the_margin_falls_and_mistakes_grow_exponentially_within_their_bound():
    margins, counts = [], []
    for size in (4, 6, 8):
        X, signs = build_nested(size)
        margins.append(compute_margin(X, signs, find_widest_separator(X, signs)))
        found = bounds.count_mistakes(X, signs, 10_000)
        assert found.counted <= found.bound
        counts.append(found.counted)
    assert np.all(np.array(margins[1:]) / margins[:-1] < 0.5)
    assert np.all(np.array(counts[1:]) / counts[:-1] > 5.0)


def test_no_bound_is_broken_in_the_reference_run():
    """The committed run of configs/perceptron/bounds.yaml, of a thousand random sets."""
    run = find_reference_run("perceptron-bounds")
    assert (run.n_done, run.n_failed) == (run.n_tasks, 0)
    assert len(run.datasets) * run.experiment.split.repeats >= 1000
    for place, cell in run.cells.items():
        assert max(cell["bound_ratio"]) <= 1.0, place
    for theorem in ("mistake-bound", "inseparable-bound"):  # the tight case is exact
        assert set(run.cells["axes", theorem].get_counts("counted")) == {30.0}
        assert set(run.cells["axes", theorem].get_counts("bound")) == {30.0}
    (rule,) = (spec.parameters for spec in run.experiment.learners if spec.label == "stopping-rule")
    cells = [cell for (_, learner), cell in run.cells.items() if learner == "stopping-rule"]
    errors = [error for cell in cells for error in cell["train_error"]]
    failures = sum(error > 100 * rule["epsilon"] for error in errors)
    assert failures <= binom.ppf(0.999, len(errors), rule["delta"])
    assert max(errors) > 0
