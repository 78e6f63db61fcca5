"""Theorem 2 of Li & Lin (2007): the bound by integration, and exact probabilities of an epoch's success."""

import math

import cvxpy
import numpy as np
import pytest
from problems import weights_of
from reference_runs import find_reference_run
from scipy.integrate import quad
from scipy.stats import binom

from zoloss_cli import PrioritizedSearchClassifier, RCDBoundClassifier
from zoloss_cli.data.dataset import generate
from zoloss_cli.learners.search import rcd

N_AZIMUTHS = 240  # of starts, and of directions: the integrand jumps, so that errors fall as 1/N
QUADRATURE_ERROR = 0.005


def scaled_set(seed, dimensions, size=15):
    """Samples in [-1, 1] with the constant 1 first, and labels as signs."""
    pool = generate("gaussians", seed, size=size, dimensions=dimensions)
    X = 2.0 * (pool.X - pool.X.min(axis=0)) / np.ptp(pool.X, axis=0) - 1.0
    return np.insert(X, 0, 1.0, axis=1), np.where(pool.y == 1, 1.0, -1.0)


def fitted(X, y, angle, trials, seed=0):
    return RCDBoundClassifier(angle=angle, trials=trials, random_state=seed).fit(X[:, 1:], y)


def errors_of(X, y, w):
    return np.sum(y * (w @ X.T) <= 0, axis=-1)


def success_probability(X, y, w, across, fewest, share_between):
    """The probability that a line from w within the plane of w and `across` meets `fewest` errors.

    A direction d at the angle gamma to w, towards `across`, gives a line that covers the angles between
    gamma - pi and gamma. It succeeds if the nearest angle a > 0 with so few errors is below gamma, or the
    nearest -b < 0 above gamma - pi. `share_between` is the probability of gamma between two angles.
    """
    at = np.arctan2(-(X @ w), X @ across) % np.pi
    edges = np.sort(np.concatenate([at - np.pi, at, [-np.pi, 0.0, np.pi]]))
    middles = (edges[:-1] + edges[1:]) / 2
    tried = np.cos(middles)[:, None] * w + np.sin(middles)[:, None] * across
    good = (errors_of(X, y, tried) <= fewest) & (np.diff(edges) > 1e-12)
    a = edges[:-1][good & (middles > 0)].min(initial=np.pi)
    b = -edges[1:][good & (middles < 0)].max(initial=-np.pi)
    if a + b <= np.pi:
        return 1.0
    return share_between(a, np.pi) + share_between(0.0, np.pi - b)


def exact_share(X, y, best, phi):
    """The mean of success over all starts at the angle phi that are worse, for one or two features."""
    fewest = errors_of(X, y, best)
    basis = np.linalg.svd(best[None])[2][1:]
    if len(best) == 2:
        azimuths, share_between = [basis[0], -basis[0]], lambda low, high: (high - low) / np.pi
    else:
        angles = 2.0 * np.pi * (np.arange(N_AZIMUTHS) + 0.5) / N_AZIMUTHS
        azimuths = np.cos(angles)[:, None] * basis[0] + np.sin(angles)[:, None] * basis[1]

        def share_between(low, high):
            return (math.cos(low) - math.cos(high)) / 2.0

    shares = []
    for u in azimuths:
        w = math.cos(phi) * best + math.sin(phi) * u
        if errors_of(X, y, w) <= fewest:
            continue
        rest = np.linalg.svd(w[None])[2][1:]
        if len(best) == 2:
            directions = [rest[0], -rest[0]]
        else:
            directions = np.cos(angles)[:, None] * rest[0] + np.sin(angles)[:, None] * rest[1]
        shares.append(np.mean([success_probability(X, y, w, v, fewest, share_between) for v in directions]))
    return float(np.mean(shares))


