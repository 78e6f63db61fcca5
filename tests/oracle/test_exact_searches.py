"""Branch and bound, combinatorial search, the integer program and certify against brute force."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import fewest_errors, strict_errors, tiny_problem, whole

from zoloss_cli.kernels.arrangement import sweep_prefixes
from zoloss_cli.learners.search.hyperplanes import sweep_exactly
from zoloss_cli.proofs import check
from zoloss_cli.registry import make_learner

KINDS = st.sampled_from(["plain", "discrete", "collinear", "duplicates"])
EXHAUSTIVE = {"pcs": {}, "bnb": {}, "bnb, no propagation": {"propagation": "none"}, "certify": {"steps": 50}}


def fitted(name, X, y, settings_=None, phi=None):
    return make_learner(name.partition(",")[0], settings_ or {}, 0).fit(X, y, sample_weight=phi)


@pytest.mark.parametrize("name", EXHAUSTIVE)
@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(4, 11), st.integers(1, 3), KINDS, st.booleans())
def test_the_fewest_errors_are_found_and_proved(name, seed, n, m, kind, weighted):
    X, y = tiny_problem(seed, n, m, kind)
    phi = np.random.default_rng(seed).integers(1, 5, n).astype(float) if weighted else np.ones(n)
    learner = fitted(name, X, y, EXHAUSTIVE[name], phi)
    wrong = np.where(y == 1, 1.0, -1.0) * learner.decision_function(X) <= 0.0
    least = fewest_errors(X, y, phi)
    assert phi[wrong].sum() == pytest.approx(least)
    assert learner.lower_bound_ * phi.mean() == pytest.approx(least)
    assert learner.optimal_
    # Only certify proves in exact arithmetic; the others may where equal rows are all that is wrong.
    # Collinear samples lie on a grid up to rounding, and then certify says so.
    assert learner.bound_is_exact_ or name != "certify" or kind == "collinear"
    assert learner.training_errors_ == wrong.sum()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(4, 11), st.integers(1, 3), KINDS)
def test_the_integer_program_finds_them_too(seed, n, m, kind):
    X, y = tiny_problem(seed, n, m, kind)
    learner = fitted("mip", X, y, {"margin": 1e-6, "time_limit": None})  # thin cells are missed
    least = fewest_errors(X, y, np.ones(n))
    assert learner.training_errors_ == least
    assert learner.program_optimal_
    assert learner.program_bound_ == pytest.approx(least, abs=1e-4)
    assert learner.lower_bound_ <= least


@pytest.mark.parametrize("seed", range(12))
def test_up_to_three_features_everything_is_proved(seed):
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(50, 301)), int(rng.integers(1, 4))
    X = [
        rng.standard_normal((n, D)),
        rng.integers(0, 6, (n, D)).astype(float),
        np.round(rng.standard_normal((n, D)), 1),
        rng.standard_normal((n, D))[rng.integers(0, n // 3, n)],
    ][seed % 4]
    y = (X[:, 0] + rng.choice([0.3, 1.0, 5.0]) * rng.standard_normal(n) > 0).astype(int)
    y[:2] = [0, 1]
    learner = fitted("certify", X, y, {"time_limit": None})
    assert learner.optimal_
    assert learner.lower_bound_ == learner.training_errors_ == strict_errors(learner, X, y)
    assert learner.proof_ in ("separable", "equal rows", "all hyperplanes", "cones of directions")


def test_certify_proves_that_breast_with_its_id_needs_ten_errors():
    X, y = whole("breast_id")
    learner = fitted("certify", X, y, {"time_limit": 600.0})  # it takes ten seconds, but machines differ
    assert (learner.training_errors_, learner.lower_bound_, learner.optimal_) == (10, 10.0, True)
    assert learner.proof_ == "impossible sets"
    signs = np.where(y == 1, 1.0, -1.0)
    rows = np.column_stack([np.ones(len(y)), X]) * signs[:, None]
    assert len(learner.certificates_) > 100
    for examples, weights in learner.certificates_[:50]:
        mixture = np.array([float(w) for w in weights]) / float(max(weights))
        np.testing.assert_allclose(mixture @ rows[examples], 0.0, atol=1e-10)
    # What it found hits every one of them.
    wrong = signs * learner.decision_function(X) <= 0.0
    everywhere = {tuple(X[i]) for i in np.flatnonzero(wrong)}
    assert all(any(tuple(X[i]) in everywhere for i in examples) for examples, _ in learner.certificates_)


def test_a_search_that_ends_in_floating_point_is_no_proof():
    """branch and bound comes to its end here; certify may not take that for a proof."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 8))
    y = (X[:, 0] > 0).astype(int)
    y[np.argmax(X[:, 0])] = 0
    rounded = fitted("pivot", X, y)
    assert rounded.optimal_
    assert not rounded.bound_is_exact_
    without = fitted("certify", X, y, {"programs": 0})
    assert without.bound_is_exact_
    assert without.lower_bound_ <= len(without.certificates_)
    proved = fitted("certify", X, y, {"time_limit": None})
    assert (proved.optimal_, proved.proof_) == (True, "impossible sets")
    assert proved.training_errors_ == rounded.training_errors_


