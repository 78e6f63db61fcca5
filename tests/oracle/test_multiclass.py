"""AdaBoost.ECC and AdaBoost.ERP of Li's thesis, chapter 4, against the printed algorithms and brute force."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import several
from scipy.optimize import minimize
from twins import largest_cut, python_erp, sorted_stump

from zoloss_cli.kernels.codes import find_max_cut
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.multiclass.codes import PARTITIONS
from zoloss_cli.learners.multiclass.ecc import AdaBoostECCClassifier, AdaBoostERPClassifier


def stump_of(X, signs, D):
    feature, threshold, direction, _ = sorted_stump(X, signs * D)
    return lambda rows: np.where(rows[:, feature] >= threshold, direction, -direction)


@pytest.mark.parametrize(
    ("boosted", "start", "schedule"),
    [
        (AdaBoostECCClassifier("stump", rounds=25), "max-cut", "L"),
        (AdaBoostERPClassifier("stump", "max-2", "LR", rounds=25), "max-2", "LR"),
        (
            AdaBoostERPClassifier("stump", "max-2-random-sign", "LR", rounds=25, random_state=0),
            *("max-2-random-sign", "LR"),
        ),
        (AdaBoostERPClassifier("stump", "max-2", "LRL", rounds=25), "max-2", "LRL"),
        (AdaBoostERPClassifier("stump", "max-2", "LRLR", rounds=25), "max-2", "LRLR"),
        (AdaBoostERPClassifier("stump", "max-cut", "LRL", rounds=25), "max-cut", "LRL"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_every_round_is_that_of_the_printed_algorithm(boosted, start, schedule):
    X, y = several(1, 90, 4)  # where a classifier comes twice, mu is 0 and rounding decides: not here
    boosted.fit(X, y)
    rng = np.random.default_rng(0)
    theirs = python_erp(X, y, 4, stump_of, lambda e: PARTITIONS[start](e, rng).astype(int), schedule, 25)
    assert boosted.n_rounds_ == len(theirs) == 25
    columns, functions, cuts, errors, alphas, costs = zip(*theirs, strict=True)
    np.testing.assert_array_equal(boosted.coding_matrix_.T, columns)
    np.testing.assert_allclose(boosted.cuts_, cuts, rtol=1e-9)
    np.testing.assert_allclose(boosted.estimator_errors_, errors, rtol=1e-8)
    np.testing.assert_allclose(boosted.estimator_weights_, alphas, rtol=1e-8)
    np.testing.assert_allclose(boosted.costs_, costs, rtol=1e-8)
    distances = sum(
        a / 2 * (1 - np.outer(f(X), column)) for f, a, column in zip(functions, alphas, columns, strict=True)
    )
    np.testing.assert_allclose(-boosted.decision_function(X), distances, rtol=1e-9)
    np.testing.assert_array_equal(boosted.predict(X), np.argmin(distances, axis=1))


LARGEST = 0.5 * np.log(1000.0)  # coefficient of an output that is never wrong


def test_asymmetric_coefficients_minimize_the_cost_over_both():
    """Brute force: the cost (4.2) of the whole ensemble from distances, by a search over both coefficients."""
    X, y = several(1, 90, 4)
    boosted = AdaBoostECCClassifier("stump", rounds=12, symmetric=False).fit(X, y)
    assert boosted.estimator_weights_.shape == (12, 2)
    distances = np.zeros((90, 4))
    plain = AdaBoostECCClassifier("stump", rounds=1).fit(X, y)
    assert boosted.costs_[0] <= plain.costs_[0]
    for t, (column, f) in enumerate(zip(boosted.coding_matrix_.T, boosted.estimators_, strict=True)):
        outputs = np.where(f.decision_function(X) >= 0.0, 1, -1)

        def cost_of(alphas, distances=distances, column=column, outputs=outputs):
            alpha = np.where(outputs > 0, alphas[1], alphas[0])[:, None]
            new = distances + alpha * (1 - np.outer(outputs, column)) / 2
            rho = new - new[np.arange(90), y][:, None]
            return (np.exp(-rho).sum() - 90) / (90 * 3), new

        found = minimize(
            lambda alphas, cost_of=cost_of: cost_of(alphas)[0],
            np.zeros(2),
            method="Nelder-Mead",
            bounds=[(-LARGEST, LARGEST)] * 2,
            tol=1e-10,
        )
        np.testing.assert_allclose(boosted.estimator_weights_[t], found.x, atol=1e-4)
        cost, distances = cost_of(boosted.estimator_weights_[t])
        np.testing.assert_allclose([boosted.costs_[t], found.fun], cost, rtol=1e-7)
    np.testing.assert_allclose(-boosted.decision_function(X), distances, rtol=1e-9)


def test_asymmetric_outputs_that_are_never_wrong_or_never_there():
    boosted = AdaBoostECCClassifier("stump", rounds=1, symmetric=False)
    boosted.fit([[0.0], [1.0]], [0, 1])  # each output is right
    np.testing.assert_allclose(boosted.estimator_weights_, 0.5 * np.log([[1000.0, 1000.0]]))
    boosted.fit([[0.0], [0.0], [0.0]], [0, 0, 1])  # one output only, right in two of three
    np.testing.assert_allclose(np.sort(boosted.estimator_weights_[0]), [0.0, 0.5 * np.log(2.0)])


@pytest.mark.parametrize("base", ["stump", "fld"])
@pytest.mark.parametrize("partition", ["max-cut", "greedy", "rand-half"])
def test_two_classes_are_adaboost(noisy, base, partition):
    X, y = noisy
    ours = AdaBoostECCClassifier(base, partition, rounds=20, random_state=0).fit(X, y)
    plain = AdaBoostClassifier(base, rounds=20).fit(X, y)
    assert ours.n_rounds_ == plain.n_rounds_ >= 3
    np.testing.assert_allclose(ours.estimator_weights_, plain.estimator_weights_, rtol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), plain.decision_function(X), atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_the_exact_cut_is_the_largest(seed, K):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 4, (K, K)) if seed % 2 else rng.exponential(size=(K, K))
    edges = np.triu(edges, 1).astype(float)
    edges = edges + edges.T
    column = find_max_cut(edges)
    assert set(column) <= {-1, 1}
    cut = edges[np.ix_(column < 0, column > 0)].sum()
    assert cut == pytest.approx(largest_cut(edges))
    greedy = PARTITIONS["greedy"](edges, rng)
    assert edges.sum() / 4 - 1e-9 <= cut
    assert edges[np.ix_(greedy < 0, greedy > 0)].sum() <= cut + 1e-9


@pytest.mark.parametrize("K", [2, 5, 6])
def test_how_columns_are_chosen(K):
    rng = np.random.default_rng(0)
    edges = np.ones((K, K)) - np.eye(K)
    for _ in range(10):
        assert abs(PARTITIONS["rand-half"](edges, rng).sum()) == K % 2
        pair = PARTITIONS["rand-2"](edges, rng)
        assert sorted(pair[pair != 0]) == [-1, 1]
        assert set(PARTITIONS["greedy"](edges, rng)) == {-1, 1}
    edges[0, K - 1] = edges[K - 1, 0] = 2.0
    assert list(np.flatnonzero(PARTITIONS["max-2"](edges, rng))) == [0, K - 1]
    drawn = [tuple(PARTITIONS["max-2-random-sign"](edges, rng)) for _ in range(400)]
    assert set(drawn) == {(1, *[0] * (K - 2), -1), (-1, *[0] * (K - 2), 1)}
    assert abs(drawn.count(drawn[0]) - 200) < 50  # five standard deviations


@pytest.mark.parametrize("schedule", ["LRL", "LRLR"])
def test_a_sign_changes_nothing_where_learning_is_repeated(schedule):
    X, y = several(2, 90, 4)
    fixed = AdaBoostERPClassifier("stump", "max-2", schedule, rounds=25).fit(X, y)
    drawn = AdaBoostERPClassifier("stump", "max-2-random-sign", schedule, rounds=25, random_state=0).fit(X, y)
    flipped = np.any(drawn.coding_matrix_ != fixed.coding_matrix_, axis=0)
    assert 0 < flipped.sum() < 25
    signs = np.where(flipped, -1, 1)
    np.testing.assert_array_equal(drawn.coding_matrix_, signs * fixed.coding_matrix_)
    np.testing.assert_allclose(drawn.estimator_weights_, fixed.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(drawn.predict(X), fixed.predict(X))
    assert fixed.deterministic
    assert not drawn.deterministic


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6), st.sampled_from(["LRL", "LRLRLR", "LR"]))
def test_costs_fall_and_are_those_of_the_margins(seed, K, schedule):
    """C = sum over n and k != y_n of exp(-rho_k) by (4.1) and (4.2), from the final distances."""
    X, y = several(seed, 70, K, discrete=bool(seed % 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        boosted = AdaBoostERPClassifier("stump", "rand-2", schedule, rounds=30, random_state=seed).fit(X, y)
    if boosted.n_rounds_ == 0:
        return
    distances = -boosted.decision_function(X) if K > 2 else None
    rho = distances - distances[np.arange(len(y)), y][:, None]
    rho[np.arange(len(y)), y] = np.inf
    assert boosted.costs_[-1] == pytest.approx(np.exp(-rho).sum() / (len(y) * (K - 1)), rel=1e-6)
    assert np.all(np.diff(boosted.costs_) <= 1e-12)
    # The chosen alpha minimizes the cost: each round multiplies what it cuts by 2 sqrt(e (1 - e)).
    inexact = boosted.estimator_errors_ > 0.0
    before = np.concatenate([[1.0], boosted.costs_[:-1]])
    factor = 1 - boosted.cuts_ * (1 - 2 * np.sqrt(boosted.estimator_errors_ * (1 - boosted.estimator_errors_)))
    np.testing.assert_allclose((before * factor)[inexact], boosted.costs_[inexact], rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_repartitioning_never_lowers_the_negative_gradient(seed, K):
    """U (1 - 2e) after LR, LRL, LRLR, ... of the first round: the stump minimizes the weighted error."""
    X, y = several(seed, 60, K, discrete=bool(seed % 2))
    gradients = []
    for steps in range(2, 8):
        boosted = AdaBoostERPClassifier("stump", "max-2", ("LR" * 4)[:steps], rounds=1).fit(X, y)
        if boosted.n_rounds_:
            gradients.append(boosted.cuts_[0] * (1 - 2 * boosted.estimator_errors_[0]))
    assert np.all(np.diff(gradients) >= -1e-9)


def test_many_rounds_without_error_stay_finite():
    """Three classes that stumps separate: the cost falls by 1000 again and again, and below all numbers."""
    X, y = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.repeat([0, 1, 2], 4)
    for boosted in (
        AdaBoostECCClassifier("stump", rounds=900),
        AdaBoostERPClassifier("stump", "rand-2", "LRLR", rounds=900, random_state=0),
    ):
        boosted.fit(X, y)
        for values in (boosted.costs_, boosted.cuts_, boosted.estimator_weights_, boosted.decision_function(X)):
            assert np.all(np.isfinite(values))
        np.testing.assert_array_equal(boosted.predict(X), y)