@pytest.mark.parametrize(("m", "known"), [(1, 1 / math.pi), (2, 1 / 4), (3, 2 / (3 * math.pi))])
def test_the_constant_is_that_of_an_integral_over_the_sphere(m, known):
    whole, _ = quad(lambda theta: math.sin(theta) ** (m - 1), 0.0, math.pi)
    assert rcd.compute_ball_share(m) == pytest.approx(1.0 / (m * whole), rel=1e-9)
    assert rcd.compute_ball_share(m) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_random_direction_falls_into_the_ball_at_least_as_often_as_equation_six_says(m):
    """The cap of all directions within arcsin(R), as a share of the sphere."""
    whole, _ = quad(lambda theta: math.sin(theta) ** (m - 1), 0.0, math.pi)
    for radius in (1e-3, 0.05, 0.3, 0.9):
        cap, _ = quad(lambda theta: math.sin(theta) ** (m - 1), 0.0, math.asin(radius))
        bound = rcd.compute_success_bound(m, radius, math.pi / 2)
        assert bound <= cap / whole * (1 + 1e-9)
        if radius == 1e-3:
            assert bound == pytest.approx(cap / whole, rel=1e-5)
        for phi in (0.5, 1.0, 1.5):
            assert rcd.compute_success_bound(m, radius * math.sin(phi), phi) == pytest.approx(bound)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_ball_is_the_largest_in_a_region_with_the_fewest_errors(dimensions):
    for seed in (1, 2):
        X, y = scaled_set(seed, dimensions)
        model = fitted(X, y, 45, 10)
        w = weights_of(model)
        least = PrioritizedSearchClassifier(seeding="zero").fit(X[:, 1:], y)
        assert least.optimal_
        assert errors_of(X, y, w) == least.training_errors_
        unit, signs = X / np.linalg.norm(X, axis=1, keepdims=True), np.sign(X @ w)
        assert np.linalg.norm(w) == pytest.approx(1.0)
        assert np.min(np.abs(unit @ w)) == pytest.approx(model.radius_)
        v = cvxpy.Variable(dimensions + 1)
        widest = cvxpy.Maximize(cvxpy.min(cvxpy.multiply(signs, unit @ v)))
        largest = cvxpy.Problem(widest, [cvxpy.norm(v) <= 1]).solve(solver=cvxpy.CLARABEL)
        assert model.radius_ == pytest.approx(largest, rel=1e-3)
        # All of the ball predicts the same, and a little beyond it something does not.
        rng = np.random.default_rng(seed)
        shifts = rng.standard_normal((500, dimensions + 1))
        shifts *= model.radius_ / np.linalg.norm(shifts, axis=1, keepdims=True)
        assert np.all(np.sign((w + (1 - 1e-9) * shifts) @ X.T) == signs)
        nearest = np.argmin(np.abs(unit @ w))
        beyond = w - 1.001 * model.radius_ * signs[nearest] * unit[nearest]
        assert np.sign(beyond @ X[nearest]) == -signs[nearest]


@pytest.mark.parametrize(("seed", "angle"), [(1, 10), (2, 45), (3, 90)])
def test_one_feature_by_lengths_of_arcs(seed, angle):
    X, y = scaled_set(seed, 1)
    model, trials = fitted(X, y, angle, 20_000), 20_000
    exact = exact_share(X, y, weights_of(model), math.radians(angle))
    assert model.n_trials_ == trials
    assert abs(model.success_share_ - exact) <= 4 * math.sqrt(exact * (1 - exact) / trials) + 1e-9
    assert exact >= max(1 - angle / 180, 2 * model.success_bound_)


@pytest.mark.parametrize(("seed", "angle"), [(1, 10), (3, 45)])
def test_two_features_by_quadrature_over_starts_and_directions(seed, angle):
    X, y = scaled_set(seed, 2)
    model, trials = fitted(X, y, angle, 20_000), 20_000
    exact = exact_share(X, y, weights_of(model), math.radians(angle))
    error = 4 * math.sqrt(exact * (1 - exact) / trials) + QUADRATURE_ERROR
    assert abs(model.success_share_ - exact) <= error
    assert 0.01 < exact < 0.99  # it could differ
    assert exact >= 2 * model.success_bound_


def test_the_seed_draws_starts_and_directions():
    X, y = scaled_set(1, 2)
    first, again, other = (fitted(X, y, 20, 1000, seed) for seed in (0, 0, 1))
    assert first.success_share_ == again.success_share_ != other.success_share_
    np.testing.assert_allclose(weights_of(first), weights_of(other))


def test_starts_within_the_ball_are_no_worse_and_do_not_count():
    X, y = np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([-1.0, 1.0])
    model = fitted(X, y, 40, 20)
    assert model.radius_ == pytest.approx(math.sin(math.pi / 4))
    assert model.n_trials_ == 0
    assert math.isnan(model.success_share_)
    assert math.isnan(model.success_bound_)
    assert fitted(X, y, 50, 20).n_trials_ == 20


def test_no_bound_is_broken_in_the_reference_run():
    run = find_reference_run("rcd-probability")
    assert run.n_done == run.n_tasks
    settings = {spec.label: spec.parameters for spec in run.experiment.learners}
    assert len(run.cells) == 12
    for (dataset, learner), cell in run.cells.items():
        trials = settings[learner]["trials"]
        for share, bound in zip(cell["success_share"], cell["success_bound"], strict=True):
            successes = share / 100 * trials
            assert successes == pytest.approx(round(successes), abs=1e-3)
            assert binom.cdf(round(successes), trials, 2 * bound / 100) > 1e-5, (dataset, learner)
        # Starts that are nearer succeed more often, and the bound knows it.
    for dataset in run.datasets:
        for metric in ("success_share", "success_bound"):
            means = [run.get_stat(dataset, learner, metric).mean for learner in settings]
            assert means == sorted(means, reverse=True)
