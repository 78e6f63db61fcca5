"""AdaBoost and stumps against plain implementations, another library and the error bound."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import several, signs_of
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from twins import python_adaboost, sorted_stump

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import SplitRule, scale_parts
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.stumps import find_best_stump, group_values
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.boosting.stumps import BoostedStumpsClassifier, DecisionStumpClassifier
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.rcd import RCDClassifier


class Watched(LinearLearner):
    """Passes on to another learner, remembers the sample weights of every round, and fails in one of them."""

    def __init__(self, inner: Any = None, fails_in: Any = None):
        self.inner = inner
        self.fails_in = fails_in
        self.seen = []

    random_state = None

    def learn(self, problem, start):
        self.seen.append(problem.phi.copy())
        if len(self.seen) == (self.fails_in or {}).get("round"):
            raise self.fails_in["error"]
        return self.inner.learn(problem, start)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_round_is_that_of_the_plain_implementation(noisy, weighted):
    """Sample weights, errors and alphas of each round, with the same learner drawing the same numbers."""
    X, y = noisy
    rows, signs = signs_of(X, y)
    phi = np.random.default_rng(3).exponential(size=len(y)) if weighted else np.ones(len(y))
    watched = Watched(RCDClassifier("plain", 40))
    ours = AdaBoostClassifier(watched, rounds=30, random_state=5).fit(X, y, sample_weight=phi)
    replayed = iter([np.concatenate([e.intercept_, e.coef_[0]]) for e in ours.estimators_])
    theirs = python_adaboost(rows, signs, phi, lambda *_: next(replayed), ours.n_rounds_)
    assert ours.n_rounds_ == len(theirs) == 30
    for seen, (_, plain_phi, _, _) in zip(watched.seen, theirs, strict=True):
        np.testing.assert_allclose(seen, plain_phi, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(ours.estimator_errors_, [e for _, _, e, _ in theirs], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, [a for _, _, _, a in theirs], rtol=1e-9)
    total = np.cumsum([a * np.where(rows @ w >= 0, 1, -1) for w, _, _, a in theirs], axis=0)
    np.testing.assert_allclose(list(ours.staged_decision_function(X)), total, atol=1e-9)
    np.testing.assert_array_equal(list(ours.staged_predict(X))[-1], ours.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), total[-1], atol=1e-9)
    assert not hasattr(watched, "coef_")  # rounds fit copies of it


@pytest.mark.parametrize("base", [DecisionStumpClassifier(), FLDClassifier()], ids=["stump", "fld"])
def test_the_loop_agrees_with_scikit_learns(noisy, base):
    """Another library's AdaBoost over the same deterministic learners; its weights are twice ours."""
    X, y = noisy
    ours = AdaBoostClassifier(base, rounds=25).fit(X, y)
    theirs = SklearnAdaBoost(base, n_estimators=25).fit(X, y)
    assert ours.n_rounds_ == len(theirs.estimators_) >= 3
    t = ours.n_rounds_  # the other's arrays are as long as the rounds it was allowed
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:t], rtol=1e-8)
    np.testing.assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_[:t], rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@settings(max_examples=30)
