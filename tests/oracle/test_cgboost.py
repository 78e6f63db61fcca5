"""AnyBoost and CGBoost against a plain implementation, AdaBoost, SciPy, finite differences, and bad input."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from twins import numpy_cgboost, numpy_margin_cost

from zoloss_cli.kernels.stumps import (
    MIN_COST,
    MIN_RELATIVE_GAIN,
    compute_cost_and_slope,
    search_line,
    set_sample_weights,
)
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.boosting.anyboost import COST_KINDS, AnyBoostClassifier, CGBoostClassifier

COSTS = [("exponential", 1.0), ("sigmoid", 1.0), ("bisigmoid", 1.05), ("bisigmoid", 2.0), ("logistic", 1.0)]


def problem(seed, n, m):
    """Rounded features, so that ties and equal rows occur, and random labels and weights."""
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.standard_normal((n, m)), 1), rng.integers(0, 2, n)
    y[:2] = [0, 1]
    return X, y, rng.exponential(size=n) + 0.05


def costs_at(cost, kappa, margins):
    """c(m), one margin at a time."""
    margins = np.atleast_1d(np.asarray(margins, dtype=float))
    one, none = np.ones(1), np.zeros(1)
    found = [compute_cost_and_slope(COST_KINDS[cost], kappa, np.array([m]), none, one, 0.0) for m in margins]
    return np.array([level + rest for level, rest, _ in found])


def sample_weights(cost, kappa, margins, phi):
    """(whether there are any, D)"""
    D = np.empty(len(margins))
    return set_sample_weights(COST_KINDS[cost], kappa, margins, phi, D), D


@pytest.mark.parametrize(("cost", "kappa"), COSTS)
def test_costs_slopes_and_weights_are_those_of_the_thesis(cost, kappa):
    m, h = np.linspace(-6, 6, 241), 1e-6
    np.testing.assert_allclose(
        costs_at(cost, kappa, m), numpy_margin_cost(cost, kappa, m), rtol=1e-9, atol=1e-12
    )
    rng = np.random.default_rng(0)
    margins, along, phi = rng.normal(0, 2, 50), rng.normal(0, 1, 50), rng.exponential(size=50)
    any_left, D = sample_weights(cost, kappa, margins, phi)
    expected = phi * -np.subtract(*(numpy_margin_cost(cost, kappa, margins + x) for x in (h, -h)))
    assert any_left
    np.testing.assert_allclose(D, expected / expected.sum(), rtol=1e-4, atol=1e-9)
    for step in (0.0, 0.3, 2.0):
        _, _, slope = compute_cost_and_slope(COST_KINDS[cost], kappa, margins, along, phi, step)
        above, below = (
            np.sum(phi * numpy_margin_cost(cost, kappa, margins + (step + x) * along)) for x in (h, -h)
        )
        assert slope == pytest.approx((above - below) / (2 * h), rel=1e-5)


def test_tails_do_not_underflow_before_their_exponential():
    """1 - tanh(m) is 0 from m = 19 on in double precision; the cost and its weight are not."""
    m = np.array([20.0, 100.0, 300.0])
    np.testing.assert_allclose(costs_at("sigmoid", 1.0, m), 2.0 * expit(-2.0 * m), rtol=1e-12)
    np.testing.assert_allclose(costs_at("logistic", 1.0, m), -log_expit(m), rtol=1e-12)
    _, D = sample_weights("bisigmoid", 1.5, np.array([300.0, 300.0, -450.0]), np.ones(3))
    np.testing.assert_allclose(D, 1 / 3, rtol=1e-9)  # -450 / 1.5 = -300: as flat on either side
    any_left, far = sample_weights("bisigmoid", 1.05, np.full(3, 1e6), np.ones(3))
    assert not any_left
    assert np.all(far == 0.0)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from([("exponential", 1.0), ("logistic", 1.0)]))
@example(4162, 30, ("exponential", 1.0))  # a step of 0.0007 that gains next to nothing
def test_the_line_search_finds_the_minimum_of_convex_costs(seed, n, which):
    (cost, kappa), rng = which, np.random.default_rng(seed)
    margins, along, phi = rng.normal(0, 1, n), rng.normal(0, 1, n), rng.exponential(size=n) + 1e-3
    along[:2] = [1.0, -1.0]  # so that there is a minimum
    phi /= phi.sum()
    _, _, slope = compute_cost_and_slope(COST_KINDS[cost], kappa, margins, along, phi, 0.0)
    if slope > 0.0:
        along = -along

    def total(step):
        return np.sum(phi * numpy_margin_cost(cost, kappa, margins + step * along))

    best = minimize_scalar(total, bounds=(0.0, 60.0), method="bounded", options={"xatol": 1e-10})
    step, found = search_line(COST_KINDS[cost], kappa, margins, along, phi, 1e-8)
    assert found == pytest.approx(total(step), rel=1e-12)
    assert found <= best.fun * (1 + 1e-10)
    rough, at_rough = search_line(COST_KINDS[cost], kappa, margins, along, phi, 0.01)
    assert at_rough < total(0.0)
    # Within 1 %, or where all that is left to gain is not worth a step.
    assert rough == pytest.approx(step, rel=0.011) or at_rough <= found * (1 + 2 * MIN_RELATIVE_GAIN * 0.01**2)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0.1, 30.0), st.floats(1.0, 2.0))
def test_the_line_search_lowers_a_bisigmoid_wherever_it_falls_at_first(seed, n, spread, kappa):
    rng = np.random.default_rng(seed)
    margins, along, phi = rng.normal(0, spread, n), rng.normal(0, 1, n), rng.exponential(size=n) + 1e-3
    kind = COST_KINDS["bisigmoid"]
    level, rest, slope = compute_cost_and_slope(kind, kappa, margins, along, phi, 0.0)
    if slope >= 0.0:
        along, slope = -along, -slope
    step, cost = search_line(kind, kappa, margins, along, phi, 0.01)
    if slope < -1e-100:
        assert step > 0.0
        after, rest_after, _ = compute_cost_and_slope(kind, kappa, margins, along, phi, step)
        assert (after - level) + (rest_after - rest) < 0.0
        assert cost == after + rest_after


def test_a_fall_far_below_the_rounding_of_the_cost_is_seen():
    """One example far on the wrong side, where the cost is 2.05 to all digits, and moving to the right one."""
    kind, margins = COST_KINDS["bisigmoid"], np.array([-60.0])
    before, after = costs_at("bisigmoid", 1.05, [-60.0, -59.5])
    assert before == after
    step, _ = search_line(kind, 1.05, margins, np.ones(1), np.ones(1), 0.01)
    assert step > 0.0


def test_where_the_cost_falls_for_ever_the_search_stops_above_the_smallest_cost():
    step, cost = search_line(COST_KINDS["exponential"], 1.0, np.zeros(5), np.ones(5), np.full(5, 0.2), 0.01)
    assert MIN_COST <= cost < 1e-290
    assert cost == pytest.approx(np.exp(-step), rel=1e-9)


def test_no_step_along_a_line_that_rises():
    step, cost = search_line(COST_KINDS["logistic"], 1.0, np.zeros(3), -np.ones(3), np.full(3, 1 / 3), 0.01)
    assert (step, cost) == (0.0, pytest.approx(np.log(2.0)))


@pytest.mark.parametrize(("cost", "kappa"), [c for c in COSTS if c[0] != "sigmoid"])
@pytest.mark.parametrize("learner", [AnyBoostClassifier, CGBoostClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_round_is_that_of_the_plain_implementation(noisy, learner, cost, kappa, weighted):
    """Given our hypotheses and steps: weights, betas, edges, costs and coefficients of Algorithm 3.2."""
    X, y = noisy
    signs = np.where(y == 1, 1.0, -1.0)
    phi = np.random.default_rng(3).exponential(size=len(y)) if weighted else np.ones(len(y))
    ours = learner("stump", cost, kappa, rounds=40).fit(X, y, sample_weight=phi)
    assert ours.n_rounds_ == 40
    outputs = [np.where(h.decision_function(X) >= 0, 1.0, -1.0) for h in ours.estimators_]
    plain = ours.plain_rounds if learner is CGBoostClassifier else 40
    theirs = numpy_cgboost(outputs, ours.alphas_, signs, phi / phi.sum(), cost, kappa, plain)
    np.testing.assert_allclose(ours.betas_, theirs.betas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.costs_, theirs.costs, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.coefficients, rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.F, rtol=1e-9, atol=1e-9)
    assert min(theirs.edges) > 0.0
    assert (learner is AnyBoostClassifier) == np.all(ours.betas_ == 0.0)
    # Each hypothesis is the best stump for the weights of its round.
    for D, f_t in zip(theirs.D, outputs, strict=True):
        best = AdaBoostClassifier("stump", rounds=1).fit(X, y, sample_weight=D)
        assert np.sum(D * (f_t != signs)) == pytest.approx(best.estimator_errors_[0], abs=1e-9)


@pytest.mark.parametrize("base", ["stump", "fld"])
def test_with_the_exponential_cost_anyboost_is_adaboost(noisy, base):
    X, y = noisy
    phi = np.random.default_rng(3).exponential(size=len(y))
    ada = AdaBoostClassifier(base, rounds=12).fit(X, y, sample_weight=phi)
    exact = AnyBoostClassifier(base, rounds=12, tolerance=1e-10).fit(X, y, sample_weight=phi)
    assert exact.n_rounds_ == ada.n_rounds_ >= 3
    np.testing.assert_allclose(exact.estimator_weights_, ada.estimator_weights_, rtol=1e-6)
    np.testing.assert_allclose(exact.decision_function(X), ada.decision_function(X), atol=1e-6)
    bound = np.cumprod(2 * np.sqrt(ada.estimator_errors_ * (1 - ada.estimator_errors_)))
    np.testing.assert_allclose(exact.costs_, [1.0, *bound], rtol=1e-7)
    rough = AnyBoostClassifier(base, rounds=1).fit(X, y, sample_weight=phi)
    np.testing.assert_allclose(rough.estimator_weights_, ada.estimator_weights_[:1], rtol=0.02)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(6, 60),
    st.integers(1, 4),
    st.sampled_from(COSTS),
    st.sampled_from([AnyBoostClassifier, CGBoostClassifier]),
)
@pytest.mark.filterwarnings("ignore:.*the ensemble is empty")
def test_the_cost_never_rises_and_nothing_is_nan(seed, n, m, which, learner):
    X, y, phi = problem(seed, n, m)
    boosted = learner("stump", *which, rounds=60).fit(X, y, sample_weight=phi)
    assert np.all(np.isfinite(boosted.costs_))
    assert np.all(np.diff(boosted.costs_) <= 0.0)
    assert boosted.costs_.size == boosted.n_rounds_ + 1
    assert np.all(boosted.alphas_ > 0.0)
    assert np.all(boosted.betas_ >= -1e-12)
    assert np.all(boosted.estimator_weights_ >= 0.0)
    assert boosted.ended_
    assert (boosted.n_rounds_ == 60) == (boosted.ended_ == "all rounds were run")
    signs = np.where(y == 1, 1.0, -1.0)
    scores = boosted.decision_function(X)
    cost = np.sum(phi / phi.sum() * numpy_margin_cost(*which, signs * scores))
    assert boosted.costs_[-1] == pytest.approx(cost, rel=1e-6, abs=1e-12)


def test_stages_use_the_coefficients_of_their_size(noisy):
    """All earlier coefficients change every round: a run stopped at size t is the stage t of a longer one."""
    X, y = noisy
    whole = CGBoostClassifier("stump", "bisigmoid", 1.2, rounds=20).fit(X, y)
    stages = list(whole.staged_decision_function(X))
    classes = list(whole.staged_predict(X))
    for size in (1, 4, 9, 20):
        part = CGBoostClassifier("stump", "bisigmoid", 1.2, rounds=size).fit(X, y)
        np.testing.assert_array_equal(part.decision_function(X), stages[size - 1])
        np.testing.assert_array_equal(part.predict(X), classes[size - 1])
        votes = [np.where(h.decision_function(X) >= 0, 1.0, -1.0) for h in part.estimators_]
        np.testing.assert_allclose(part.estimator_weights_ @ votes, stages[size - 1], atol=1e-9)
    nine = CGBoostClassifier("stump", "bisigmoid", 1.2, rounds=9).fit(X, y)
    assert not np.allclose(nine.estimator_weights_, whole.estimator_weights_[:9])


def test_a_perfect_hypothesis_ends_the_run_with_a_cost_of_almost_zero():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    for cost in COST_KINDS:
        boosted = CGBoostClassifier("stump", cost, rounds=30).fit(X, y)
        assert boosted.ended_ == "the cost vanishes"
        assert boosted.n_rounds_ == 1
        assert 0.0 < boosted.costs_[-1] < 1e-200
        np.testing.assert_array_equal(boosted.predict(X), y)


def test_no_direction_at_all_leaves_an_empty_ensemble():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(
        UserWarning, match="with stump, no direction lowers the cost in round 1; the ensemble is empty"
    ):
        empty = CGBoostClassifier("stump", record_every=100).fit(X, y)
    assert (empty.n_rounds_, list(empty.costs_)) == (0, [1.0])
    np.testing.assert_array_equal(empty.decision_function(X), np.zeros(4))
    np.testing.assert_array_equal(empty.recorded_scores(X), np.zeros((3, 4)))


def test_records_are_the_stages(noisy):
    X, y = noisy
    boosted = CGBoostClassifier("stump", rounds=25, record_every=10).fit(X, y)
    assert list(boosted.recorded_epochs_) == [10, 20]
    stages = list(boosted.staged_decision_function(X))
    np.testing.assert_array_equal(boosted.recorded_scores(X), [stages[9], stages[19]])
    np.testing.assert_array_equal(boosted.recorded_costs_, boosted.costs_[[10, 20]])
    plain = CGBoostClassifier("stump", rounds=25).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), boosted.decision_function(X))
    assert not hasattr(plain, "recorded_epochs_")


def test_validation_picks_the_first_size_and_kappa_with_the_fewest_errors(noisy):
    """The rule written out, on the rows that the same seed holds out."""
    X, y = noisy
    kappas = [1.05, 1.5, 1.2]
    ours = CGBoostClassifier("stump", "bisigmoid", kappas, rounds=30, validation=0.25, random_state=4).fit(X, y)
    order = np.random.default_rng(4).permutation(len(y))
    out, kept = np.sort(order[:30]), np.sort(order[30:])
    found = []
    for kappa in kappas:
        run = CGBoostClassifier("stump", "bisigmoid", kappa, rounds=30).fit(X[kept], y[kept])
        for size, classes in enumerate(run.staged_predict(X[out]), 1):
            found.append((int(np.sum(classes != y[out])), kappa, size))
    fewest = min(errors for errors, _, _ in found)
    _, kappa, size = next(entry for entry in found if entry[0] == fewest)
    assert (ours.kappa_, ours.n_rounds_) == (kappa, size)
    again = CGBoostClassifier("stump", "bisigmoid", kappa, rounds=size).fit(X[kept], y[kept])
    np.testing.assert_allclose(ours.decision_function(X), again.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(ours.estimator_weights_, again.estimator_weights_, rtol=1e-12)
    assert ours.costs_.size == size + 1


def test_weights_count_in_the_validation():
    """One heavy row decides which size is the best."""
    rng = np.random.default_rng(8)
    X, y = rng.uniform(-1, 1, (60, 2)), rng.integers(0, 2, 60)
    sizes = set()
    for heavy in range(15):
        phi = np.where(np.arange(60) == heavy, 1e3, 1.0)
        model = AnyBoostClassifier("stump", rounds=40, validation=0.3, random_state=1)
        sizes.add(model.fit(X, y, sample_weight=phi).n_rounds_)
    assert len(sizes) > 2


def test_bad_settings_are_named(noisy):
    for settings_, message in (
        ({"kappa": 0.0}, "kappa=0.0"),
        ({"kappa": []}, "kappa="),
        ({"cost": "hinge"}, "cost='hinge'"),
        ({"validation": 1.0}, "validation=1.0"),
        ({"cost": "bisigmoid", "kappa": [1.1, 1.2]}, "lists 2 values, but validation=0"),
    ):
        with pytest.raises(ValueError, match=message):
            CGBoostClassifier(**settings_).fit(*noisy)


def test_validation_must_leave_both_classes():
    X, y = np.arange(10.0)[:, None], np.array([0] * 9 + [1])
    with pytest.raises(ValueError, match="the others are of one class"):
        AnyBoostClassifier("stump", validation=0.95, random_state=0).fit(X, y)
