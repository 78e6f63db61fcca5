"""Decision stumps and their boosting, against sorting and AdaBoost over stumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import several
from twins import sorted_stump

from zoloss_cli.kernels.stumps import find_best_stump, group_values
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.boosting.stumps import BoostedStumpsClassifier, DecisionStumpClassifier


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 5), st.booleans(), st.booleans())
def test_the_stump_is_that_of_sorting_to_the_last_bit(seed, n, m, discrete, sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, m)).astype(float) if discrete else rng.standard_normal((n, m))
    phi = rng.exponential(size=n) * (rng.random(n) < 0.5 if sparse else 1.0)
    phi[0] += 1e-3
    signed = np.where(rng.random(n) < 0.5, -1.0, 1.0) * phi / phi.sum()
    ids, starts, values = group_values(X)
    assert np.array_equal(values[ids], X)
    assert find_best_stump(ids, starts, values, signed, np.empty(values.size)) == sorted_stump(X, signed)


def test_points_on_the_threshold_are_on_its_upper_side():
    X, rising, falling = np.array([[0.0], [2.0]]), np.array([0, 1]), np.array([1, 0])
    assert DecisionStumpClassifier().fit(X, rising).predict([[1.0]]) == [1]
    assert DecisionStumpClassifier().fit(X, falling).predict([[1.0]]) == [0]


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("rounds", [1, 7, 50])
def test_boosted_stumps_are_adaboost_over_stumps(rounds, discrete):
    for seed in range(8):
        X, y = several(seed, 80, 2, 4, discrete)
        phi = np.random.default_rng(seed).exponential(size=len(y))
        plain = AdaBoostClassifier("stump", rounds=rounds).fit(X, y, sample_weight=phi)
        fast = BoostedStumpsClassifier(rounds=rounds).fit(X, y, sample_weight=phi)
        np.testing.assert_allclose(fast.estimator_weights_, plain.estimator_weights_, rtol=1e-9)
        np.testing.assert_allclose(fast.estimator_errors_, plain.estimator_errors_, atol=1e-12)
        np.testing.assert_array_equal(fast.thresholds_, [h.threshold_ for h in plain.estimators_])
        np.testing.assert_allclose(fast.decision_function(X), plain.decision_function(X), atol=1e-12)


def test_boosted_stumps_without_error_and_without_hope():
    perfect = BoostedStumpsClassifier(rounds=5).fit([[0.0], [1.0]], [0, 1])
    assert perfect.n_rounds_ == 5
    np.testing.assert_allclose(perfect.estimator_weights_, 0.5 * np.log(1000.0))
    xor = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    hopeless = BoostedStumpsClassifier().fit(xor, [0, 0, 1, 1])
    assert hopeless.n_rounds_ == 0
    assert list(hopeless.predict(xor)) == [0, 0, 0, 0]  # votes that add up to 0 are for the first class
