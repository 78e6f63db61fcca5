"""Learning from a stream: the textbook's updates by hand, scikit-learn's own, and fit in a fixed order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from twins import python_averaged_perceptron, python_perceptron, python_sgd

from zoloss_cli import (
    AveragedPerceptronClassifier,
    MarginPerceptronClassifier,
    MarginSGDClassifier,
    PerceptronClassifier,
    ROMMAClassifier,
    progressive_errors,
)
from zoloss_cli.registry import LEARNERS

FIXED = {
    "perceptron": PerceptronClassifier(order="fixed"),
    "averaged": AveragedPerceptronClassifier(order="fixed"),
    "margin": MarginPerceptronClassifier(gamma=0.05),
    "romma": ROMMAClassifier(order="fixed"),
}
COSTS = ("hinge", "mls", "ls", "perceptron")
SGD = {f"sgd-{cost}": MarginSGDClassifier(cost=cost, rate=0.01) for cost in COSTS}
ONLINE = FIXED | SGD


@pytest.fixture
def fresh(request):
    return clone(ONLINE[request.param])


def weights_of(learner):
    return np.concatenate([learner.intercept_, learner.coef_[0]])


def row_by_row(learner, X, y, **more):
    for i in range(len(y)):
        learner.partial_fit(
            X[i : i + 1], y[i : i + 1], classes=[0, 1], **{k: v[i : i + 1] for k, v in more.items()}
        )
    return learner


def test_the_learners_that_are_online_have_it():
    """The pocket and the batch perceptron look at all rows at once."""
    online = {
        entry.learner_class.__name__
        for entry in LEARNERS.builtin.values()
        if hasattr(entry.learner_class, "partial_fit")
    }
    assert online == {type(learner).__name__ for learner in ONLINE.values()}


def test_four_rows_by_hand():
    """w = (bias, w1, w2); a margin of 0 is a mistake, and so are rows 1, 2 and 4."""
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [1.0, 3.0]])
    y = np.array(["no", "yes", "yes", "no"])
    learner, steps = PerceptronClassifier(), []
    for row, label in zip(X, y, strict=True):
        learner.partial_fit([row], [label], classes=["no", "yes"])
        steps.append((*weights_of(learner), learner.n_mistakes_))
    assert steps == [
        (-1, -2, 0, 1),  # w = 0: every row is a mistake
        (0, -2, 1, 2),  # said -1 of (0, 1)
        (0, -2, 1, 2),  # says 2.5 of (-1, 0.5): right
        (-1, -3, -2, 3),  # said 1 of (1, 3)
    ]


@pytest.mark.parametrize("fresh", ONLINE, indirect=True)
def test_calls_of_one_row_are_one_call_of_all(fresh, noisy):
    X, y = noisy
    together = clone(fresh).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(weights_of(row_by_row(fresh, X, y)), weights_of(together), rtol=1e-12)
    for count in ("n_mistakes_", "n_updates_"):
        assert getattr(fresh, count, None) == getattr(together, count, None)


@pytest.mark.parametrize("fresh", FIXED, indirect=True)
def test_passes_over_all_rows_are_fit_in_fixed_order_and_go_on_from_it(fresh, noisy):
    X, y = noisy
    fitted = clone(fresh).set_params(epochs=3).fit(X, y)
    for _ in range(3):
        fresh.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(weights_of(fresh), weights_of(fitted), rtol=1e-12)
    after_two = clone(fresh).set_params(epochs=2).fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(weights_of(after_two), weights_of(fitted), rtol=1e-12)
    if hasattr(fitted, "n_mistakes_"):
        assert fresh.n_mistakes_ == after_two.n_mistakes_ == fitted.n_mistakes_
    assert np.array_equal(weights_of(fresh.set_params(epochs=3).fit(X, y)), weights_of(fitted))  # anew


def test_rows_with_weights_follow_the_pseudo_code(noisy):
    X, y = noisy
    rows, signs = np.column_stack([np.ones(120), X]), np.where(y == 1, 1.0, -1.0)
    order, step = np.arange(120), np.random.default_rng(5).exponential(size=120)
    plain = row_by_row(PerceptronClassifier(), X, y)
    np.testing.assert_allclose(weights_of(plain), python_perceptron(rows, signs, np.zeros(5), order))
    averaged = row_by_row(AveragedPerceptronClassifier(), X, y, sample_weight=step)
    sums = python_averaged_perceptron(rows, signs, np.zeros(5), order, step)
    np.testing.assert_allclose(weights_of(averaged), sums / step.sum())
    for cost in COSTS:
        ours = MarginSGDClassifier(cost, rate=0.01).partial_fit(X, y, classes=[0, 1])
        np.testing.assert_allclose(weights_of(ours), python_sgd(rows, signs, np.zeros(5), order, 0.01, cost))


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 6))
def test_streams_of_scikit_learn_give_the_same(seed, n, m):
    rng = np.random.default_rng(seed)
    X, y, phi = rng.standard_normal((n, m)), rng.integers(0, 2, n), rng.exponential(size=n)
    options = {"penalty": None, "learning_rate": "constant", "shuffle": False}
    pairs = [
        (PerceptronClassifier(), SGDClassifier(loss="perceptron", eta0=1.0, **options)),
        (MarginSGDClassifier("hinge", rate=0.02), SGDClassifier(loss="hinge", eta0=0.02, **options)),
        # Their squared hinge has the factor 2 that ours has not.
        (MarginSGDClassifier("mls", rate=0.02), SGDClassifier(loss="squared_hinge", eta0=0.01, **options)),
    ]
    for ours, theirs in pairs:
        for part in (slice(0, n // 2), slice(n // 2, n)):
            if X[part].size:
                ours.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=phi[part])
                theirs.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=phi[part])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("fresh", ONLINE, indirect=True)
def test_progressive_errors_predict_before_they_learn(fresh, noisy):
    X, y = noisy
    wrong = progressive_errors(fresh, X, y)
    assert wrong[0]  # nothing was known
    for i in (1, 7, 60, 119):
        before = clone(fresh).partial_fit(X[:i], y[:i], classes=[0, 1])
        assert wrong[i] == (before.predict(X[i : i + 1])[0] != y[i])
    if type(fresh) is PerceptronClassifier:
        assert fresh.n_mistakes_ == wrong.sum()  # no margin was 0 but the first
    assert 0.0 < wrong.mean() < 0.5


def test_mistakes_of_a_call_name_what_is_wrong(noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="PerceptronClassifier: the first call of partial_fit needs classes"):
        PerceptronClassifier().partial_fit(X, y)
    learner = PerceptronClassifier().partial_fit(X, y, classes=[0, 1])
    for arguments, part in [
        ((X, y + 1), "y holds '2', which is not one of the classes"),
        ((X, y, [0, 2]), r"classes=\[0, 2\] are not those of the first call"),
        ((X[:, :3], y), "3 features"),
        ((X, y, None, np.zeros(120)), "(?i)sample weights .*zero"),
        ((X, y, None, np.full(120, -1.0)), "sample 0 is negative"),
    ]:
        before = weights_of(learner)
        with pytest.raises(ValueError, match=part):
            learner.partial_fit(*arguments)
        assert np.array_equal(weights_of(learner), before)
    with pytest.raises(ValueError, match="y holds 3"):
        PerceptronClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="one class: '1'"):
        PerceptronClassifier().partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match="seeding='fld' needs all samples at once"):
        PerceptronClassifier(seeding="fld").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="weighting='resample'"):
        PerceptronClassifier(weighting="resample").partial_fit(X, y, [0, 1], np.ones(120))


def test_a_stream_may_start_from_given_weights():
    start = PerceptronClassifier(seeding=[0.0, 1.0]).partial_fit([[2.0]], [1], classes=[0, 1])
    assert (start.coef_[0, 0], start.n_mistakes_) == (1.0, 0)
