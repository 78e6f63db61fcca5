"""Learning from a stream, and from sparse and mapped samples, against updates by hand and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import weights_of
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from twins import python_averaged_perceptron, python_perceptron, python_sgd

from zoloss_cli import (
    AveragedPerceptronClassifier,
    MarginPerceptronClassifier,
    MarginSGDClassifier,
    PerceptronClassifier,
    PocketClassifier,
    RCDClassifier,
    ROMMAClassifier,
    progressive_errors,
)
from zoloss_cli.learners.linear import online

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


def row_by_row(learner, X, y, **more):
    for i in range(len(y)):
        learner.partial_fit(
            X[i : i + 1], y[i : i + 1], classes=[0, 1], **{k: v[i : i + 1] for k, v in more.items()}
        )
    return learner


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


LEARNERS = {
    "perceptron": PerceptronClassifier(epochs=7, random_state=3),
    "permuted": PerceptronClassifier(epochs=7, order="permuted", random_state=3),
    "fixed": AveragedPerceptronClassifier(epochs=7, order="fixed"),
    "averaged": AveragedPerceptronClassifier(epochs=7, record_every=3, random_state=3),
    "resampled": AveragedPerceptronClassifier(epochs=7, weighting="resample", random_state=3),
    **{
        f"sgd-{cost}": MarginSGDClassifier(cost=cost, epochs=7, rate=2.0**-7, record_every=2, random_state=3)
        for cost in ("hinge", "mls", "ls", "perceptron")
    },
}


@pytest.fixture
def samples():
    """Small integers, and weights of mean 1 that are halves: their sums, and so margins of 0, are exact.

    Most values are 0; so are one sample and one feature.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (64, 11)).astype(float) * (rng.random((64, 11)) < 0.3)
    X[17], X[:, 5] = 0.0, 0.0
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=64) > 0, "b", "a")
    return X, y, rng.permutation(np.repeat([0.5, 1.5], 32))


def map_samples(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def assert_same_fit(model, other, X, compared):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-11, atol=1e-13)
    assert getattr(model, "n_mistakes_", 0) == getattr(other, "n_mistakes_", 0)
    if hasattr(model, "recorded_weights_"):
        np.testing.assert_allclose(model.recorded_weights_, other.recorded_weights_, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(model.predict(X), other.predict(compared))


@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_and_mapped_samples_give_the_same_fit(samples, tmp_path, name):
    X, y, weights = samples
    mapped = map_samples(X, tmp_path)
    for options in ({}, {"sample_weight": weights}):
        dense = clone(LEARNERS[name]).fit(X, y, **options)
        for other in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X), mapped):
            assert_same_fit(dense, clone(LEARNERS[name]).fit(other, y, **options), X, other)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_of_dense_and_sparse_parts_gives_the_same_fit(samples, name):
    X, y, _ = samples
    dense, other = clone(LEARNERS[name]), clone(LEARNERS[name])
    for k, part in enumerate((slice(0, 30), slice(30, 31), slice(31, 40), slice(40, 64))):
        dense.partial_fit(X[part], y[part], classes=["a", "b"])
        other.partial_fit(X[part] if k == 2 else sparse.csr_array(X[part]), y[part], classes=["a", "b"])
    assert_same_fit(dense, other, X, sparse.csr_array(X))


def test_mapped_samples_are_predicted_in_parts_and_may_be_of_single_precision(samples, tmp_path, monkeypatch):
    X, y, _ = samples
    model = clone(LEARNERS["averaged"]).fit(X, y)
    monkeypatch.setattr(online, "ROWS_PER_PREDICTION", 40)
    np.testing.assert_array_equal(model.decision_function(map_samples(X, tmp_path)), model.decision_function(X))
    mapped = map_samples(X.astype(np.float32), tmp_path)
    assert_same_fit(model, clone(LEARNERS["averaged"]).fit(mapped, y), X, mapped)


def test_what_is_wrong_with_sparse_samples_is_said(samples):
    X, y, weights = samples
    S = sparse.csr_array(X)
    with pytest.raises(ValueError, match="seeding='fld' needs all samples at once"):
        PerceptronClassifier(seeding="fld").fit(S, y)
    with pytest.raises(ValueError, match="draws at random; order='fixed' cannot"):
        PerceptronClassifier(order="fixed", weighting="resample").fit(S, y, sample_weight=weights)
    with pytest.raises(ValueError, match="too large to compute with"):
        PerceptronClassifier().fit(1e80 * S, y)
    with pytest.raises(NotFittedError):
        PerceptronClassifier().predict(S)
    with pytest.raises(ValueError, match="features"):
        clone(LEARNERS["perceptron"]).fit(S, y).predict(S[:, :5])
    for learner in (PocketClassifier(), ROMMAClassifier(), RCDClassifier()):
        with pytest.raises(TypeError, match=f"{type(learner).__name__} takes no sparse"):
            learner.fit(S, y)