@given(
    st.integers(0, 10**6), st.integers(8, 60), st.integers(1, 4), st.sampled_from(["stump", "fld", "rcd-bias"])
)
def test_the_exponential_bound_holds_in_every_round(seed, n, m, base):
    """Training error after t rounds <= sum phi exp(-y f) = prod 2 sqrt(e (1 - e)) (Freund & Schapire 1997)."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, m)), 1)  # rounded, so that ties and equal rows occur
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    phi = rng.exponential(size=n)
    phi /= phi.sum()
    settings_ = {"learner": base} | ({"epochs": 10} if base == "rcd-bias" else {})
    boosted = AdaBoostClassifier(settings_, rounds=15, random_state=seed).fit(X, y, sample_weight=phi)
    signs = np.where(y == 1, 1.0, -1.0)
    bound = 1.0
    perfect = False
    for t, scores in enumerate(boosted.staged_decision_function(X)):
        e = boosted.estimator_errors_[t]
        perfect = perfect or e == 0.0
        bound *= 2.0 * np.sqrt(e * (1.0 - e))
        loss = np.sum(phi * np.exp(-signs * scores))
        assert np.sum(phi[signs * scores <= 0]) <= loss + 1e-12
        if not perfect:  # the odds of a perfect round are a convention, not the bound's
            assert loss == pytest.approx(bound, rel=1e-8)
            assert np.sum(phi[signs * scores <= 0]) <= bound + 1e-12


def test_no_error_takes_odds_1000_and_goes_on():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    boosted = AdaBoostClassifier("stump", rounds=7).fit(X, y)
    assert boosted.n_rounds_ == 7
    np.testing.assert_allclose(boosted.estimator_weights_, 0.5 * np.log(1000.0))
    assert list(boosted.estimator_errors_) == [0.0] * 7


def test_an_error_of_one_half_ends_the_run_without_that_round():
    """XOR: no stump and no perceptron is better than 1/2 once both answers weigh the same."""
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(UserWarning, match="stump has a weighted error of 0.500 in round 1"):
        empty = AdaBoostClassifier("stump").fit(X, y)
    assert empty.n_rounds_ == 0
    np.testing.assert_array_equal(empty.decision_function(X), np.zeros(4))
    np.testing.assert_array_equal(empty.predict(X), np.ones(4))
    uneven = AdaBoostClassifier("stump", rounds=50).fit(X, y, sample_weight=[4, 1, 1, 1])
    assert 1 <= uneven.n_rounds_ < 50


def test_online_learners_and_ensembles_can_be_boosted(noisy):
    X, y = noisy
    base = {"learner": "ave-perc", "epochs": 20, "weighting": "resample", "seeding": "fld"}
    boosted = AdaBoostClassifier(base, rounds=20, random_state=0).fit(X, y)
    assert boosted.estimators_[0].weighting == "resample"
    assert np.mean(boosted.predict(X) != y) < 0.25
    inner = {"learner": "adaboost", "rounds": 3, "base": "stump"}
    boosted = AdaBoostClassifier(inner, rounds=10).fit(X, y)
    assert np.mean(boosted.predict(X) != y) < np.mean(
        AdaBoostClassifier("stump", rounds=3).fit(X, y).predict(X) != y
    )


def test_bad_settings_are_named(noisy):
    for settings_, kind, message in (
        ({"base": "romma"}, ValueError, "base learner romma takes no sample weights"),
        ({"rounds": 0}, ValueError, "AdaBoostClassifier: rounds=0"),
        ({"perfect_odds": 1.0}, ValueError, "AdaBoostClassifier: perfect_odds=1.0"),
        ({"base": 7}, ValueError, "AdaBoostClassifier: base=7: .*learner's name"),
        ({"base": {"epochs": 3}}, ValueError, "AdaBoostClassifier: base="),
        ({"base": {"learner": "rcd-bias", "epochs": 0}}, ValueError, "RCDClassifier: epochs=0"),
        ({"base": "rcd-bais"}, ConfigError, "unknown learner 'rcd-bais'; did you mean 'rcd-bias'"),
        (
            {"base": {"learner": "rcd-bias", "epoch": 3}},
            ConfigError,
            "no parameter 'epoch'; did you mean 'epochs'",
        ),
    ):
        with pytest.raises(kind, match=message):
            AdaBoostClassifier(**settings_).fit(*noisy)


def test_a_failing_round_names_the_learner_and_the_round(noisy):
    for error, kind in ((FloatingPointError("too long"), RuntimeError), (ValueError("too wide"), ValueError)):
        base = Watched(RCDClassifier("bias", 5), {"round": 3, "error": error})
        with pytest.raises(kind, match=f"base learner Watched failed in round 3: {error}"):
            AdaBoostClassifier(base, random_state=0).fit(*noisy)


def test_hard_problems_late_in_boosting_are_solved():
    """Round 185 of this run gives weights on which a predictor-corrector method runs in a circle."""
    data = load_data(EmbeddedData(name="sonar", dataset="sonar"))
    train, test = SplitRule(0.8, None, 2007).select_indices(len(data.y), "sonar", 97)
    X, _ = scale_parts(data.X[train], data.X[test], "minmax")
    boosted = AdaBoostClassifier({"learner": "soft-svm", "C": [8.0]}, rounds=200, random_state=0).fit(
        X, data.y[train]
    )
    assert boosted.n_rounds_ == 200
    assert np.all(boosted.predict(X) == data.y[train])


@settings(max_examples=80)
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
    cuts = [-np.inf, *(np.unique(X)[:-1] + np.unique(X)[1:]) / 2, np.inf]
    by_brute_force = np.abs([np.where(x >= cut, 1.0, -1.0) @ signed for x in X.T for cut in cuts]).max()
    assert sorted_stump(X, signed)[3] == pytest.approx((1.0 - by_brute_force) / 2.0, abs=1e-9)


def test_points_on_the_threshold_are_on_its_upper_side():
    X, rising, falling = np.array([[0.0], [2.0]]), np.array([0, 1]), np.array([1, 0])
    assert DecisionStumpClassifier().fit(X, rising).predict([[1.0]]) == [1]
    assert DecisionStumpClassifier().fit(X, falling).predict([[1.0]]) == [0]


@pytest.mark.parametrize("discrete", [False, True])
def test_boosted_stumps_are_adaboost_over_stumps(discrete):
    rounds = 50
    for seed in range(3):
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
