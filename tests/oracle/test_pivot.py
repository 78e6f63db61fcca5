"""The pivot heat bath and losses along lines against brute force, sorting and published values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import fewest_errors, strict_errors, tiny_problem, whole

from zoloss_cli.kernels import line_losses
from zoloss_cli.kernels import pivot as kernels
from zoloss_cli.kernels.line_losses import (
    allocate_bucket_scratch,
    allocate_line_scratch,
    compute_line_losses,
    compute_near_losses,
)
from zoloss_cli.kernels.pivot import draw_interval
from zoloss_cli.learners.linear.surrogates import LibLinearClassifier
from zoloss_cli.learners.search.pivot import PivotClassifier
from zoloss_cli.learners.search.samples import merge_equal_samples


@settings(max_examples=80)
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


@pytest.mark.parametrize(("name", "most"), [("breast_id", 10), ("liver", 82), ("heart", 24), ("pima", 148)])
def test_better_than_every_published_column(name, most):
    """Nguyen & Sanner (2013), Table 1, has 10, 89, 25 and 156."""
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
        line_losses.sort_line_breakpoints(t, np.arange(300), 300, 1.0, *scratch, out, rows)
        np.testing.assert_array_equal(out, np.sort(t))
        np.testing.assert_array_equal(t[rows], out)


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


N = 400


def draw_line(seed, is_discrete, weighted):
    """Return samples, weights, margins, slopes, a direction, and a basis of three rows, one of them leaving."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(-2, 3, (N, 4)).astype(float) if is_discrete else rng.normal(size=(N, 4))
    Y[:, 0] += 3.0
    Y *= np.where(Y @ rng.normal(size=4) + rng.normal(size=N) > 0.0, 1.0, -1.0)[:, None]
    Y /= np.sqrt(np.sum(Y**2, axis=1))[:, None]
    c = rng.integers(1, 6, N).astype(float) if weighted else np.ones(N)
    w, v, u = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3].copy()
    f, g = Y @ w, Y @ v
    in_basis = np.zeros(N, bool)
    in_basis[:3] = True
    f[:3] = g[1:3] = 0.0
    g[3] = f[3] = 0.0  # the whole line leaves this row at 0
    return Y, c, f, g, u, in_basis


def list_intervals(sorted_t, rows, losses, count, turned, reach):
    """Return (loss, sense, the rows at both ends) of all intervals in reach, in their order."""
    ends = [-1, *rows[:count], -2]
    upright = [(losses[j], 1, *ends[j : j + 2]) for j in range(count + 1) if losses[j] < reach]
    flipped = [
        (turned - losses[j], -1, *ends[j : j + 2])
        for j in range(count + 1)
        if losses[j] < np.inf and turned - losses[j] < reach
    ]
    return upright + flipped


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.3, 2.0, 12.0]))
def test_what_is_in_reach_is_the_same_as_by_sorting_all(seed, is_discrete, weighted, excess):
    line = draw_line(seed, is_discrete, weighted)
    full, near = allocate_line_scratch(N), allocate_line_scratch(N)
    count, turned, least, at, sense = compute_line_losses(*line, 0, full)
    found = compute_near_losses(*line, 0, excess, near, allocate_bucket_scratch(N))
    assert found[1:3] == (turned, least)
    assert found[4] == sense
    if is_discrete:  # equal breakpoints are in any order
        assert near[6][found[3]] == full[6][at]
        return
    reach = least + max(excess, 1e-6)
    expected = list_intervals(full[4], full[5], full[6], count, turned, reach)
    assert list_intervals(near[4], near[5], near[6], found[0], turned, reach) == expected
    np.testing.assert_array_equal(near[4][: found[0]], np.sort(near[4][: found[0]]))


def test_few_breakpoints_are_sorted_and_the_draw_is_the_same():
    line = draw_line(7, False, True)
    full, near = allocate_line_scratch(N), allocate_line_scratch(N)
    count, turned, least, *_ = compute_line_losses(*line, 0, full)
    T = 0.05
    few, *rest = compute_near_losses(*line, 0, 30.0 * T, near, allocate_bucket_scratch(N))
    assert 0 < few < count / 8
    for share in np.linspace(0.0, 0.999, 50):
        j, sense = draw_interval(full[6], count, turned, least, T, share, full[7], full[8])
        k, same = draw_interval(near[6], few, rest[0], rest[1], T, share, near[7], near[8])
        assert same == sense
        assert near[6][k] == full[6][j]
        assert near[5][min(k, few - 1)] == full[5][min(j, count - 1)]
