"""Searches on many samples, and their start without LIBLINEAR's own package."""

import numpy as np
import pytest
from sklearn.preprocessing import scale

from zoloss_cli import PivotClassifier, load_dataset
from zoloss_cli.learners import base
from zoloss_cli.learners.base import Problem, add_bias_column
from zoloss_cli.learners.linear import online as stream
from zoloss_cli.learners.linear import surrogates
from zoloss_cli.learners.linear.surrogates import LibLinearClassifier
from zoloss_cli.learners.search import base as direct_optimizer
from zoloss_cli.learners.search import pivot
from zoloss_cli.learners.search import samples as merged_samples
from zoloss_cli.learners.search.base import START_LOSSES
from zoloss_cli.registry import make_learner


def build_problem(n: int, seed: int = 0, repeats: bool = False) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 3)).astype(float) if repeats else rng.normal(size=(n, 3))
    y = np.where(X.sum(axis=1) + rng.normal(size=n) > X.sum() / n, 1.0, -1.0)
    return Problem(add_bias_column(X), y, np.full(n, 1.0 / n), rng)


@pytest.mark.parametrize("repeats", [False, True])
def test_many_samples_are_merged_to_the_same_ones(monkeypatch, repeats):
    problem = build_problem(60, repeats=repeats)
    usual = merged_samples.build_merged_samples(problem)
    monkeypatch.setattr(merged_samples, "MANY_SAMPLES", 10)
    many = merged_samples.build_merged_samples(problem)
    order, other = (np.lexsort(np.column_stack([m.raw, m.c]).T) for m in (usual, many))
    np.testing.assert_array_equal(usual.raw[order], many.raw[other])
    np.testing.assert_array_equal(usual.c[order], many.c[other])
    np.testing.assert_array_equal(usual.t[order], many.t[other])
    assert usual.unavoidable_loss == many.unavoidable_loss
    w = np.random.default_rng(1).normal(size=4)
    assert usual.compute_loss(usual.axes @ w) == many.compute_loss(many.axes @ w)
    np.testing.assert_allclose(usual.axes.T @ usual.axes, many.axes.T @ many.axes, atol=1e-12)


def test_a_time_limit_thins_out_the_samples_of_the_start_only_where_they_are_many():
    problem = build_problem(5_000)
    assert direct_optimizer._thin_out(problem, None) is problem
    assert direct_optimizer._thin_out(problem, 60.0) is problem
    few = direct_optimizer._thin_out(problem, 0.05)
    assert len(few.X) == direct_optimizer.MIN_START_SAMPLES
    assert few.phi.sum() == pytest.approx(1.0)
    rows = {tuple(x): label for x, label in zip(problem.X, problem.y, strict=True)}
    assert all(rows[tuple(x)] == label for x, label in zip(few.X, few.y, strict=True))


def test_more_looks_at_the_clock_walk_as_many_steps(monkeypatch):
    problem = build_problem(80)
    monkeypatch.setattr(pivot, "SAMPLES_PER_BLOCK", 17 * 80)
    looks = []
    monkeypatch.setattr(
        direct_optimizer.SearchProgress, "should_stop", lambda self: bool(looks.append(self.name))
    )
    model = make_learner("pivot", {"steps": 500}, 1).fit(problem.X[:, 1:], problem.y)
    assert model.n_steps_ == 500
    assert len(looks) >= 500 / 17


def test_samples_that_were_turned_in_place_are_restored(monkeypatch):
    turned = []
    turn = merged_samples._turn_in_place
    monkeypatch.setattr(merged_samples, "_turn_in_place", lambda *args: turned.append(1) or turn(*args))
    monkeypatch.setattr(merged_samples, "MANY_SAMPLES", 10)
    monkeypatch.setattr(pivot, "MAX_COPY_BYTES", 0)
    problem = build_problem(80)
    X, y = problem.X[:, 1:].copy(), problem.y
    model = make_learner("pivot", {"steps": 300, "seeding": "fld"}, 1).fit(X, y)
    assert turned
    np.testing.assert_array_equal(X, problem.X[:, 1:])
    assert model.training_errors_ == np.sum(y * model.decision_function(X) <= 0.0)
    assert model.training_errors_ == model.trace_[-1][1] < model.trace_[0][1]


@pytest.mark.parametrize("name", ["perceptron", "ave-perc", "sgd-hinge"])
def test_online_learners_copy_large_samples_once_and_learn_the_same(monkeypatch, name):
    problem = build_problem(80)
    X, y, weights = problem.X[:, 1:].copy(), problem.y, np.arange(80) % 3 + 1.0
    usual = make_learner(name, {"epochs": 5}, 1).fit(X, y, sample_weight=weights)
    monkeypatch.setattr(stream, "MAX_COPY_BYTES", 0)
    monkeypatch.setattr(base, "add_bias_column", None)
    large = make_learner(name, {"epochs": 5}, 1).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(usual.coef_, large.coef_)
    np.testing.assert_array_equal(usual.intercept_, large.intercept_)


@pytest.mark.parametrize("seeding", ["lr", "svm"])
def test_the_package_is_used_where_it_is(monkeypatch, seeding):
    X, y = load_dataset("heart")
    problem = PivotClassifier()._build_problem(scale(X), y, None)
    expected = LibLinearClassifier(START_LOSSES[seeding]).learn(problem, np.zeros(14))
    assert np.array_equal(PivotClassifier(seeding=seeding)._compute_start(problem), expected)
    monkeypatch.setattr(surrogates, "is_installed", lambda module: False)
    with pytest.warns(UserWarning, match="liblinear-official is not installed"):
        found = PivotClassifier(seeding=seeding)._compute_start(problem)
    assert not np.array_equal(found, expected)
    count = [int((problem.y * (problem.X @ w) <= 0).sum()) for w in (found, expected)]
    assert abs(count[0] - count[1]) <= 2
    monkeypatch.setattr(surrogates, "_solve_by_sklearn", lambda *_: np.full(14, np.inf))
    with pytest.warns(UserWarning, match="liblinear"):  # features beyond computing
        assert not surrogates.compute_substitute_start("logistic", problem).any()
