"""Sparse and mapped samples: the same fits as to a dense array in memory, and no copy of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from zoloss_cli import (
    AveragedPerceptronClassifier,
    MarginSGDClassifier,
    PerceptronClassifier,
    PocketClassifier,
    RCDClassifier,
    ROMMAClassifier,
)
from zoloss_cli.learners.linear import online as rows

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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_and_mapped_samples_give_the_same_fit(samples, tmp_path, name, weighted):
    X, y, weights = samples
    given = {"sample_weight": weights} if weighted else {}
    dense = clone(LEARNERS[name]).fit(X, y, **given)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X), map_samples(X, tmp_path)):
        assert_same_fit(dense, clone(LEARNERS[name]).fit(other, y, **given), X, other)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_of_sparse_samples_gives_the_same_fit(samples, name):
    X, y, _ = samples
    dense, other = clone(LEARNERS[name]), clone(LEARNERS[name])
    for part in (slice(0, 30), slice(30, 31), slice(31, 64)):
        dense.partial_fit(X[part], y[part], classes=["a", "b"])
        other.partial_fit(sparse.csr_array(X[part]), y[part], classes=["a", "b"])
    assert_same_fit(dense, other, X, sparse.csr_array(X))


@pytest.mark.parametrize("name", ["perceptron", "averaged", "sgd-mls"])
def test_dense_and_sparse_parts_of_a_stream_may_alternate(samples, name):
    X, y, _ = samples
    dense, other = clone(LEARNERS[name]).fit(X[:30], y[:30]), clone(LEARNERS[name])
    other.fit(sparse.csr_array(X[:30]), y[:30])
    for k, part in enumerate((slice(30, 40), slice(40, 50), slice(50, 64))):
        dense.partial_fit(X[part], y[part])
        other.partial_fit(sparse.csr_array(X[part]) if k % 2 else X[part], y[part])
    assert_same_fit(dense, other, X, X)


def test_mapped_samples_are_predicted_in_parts(samples, tmp_path, monkeypatch):
    X, y, _ = samples
    model = clone(LEARNERS["perceptron"]).fit(X, y)
    monkeypatch.setattr(rows, "ROWS_PER_PREDICTION", 40)
    np.testing.assert_array_equal(model.decision_function(map_samples(X, tmp_path)), model.decision_function(X))


def test_single_precision_is_fitted_to_where_it_is(samples, tmp_path):
    X, y, _ = samples
    mapped = map_samples(X.astype(np.float32), tmp_path)
    assert_same_fit(
        clone(LEARNERS["averaged"]).fit(X, y), clone(LEARNERS["averaged"]).fit(mapped, y), X, mapped
    )


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


@pytest.mark.parametrize("learner", [PocketClassifier(), ROMMAClassifier(), RCDClassifier()])
def test_other_learners_say_that_they_take_dense_samples(samples, learner):
    X, y, _ = samples
    with warnings.catch_warnings(), pytest.raises(TypeError, match=f"{type(learner).__name__} takes no sparse"):
        learner.fit(sparse.csr_array(X), y)
