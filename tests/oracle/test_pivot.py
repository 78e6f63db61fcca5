"""The pivot heat bath against brute force over all hyperplanes, and on what is known of the data sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import fewest_errors, strict_errors, tiny_problem, whole

from zoloss_cli.kernels import line
from zoloss_cli.kernels import pivot as kernels
from zoloss_cli.learners.linear.liblinear import LibLinearClassifier
from zoloss_cli.learners.search.pivot import PivotClassifier
from zoloss_cli.learners.search.samples import merge_equal_samples


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(4, 11),
    st.integers(1, 3),
    st.sampled_from(["plain", "discrete", "collinear", "duplicates"]),
    st.booleans(),
)
def test_the_fewest_errors_are_found(seed, n, m, kind, weighted):
    X, y = tiny_problem(seed, n, m, kind)
    phi = np.random.default_rng(seed).integers(1, 5, n).astype(float) if weighted else np.ones(n)
    learner = PivotClassifier(steps=3000, random_state=seed).fit(X, y, sample_weight=phi)
    found = phi[np.where(y == 1, 1, -1) * learner.decision_function(X) <= 0].sum()
    assert found == pytest.approx(fewest_errors(X, y, phi))
    assert learner.training_loss_ == pytest.approx(found / phi.sum())


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("breast_id", 10),
        ("liver", 82),
        ("cmc", 410),
        ("heart", 24),
        ("indian", 125),
        ("pima", 148),
        ("sonar", 0),
    ],
)
def test_better_than_every_published_column(name, most):
    """Nguyen & Sanner (2013), Table 1, has 10, 89, 418, 25, 146, 156 and 0."""
    X, y = whole(name)
    learner = PivotClassifier(steps=20_000, random_state=0).fit(X, y)
    assert learner.training_errors_ == strict_errors(learner, X, y) <= most
    losses = [loss for _, loss in learner.trace_]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == LibLinearClassifier("logistic").fit(X, y).training_errors_
    assert losses[-1] == pytest.approx(learner.training_errors_)


def test_a_step_keeps_the_basis_at_zero(noisy):
    X, y = noisy
    signs, weights = np.where(y == 1, 1.0, -1.0), np.ones(len(y))
    kept, c, t, _ = merge_equal_samples(X, signs, weights)
    Y = np.column_stack([np.ones(len(y)), X])[kept] * t[:, None]
    Y /= np.sqrt(np.sum(Y**2, axis=1))[:, None]
    w, B, V = np.array([0.1, 0.5, -0.4, 0.3, 0.2]), np.zeros(4, np.int64), np.zeros((4, 5))
    counter, sound = kernels.slide_to_vertex(Y, w, B, V, np.uint64(1))
    assert sound
    assert len(set(B)) == 4
    best_w = w.copy()
    kernels.walk_vertices(Y, c, w, B, V, 50, 1.5, 0.25, np.uint64(counter), best_w, 1e9)
    np.testing.assert_allclose(Y[B] @ w, 0.0, atol=1e-9)
    np.testing.assert_allclose(Y[B] @ V.T, np.eye(4), atol=1e-8)
    assert w @ w == pytest.approx(1.0)


def test_breakpoints_are_sorted():
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6):
        t = scale * rng.standard_cauchy(300)
        out, rows = np.empty(300), np.empty(300, np.int64)
        scratch = np.empty(300, np.int64), np.empty(601, np.int64)
        line.sort_line_breakpoints(t, np.arange(300), 300, 1.0, *scratch, out, rows)
        np.testing.assert_array_equal(out, np.sort(t))
        np.testing.assert_array_equal(t[rows], out)


def test_merging_keeps_the_loss_of_every_hyperplane():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(60), rng.integers(0, 3, (60, 2))])
    y, phi = rng.choice([-1.0, 1.0], 60), rng.integers(1, 4, 60).astype(float)
    kept, c, t, lost = merge_equal_samples(X, y, phi)
    Y = X[kept] * t[:, None]
    assert len(Y) <= 9
    for w in rng.standard_normal((20, 3)):
        assert c[Y @ w <= 0].sum() + lost == pytest.approx(phi[y * (X @ w) <= 0].sum())


def test_the_time_limit_ends_the_search(noisy):
    learner = PivotClassifier(steps=10**9, time_limit=0.2, random_state=0).fit(*noisy)
    assert learner.n_steps_ < 10**9
    with pytest.raises(ValueError, match="time_limit=0"):
        PivotClassifier(time_limit=0).fit(*noisy)


def test_more_features_than_points_are_separated():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((12, 30)), np.arange(12) % 2
    assert PivotClassifier(steps=10, seeding="zero", random_state=0).fit(X, y).training_errors_ == 0


def test_a_basis_that_has_become_singular_is_noticed():
    Y, V = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0]]), np.zeros((2, 3))
    assert not kernels.rebuild_vertex(Y, np.array([0, 1]), np.array([0, 0, 1.0]), V)
    assert kernels.rebuild_vertex(Y, np.array([0, 2]), np.array([0, 0, 1.0]), V)
    np.testing.assert_array_equal(V, [[1, 0, 0], [0, 1, 0]])


def test_intervals_are_drawn_by_their_odds():
    losses, near, odds = np.array([5.0, 4.0, np.inf, 7.0]), np.zeros(11, np.int64), np.zeros(11)
    turned, T = 12.0, 1.5
    upright = {j: np.exp(-losses[j] / T) for j in (0, 1, 3)}
    flipped = {j: np.exp(-(turned - losses[j]) / T) for j in (0, 1, 3)}
    shares = (np.arange(20_000) + 0.5) / 20_000
    drawn = [kernels.draw_interval(losses, 3, turned, 4.0, T, s, near, odds) for s in shares]
    total = sum(upright.values()) + sum(flipped.values())
    for sense, expected in ((1.0, upright), (-1.0, flipped)):
        for j, weight in expected.items():
            assert drawn.count((j, sense)) / 20_000 == pytest.approx(weight / total, abs=2e-4)
