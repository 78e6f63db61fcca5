"""Complexity contributions: the thesis's theorem and remarks, sums that add up, and other libraries."""

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from zoloss_cli.complexity import outliers
from zoloss_cli.complexity.contribution import (
    average_contributions,
    compute_leave_one_out,
    solve_least_squares,
    sum_paths,
)
from zoloss_cli.complexity.decomposition import categorize_contributions, compute_mean_growth
from zoloss_cli.complexity.hard_margin import build_problem, compute_path_complexities, fit_hard_margin_svm
from zoloss_cli.complexity.outliers import CrossValidatedScore, MultiplierScore, compute_neighbour_scores
from zoloss_cli.data.dataset import generate
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.numeric import PERMUTED, draw_epoch
from zoloss_cli.metrics.scores import compute_auc, compute_roc_curve


def random_problem(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    return build_problem(rng.standard_normal((n, 2)), y)


def the_orders(seed, n, count):
    """The permutations that `sum_paths` takes."""
    counter, order = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0], np.arange(n)
    found = []
    for _ in range(count):
        counter = draw_epoch(PERMUTED, order, np.uint64(counter), np.empty(0, np.uint64), np.empty(0, np.int32))
        found.append(order.copy())
    return found


def equations(problem, orders, s1, s2):
    """(1.10) in full: the matrix P and the differences Delta, row by row."""
    P, delta = [], []
    for order in orders:
        counts = compute_path_complexities(problem, order)
        for m in range(s1 + 1, s2 + 1):
            row = np.zeros(len(problem))
            row[order[s1:m]] = 1.0
            P.append(row)
            delta.append(counts[m] - counts[s1])
    return np.array(P), np.array(delta, dtype=float)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(5, 12), st.data())
def test_sums_are_those_of_the_equations(seed, n, data):
    s1 = data.draw(st.integers(0, n - 2))
    s2 = data.draw(st.integers(s1 + 1, n))
    problem, count = random_problem(seed, n), 40
    groups = np.arange(n) % 2
    sums = sum_paths(problem, seed, count, s1, s2, groups)
    orders = the_orders(seed, n, count)
    P, delta = equations(problem, orders, s1, s2)
    half = sums.products[:-1]
    np.testing.assert_array_equal(half + half.T - np.diag(np.diag(half)), P.T @ P)
    np.testing.assert_array_equal(sums.products[-1], P.T @ delta)
    np.testing.assert_allclose(solve_least_squares(sums), np.linalg.lstsq(P, delta, rcond=None)[0], atol=1e-6)
    growth = [np.diff(compute_path_complexities(problem, order)) for order in orders]
    for size, mean in enumerate(compute_mean_growth(*sums.by_size[1].T)):
        grown = [each[size] for each, order in zip(growth, orders, strict=True) if groups[order[size]] == 1]
        assert mean == pytest.approx(np.mean(grown)) if grown else np.isnan(mean)


def test_theorem_1_6():
    """With the covariance Sigma_1 within each path, the best linear unbiased estimator is the average."""
    problem, s1, s2, count = random_problem(7, 9), 2, 8, 30
    orders = the_orders(5, 9, count)
    P, delta = equations(problem, orders, s1, s2)
    steps = np.arange(1, s2 - s1 + 1)
    inverse = np.linalg.inv(block_diag(*[np.minimum.outer(steps, steps)] * count))
    best = np.linalg.solve(P.T @ inverse @ P, P.T @ inverse @ delta)
    np.testing.assert_allclose(average_contributions(sum_paths(problem, 5, count, s1, s2)), best, atol=1e-9)
    assert not np.allclose(best, solve_least_squares(sum_paths(problem, 5, count, s1, s2)), atol=0.05)


def test_the_average_over_all_permutations_is_the_shapley_value():
    n, problem = 6, random_problem(3, 6)
    value = {
        rows: len(fit_hard_margin_svm(problem, np.array(rows, dtype=int)).support)
        for k in range(n + 1)
        for rows in combinations(range(n), k)
    }
    shapley = np.zeros(n)
    for i in range(n):
        for k in range(n):
            for rows in combinations([j for j in range(n) if j != i], k):
                shapley[i] += (value[tuple(sorted((*rows, i)))] - value[rows]) / comb(n - 1, k) / n
    mean = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        mean[list(order)] += np.diff(compute_path_complexities(problem, order)) / len(orders)
    np.testing.assert_allclose(mean, shapley, atol=1e-12)
    assert shapley.sum() == pytest.approx(value[tuple(range(n))])
    np.testing.assert_allclose(average_contributions(sum_paths(problem, 0, 20000)), shapley, atol=0.05)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 25))
def test_leave_one_out_is_the_difference_of_two_solves(seed, n):
    problem = random_problem(seed, n)
    rows = np.arange(n)
    whole = len(fit_hard_margin_svm(problem).support)
    without = [len(fit_hard_margin_svm(problem, np.delete(rows, i)).support) for i in rows]
    assert compute_leave_one_out(problem).tolist() == [whole - c for c in without]


