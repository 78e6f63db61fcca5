"""AdaBoost against a plain implementation, another library, its error bound, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from twins import numpy_rcd, python_adaboost

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import SplitRule, scale_parts
from zoloss_cli.errors import ConfigError
from zoloss_cli.kernels.line_search import to_fixed_point
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.boosting.stumps import DecisionStumpClassifier
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


def signed(X, y):
    return np.column_stack([np.ones(len(y)), X]), np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_round_is_that_of_the_plain_implementation(noisy, weighted):
    """Sample weights, errors and alphas of each round, with the same learner drawing the same numbers."""
    X, y = noisy
    rows, signs = signed(X, y)
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
    total = sum(a * np.where(rows @ w >= 0, 1, -1) for w, _, _, a in theirs)
    np.testing.assert_allclose(ours.decision_function(X), total, atol=1e-9)


def test_a_round_learns_what_the_numpy_kernel_learns(noisy):
    X, y = noisy
    rows, signs = signed(X, y)
    rng = np.random.default_rng(11)

    def learn(rows, signs, phi):
        D = rng.uniform(-1, 1, (4, 5, 5)).reshape(20, 5)
        return numpy_rcd(rows, signs, to_fixed_point(phi), np.zeros(5), D)

    theirs = python_adaboost(rows, signs, np.ones(len(y)), learn, 6)
    base = {"learner": "rcd-plain", "epochs": 20}
    ours = AdaBoostClassifier(base, rounds=6, random_state=11).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, [a for *_, a in theirs], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, [e for _, _, e, _ in theirs], rtol=1e-9)


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


@settings(max_examples=60, deadline=None)
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


def test_staged_predictions_end_in_the_prediction(noisy):
    X, y = noisy
    boosted = AdaBoostClassifier({"learner": "rcd-bias", "epochs": 30}, rounds=10, random_state=0).fit(X, y)
    stages = list(boosted.staged_predict(X))
    assert len(stages) == boosted.n_rounds_ == 10
    np.testing.assert_array_equal(stages[-1], boosted.predict(X))
    np.testing.assert_array_equal(stages[0], boosted.estimators_[0].predict(X))
    *_, last = boosted.staged_decision_function(X)
    np.testing.assert_array_equal(last, boosted.decision_function(X))


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


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("seeding", ["zero", "fld"])
def test_online_learners_can_be_boosted_either_way(noisy, weighting, seeding):
    X, y = noisy
    base = {"learner": "ave-perc", "epochs": 20, "weighting": weighting, "seeding": seeding}
    boosted = AdaBoostClassifier(base, rounds=20, random_state=0).fit(X, y)
    assert boosted.n_rounds_ >= 1
    assert boosted.estimators_[0].weighting == weighting
    assert np.mean(boosted.predict(X) != y) < 0.25


def test_ensembles_can_be_boosted_too(noisy):
    X, y = noisy
    inner = {"learner": "adaboost", "rounds": 3, "base": "stump"}
    boosted = AdaBoostClassifier(inner, rounds=10).fit(X, y)
    assert np.mean(boosted.predict(X) != y) < np.mean(
        AdaBoostClassifier("stump", rounds=3).fit(X, y).predict(X) != y
    )


def test_the_given_base_learner_is_left_untouched(noisy):
    X, y = noisy
    base = RCDClassifier("bias", 20)
    AdaBoostClassifier(base, rounds=3, random_state=0).fit(X, y)
    assert not hasattr(base, "coef_")


# -- bad input ----------------------------------------------------------------------------------------


def test_a_base_without_sample_weights_is_refused(noisy):
    with pytest.raises(ValueError, match="base learner romma takes no sample weights"):
        AdaBoostClassifier("romma").fit(*noisy)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"rounds": 0}, "AdaBoostClassifier: rounds=0"),
        ({"perfect_odds": 1.0}, "AdaBoostClassifier: perfect_odds=1.0"),
        ({"base": 7}, "AdaBoostClassifier: base=7: .*learner's name"),
        ({"base": {"epochs": 3}}, "AdaBoostClassifier: base="),
        ({"base": {"learner": "rcd-bias", "epochs": 0}}, "RCDClassifier: epochs=0"),
    ],
)
def test_bad_settings_are_named(noisy, settings_, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(**settings_).fit(*noisy)


def test_an_unknown_base_suggests_the_nearest_name(noisy):
    with pytest.raises(ConfigError, match="unknown learner 'rcd-bais'; did you mean 'rcd-bias'"):
        AdaBoostClassifier("rcd-bais").fit(*noisy)
    with pytest.raises(ConfigError, match="'rcd-bias' has no parameter 'epoch'; did you mean 'epochs'"):
        AdaBoostClassifier({"learner": "rcd-bias", "epoch": 3}).fit(*noisy)


@pytest.mark.parametrize("round_", [1, 3])
@pytest.mark.parametrize(
    ("error", "kind"), [(FloatingPointError("too long"), RuntimeError), (ValueError("too wide"), ValueError)]
)
def test_a_failing_round_names_the_learner_and_the_round(noisy, round_, error, kind):
    base = Watched(RCDClassifier("bias", 5), {"round": round_, "error": error})
    with pytest.raises(kind, match=f"base learner Watched failed in round {round_}: {error}"):
        AdaBoostClassifier(base, random_state=0).fit(*noisy)


@pytest.mark.parametrize(("split", "C"), [(97, 8.0), (309, 32.0)])
def test_hard_problems_late_in_boosting_are_solved(split, C):
    """Rounds 185 and 180 of these runs give weights on which a predictor-corrector method runs in a circle."""
    data = load_data(EmbeddedData(name="sonar", dataset="sonar"))
    train, test = SplitRule(0.8, None, 2007).select_indices(len(data.y), "sonar", split)
    X, _ = scale_parts(data.X[train], data.X[test], "minmax")
    boosted = AdaBoostClassifier({"learner": "soft-svm", "C": [C]}, rounds=200, random_state=0).fit(
        X, data.y[train]
    )
    assert boosted.n_rounds_ == 200
    assert np.all(boosted.predict(X) == data.y[train])
