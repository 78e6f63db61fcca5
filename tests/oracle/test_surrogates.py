"""LIBLINEAR's SVM and LR, the Bayes point machine and SLA: Table 1 to the digit, and independent oracles."""

import math

import numpy as np
import pytest
from problems import signed, strict_errors, whole
from scipy.optimize import minimize
from twins import python_sla

from zoloss_cli.config.catalog import find_fetched_path
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.kernels import smooth
from zoloss_cli.learners.linear.surrogates import BayesPointClassifier, LibLinearClassifier
from zoloss_cli.learners.search.sla import SmoothLossClassifier
from zoloss_cli.registry import make_learner
from zoloss_cli.report.papers import read_published_tables


@pytest.mark.parametrize("learner", ["bpm", "svm", "lr", "sla"])
@pytest.mark.parametrize("name", ["breast_id", "liver", "cmc", "heart", "indian583", "pima", "sonar"])
def test_table_1_to_the_digit(name, learner):
    if name == "indian583" and not find_fetched_path(name).is_file():
        pytest.skip("run: zoloss datasets fetch indian583")
    X, y = whole(name)
    cells = read_published_tables()["nguyen-sanner-2013", "1"]
    published = cells[name.removesuffix("_id").removesuffix("583"), learner, "train_01_loss"]
    assert strict_errors(make_learner(learner, {}).fit(X, y), X, y) == published.value


def test_logistic_regression_minimizes_its_objective(noisy):
    X, y = noisy
    Z = signed(X, y)
    ours = LibLinearClassifier("logistic", C=[0.5], tolerance=1e-8).fit(X, y)

    def objective(w):
        return 0.5 * w @ w + 0.5 * np.sum(np.logaddexp(0, -Z @ w))

    theirs = minimize(objective, np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theirs, atol=1e-4)


def test_the_svm_minimizes_its_objective(noisy):
    X, y = noisy
    Z = signed(X, y)
    ours = LibLinearClassifier(C=[2.0], tolerance=1e-8).fit(X, 1 - y)  # the first label met is the other one

    def objective(w):
        return 0.5 * w @ w + 2.0 * np.sum(np.maximum(0, 1 + Z @ w) ** 2)

    theirs = minimize(objective, np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theirs, atol=1e-4)


def test_the_grid_keeps_the_fewest_training_errors_and_the_last_of_equals(noisy):
    X, y = noisy
    grid = [2.0**e for e in range(-8, 6)]
    errors = [strict_errors(LibLinearClassifier(C=[C]).fit(X, y), X, y) for C in grid]
    chosen = LibLinearClassifier(C=grid).fit(X, y)
    assert chosen.training_errors_ == min(errors)
    assert [C for C, e in zip(grid, errors, strict=True) if e == min(errors)][-1] == chosen.C_


def test_the_bayes_point_is_the_posterior_mean():
    """Against the mean by quadrature on a fine grid, in two dimensions (bias and one weight)."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((25, 1))
    y = (X[:, 0] + 0.7 * rng.standard_normal(25) > 0.2).astype(int)
    Z = signed(X, y)
    axis = np.linspace(-6, 6, 401)
    W = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    cdf = np.vectorize(lambda t: 0.5 * math.erfc(-t / math.sqrt(2)))
    log_posterior = -0.5 * np.sum(W**2, axis=1) + np.sum(np.log(cdf(W @ Z.T) + 1e-300), axis=1)
    weight = np.exp(log_posterior - log_posterior.max())
    exact = weight @ W / weight.sum()
    ours = BayesPointClassifier().fit(X, y)
    np.testing.assert_allclose([ours.intercept_[0], ours.coef_[0, 0]], exact, rtol=0.02, atol=0.005)
    assert ours.n_sweeps_ < 200


@pytest.mark.parametrize("K", [2.0, 20.0])
def test_the_smooth_gradient_is_that_of_the_smooth_loss(noisy, K):
    Z = signed(*noisy)
    phi = np.random.default_rng(0).exponential(size=len(Z))
    w = np.array([0.3, 0.5, -0.7, 0.2, 0.1])
    gradient = smooth.compute_smooth_gradient(np.ascontiguousarray(Z.T), Z @ w, phi, K)
    for j, e in enumerate(np.eye(5)):
        ahead, behind = (smooth.compute_smooth_loss(Z @ (w + h * e), phi, K) for h in (1e-6, -1e-6))
        assert gradient[j] == pytest.approx((ahead - behind) / 2e-6, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_sla_follows_figures_7_and_8(noisy, weighted):
    X, y = noisy
    X = scale_parts(X, X, "standard")[0]
    phi = np.random.default_rng(1).exponential(size=len(y)) if weighted else np.ones(len(y))
    phi *= len(y) / phi.sum()
    start = [0.1, 0.4, -0.2, 0.3, 0.2]
    ours = SmoothLossClassifier(seeding=start).fit(X, y, sample_weight=phi)
    stages = [(2.0, 8.0, 0.2), (20.0, 4.0, 0.1), (200.0, 2.0, 0.05)]
    theirs = python_sla(signed(X, y), phi, np.array(start), stages, (10.0, 0.05))
    np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theirs, rtol=1e-6, atol=1e-6)
    assert ours.training_errors_ == np.sum(signed(X, y) @ theirs <= 0)


def test_weights_that_overflow_are_not_chosen(monkeypatch, noisy):
    """NaN compares as no error: it must not pass for the best."""
    X, y = noisy
    true = LibLinearClassifier._solve_grid

    def overflowing(self, X, y):
        for C, weights in true(self, X, y):
            yield C, weights if C == 0.5 else np.full_like(weights, np.nan)

    monkeypatch.setattr(LibLinearClassifier, "_solve_grid", overflowing)
    learner = LibLinearClassifier("logistic").fit(X, y)
    assert learner.C_ == 0.5
    assert learner.training_errors_ == strict_errors(learner, X, y) > 0
    with pytest.raises(ValueError, match="no C gives finite weights; scale the features"):
        LibLinearClassifier("logistic", C=[1.0]).fit(X, y)
    assert make_learner("sla", {}).fit(X, y).training_errors_ < len(y) / 2  # its start is one of the good