def test_categories():
    found = categorize_contributions([0.1, 0.7, 1.0, 1.2, 2.0 / 3.0])
    assert found.tolist() == ["typical", "critical", "critical", "noisy", "critical"]


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 60), st.booleans())
def test_the_area_is_that_of_scikit_learn(seed, n, ties):
    rng = np.random.default_rng(seed)
    noisy = rng.random(n) < 0.4
    noisy[:2] = [True, False]
    scores = rng.integers(0, 5, n).astype(float) if ties else rng.standard_normal(n)
    assert compute_auc(scores, noisy) == pytest.approx(roc_auc_score(noisy, scores))
    false_positive, false_negative = compute_roc_curve(scores, noisy)
    for threshold in scores:
        called = scores >= threshold
        point = (np.mean(called[~noisy]), np.mean(~called[noisy]))
        assert np.any(np.isclose(false_positive, point[0]) & np.isclose(false_negative, point[1]))
    assert (false_positive[0], false_negative[0], false_positive[-1], false_negative[-1]) == (0, 1, 1, 0)


def test_other_outlier_scores():
    pool, noisy = generate("yinyang", 1, size=150), np.arange(150) >= 135
    problem = build_problem(pool.X, np.where(noisy, 1 - pool.y, pool.y))
    _, near = NearestNeighbors(n_neighbors=11).fit(pool.X).kneighbors(pool.X)
    theirs = np.mean(problem.y[near[:, 1:]] != problem.y[:, None], axis=1)
    np.testing.assert_allclose(compute_neighbour_scores(problem), theirs)
    alpha = MultiplierScore().compute_scores(problem)
    assert np.count_nonzero(alpha) == len(fit_hard_margin_svm(problem).support)
    assert alpha @ problem.y == pytest.approx(0.0, abs=1e-8 * alpha.sum())
    held_out = CrossValidatedScore(folds=150).compute_scores(problem)  # every sample alone
    fit = fit_hard_margin_svm(problem, np.arange(1, 150))
    score = problem.K[0, fit.support] @ fit.coefficients + fit.bias
    assert held_out[0] == pytest.approx(-problem.y[0] * score)
    in_folds = CrossValidatedScore(random_state=0).compute_scores(problem)
    for sign in (theirs, alpha, held_out, in_folds, compute_leave_one_out(problem)):
        assert compute_auc(sign, noisy) > 0.75


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 39), st.integers(1, 500))
def test_of_equally_near_neighbours_the_first_rows_count(seed, n, k, block):
    """On a grid, where ties are many; from a kernel matrix, and in blocks of rows of any height."""
    X = np.unique(np.random.default_rng(seed).integers(0, 5, (n, 2)).astype(float), axis=0)
    y = np.random.default_rng(seed).random(len(X)) < 0.5
    n, k = len(X), min(k, len(X) - 1)
    if k < 1:
        return
    expected = []
    for i in range(n):
        by_distance = sorted((j for j in range(n) if j != i), key=lambda j, i=i: (np.hypot(*(X[i] - X[j])), j))
        expected.append(np.mean([y[j] != y[i] for j in by_distance[:k]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outliers, "DISTANCES_PER_BLOCK", block)
        reports = []
        shares = outliers.compute_neighbour_scores_in_blocks(X, y, k, lambda *done: reports.append(done))
    assert shares.tolist() == expected
    assert reports[-1] == (n, n)
    assert compute_neighbour_scores(build_problem(X, y), k).tolist() == expected


def test_invalid_arguments_are_refused_in_one_sentence():
    p = random_problem(0, 12)
    for call, message in (
        (lambda: sum_paths(p, 0, 1, 5, 4), "0 <= s1 < s2 <= 12"),
        (lambda: sum_paths(p, 0, 0), "at least 1 permutation"),
        (lambda: sum_paths(p, 0, 1) + sum_paths(p, 0, 1, 6), "same sizes"),
        (lambda: solve_least_squares(sum_paths(p, 0, 5, equations=False)), "lack the equations"),
        (lambda: sum_paths(p, 0, 1, groups=[0, 1]), "groups must be 12 numbers"),
        (lambda: compute_neighbour_scores(p, 12), "1 to 11 neighbours"),
        (lambda: outliers.compute_neighbour_scores_in_blocks(p.K, p.y, 12), "1 to 11 neighbours"),
        (lambda: CrossValidatedScore(folds=13).compute_scores(p), "2 to 12 folds"),
        (lambda: compute_roc_curve(np.zeros(3), [True] * 3), "both noisy and noiseless"),
        (lambda: compute_auc([np.nan, 1.0], [True, False]), "no score may be NaN"),
    ):
        with pytest.raises(ConfigError, match=message) as refused:
            call()
        assert "\n" not in str(refused.value)