@pytest.mark.parametrize(
    ("name", "settings_"), [("bnb", {"propagation": "none"}), ("bnb", {}), ("pcs", {}), ("csa", {})]
)
def test_real_data_fall_below_the_printed_loss(name, settings_):
    X, y = whole("heart")
    learner = fitted(name, X, y, settings_)
    assert learner.training_errors_ == strict_errors(learner, X, y) <= 33
    losses = [loss for _, loss in learner.trace_]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == learner.training_errors_


@pytest.mark.parametrize("discrete", [False, True])
def test_a_sweep_gives_every_hyperplane_its_own_loss(discrete):
    rng = np.random.default_rng(0)
    Y = rng.integers(-2, 3, (40, 4)).astype(float) if discrete else rng.standard_normal((40, 4))
    Y[:, 0] = 1.0
    Y *= rng.choice([-1.0, 1.0], 40)[:, None] / np.sqrt(np.sum(Y**2, axis=1))[:, None]
    c = rng.integers(1, 4, 40).astype(float)
    planes, losses = np.empty((500, 4)), np.empty(500)
    seen = 0
    for first, second in [(0, 1), (3, 9), (20, 35), (38, 39)]:
        prefix = np.array([first, second])
        put, *_ = sweep_prefixes(Y, c, np.arange(40), 40, prefix, 1, 2**62, np.inf, planes, losses)
        for w, loss in zip(planes[:put], losses[:put], strict=True):
            margins = Y @ w
            off = np.abs(margins) > 1e-8
            assert not off[first]
            assert not off[second]
            assert np.sum(~off) >= 3
            assert loss == c[off & (margins < 0.0)].sum()
            seen += 1
    assert seen > 8


@settings(max_examples=100)
@given(
    st.integers(0, 10**6),
    st.integers(2, 9),
    st.integers(1, 3),
    st.sampled_from([2, 50, 10**15, 10**40, 10**400]),
)
def test_an_exact_sweep_agrees_with_the_checker_and_brute_force(seed, n, m, size):
    rng = random.Random(seed)
    places = {tuple(rng.randrange(size) for _ in range(m)): rng.choice([-3, -1, 1, 2]) for _ in range(n)}
    signs = [1 if weight > 0 else -1 for weight in places.values()]
    vectors = [[sign, *(sign * value for value in place)] for place, sign in zip(places, signs, strict=True)]
    copies = [abs(weight) for weight in places.values()]
    found = sweep_exactly(vectors, copies)
    assert found == check._count_fewest(places, check.Work(10**9))
    if size <= 50 and len(set(signs)) == 2:
        X, y = np.array(list(places), float), np.array(signs) > 0
        assert found == fewest_errors(X, y.astype(int), np.array(copies, float))
    big = 10**30  # slopes that floating point cannot tell apart
    near = [[1, big], [1, big + 1], [-1, -big - 2], [1, big + 3]]
    assert [sweep_exactly(near, [1, 1, *rest]) for rest in ([1, 1], [5, 3])] == [1, 2]
