"""Learners against the papers' pseudo-code, other libraries, brute force and invariants."""

from itertools import pairwise

import numpy as np
import pytest
from problems import fewest_errors, signs_of, strict_errors, tiny_problem, weights_of
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import SVC
from twins import (
    python_averaged_perceptron,
    python_perceptron,
    python_pocket,
    python_sgd,
    python_voted_perceptron,
)

from zoloss_cli.kernels import pocket
from zoloss_cli.kernels.numeric import RANDOM, build_alias_table, draw_epoch
from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE, MarginSGDClassifier
from zoloss_cli.learners.linear.perceptrons import (
    AveragedPerceptronClassifier,
    BatchPerceptronClassifier,
    MarginPerceptronClassifier,
    PerceptronClassifier,
    PocketClassifier,
    ROMMAClassifier,
    VotedPerceptronClassifier,
)
from zoloss_cli.learners.linear.surrogates import BayesPointClassifier, SoftSVMClassifier
from zoloss_cli.learners.mistake_bounds import InseparableBoundClassifier
from zoloss_cli.learners.search.rcd import RCDClassifier


def drawn_indices(seed, n, epochs, table=NO_ALIAS_TABLE):
    """The examples that a kernel draws for a learner with this random_state."""
    counter = np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64)
    indices, out = np.arange(n).astype(np.int32), []
    for _ in range(epochs):
        counter = np.uint64(draw_epoch(RANDOM, indices, counter, *table))
        out.append(indices.copy())
    return np.concatenate(out)


def draw_weights(weighting):
    """Sample weights, the alias table of draws, and steps."""
    phi = np.random.default_rng(1).exponential(size=120)
    phi[7] = 0.0
    phi /= phi.sum()
    if weighting == "reweight":
        return phi, NO_ALIAS_TABLE, 120 * phi
    return phi, build_alias_table(phi.copy()), np.ones(120)


def test_pocket_in_the_primal_is_the_same(noisy, monkeypatch):
    X, y = noisy
    dual = PocketClassifier(epochs=30, random_state=1).fit(X, y)
    monkeypatch.setattr(pocket, "MAX_GRAM_SAMPLES", 10)
    primal = PocketClassifier(epochs=30, random_state=1).fit(X, y)
    np.testing.assert_allclose(weights_of(primal), weights_of(dual), atol=1e-9)
    assert primal.n_error_counts_ == dual.n_error_counts_


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_pocket_follows_algorithm_2_1(noisy, weighting):
    X, y = noisy
    rows, signs = signs_of(X, y)
    for ratchet in (True, False):
        ours = PocketClassifier(epochs=12, ratchet=ratchet, random_state=5).fit(X, y)
        theirs = python_pocket(rows, signs, np.zeros(5), drawn_indices(5, 120, 12), ratchet)
        np.testing.assert_allclose(weights_of(ours), theirs, atol=1e-9)
    phi, table, step = draw_weights(weighting)
    ours = PocketClassifier(epochs=10, weighting=weighting, random_state=2).fit(X, y, sample_weight=phi)
    theirs = python_pocket(rows, signs, np.zeros(5), drawn_indices(2, 120, 10, table), True, phi, step)
    np.testing.assert_allclose(weights_of(ours), theirs, atol=1e-9)


def test_averaged_perceptron_follows_algorithm_2_6(noisy):
    X, y = noisy
    rows, signs = signs_of(X, y)
    phi = np.random.default_rng(1).exponential(size=120)
    ours = AveragedPerceptronClassifier(epochs=8, seeding="fld", random_state=4).fit(X, y, sample_weight=phi)
    start = weights_of(FLDClassifier().fit(X, y, sample_weight=phi))
    theirs = python_averaged_perceptron(rows, signs, start, drawn_indices(4, 120, 8), 120 * phi / phi.sum())
    scale = weights_of(ours)[1] / theirs[1]
    assert scale > 0
    np.testing.assert_allclose(weights_of(ours), scale * theirs, rtol=1e-9)


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_voted_perceptron_follows_freund_and_schapire(noisy, weighting):
    X, y = noisy
    rows, signs = signs_of(X, y)
    phi, table, step = draw_weights(weighting)
    ours = VotedPerceptronClassifier(epochs=8, weighting=weighting, random_state=4).fit(X, y, phi)
    new = np.random.default_rng(2).normal(size=(300, 4))
    theirs = python_voted_perceptron(
        rows, signs, drawn_indices(4, 120, 8, table), np.column_stack([np.ones(300), new]), step
    )
    np.testing.assert_allclose(ours.decision_function(new), theirs, atol=1e-9)
    assert ours.n_mistakes_ > 64  # the room for vectors has grown


def test_perceptron_and_sgd_follow_their_rules(noisy):
    X, y = noisy
    rows, signs = signs_of(X, y)
    drawn = drawn_indices(3, 120, 5)
    ours = PerceptronClassifier(epochs=5, random_state=3).fit(X, y)
    np.testing.assert_allclose(weights_of(ours), python_perceptron(rows, signs, np.zeros(5), drawn), atol=1e-9)
    for cost in ("hinge", "mls", "ls", "perceptron"):
        ours = MarginSGDClassifier(cost=cost, epochs=5, rate=0.01, random_state=3).fit(X, y)
        theirs = python_sgd(rows, signs, np.zeros(5), drawn, 0.01, cost)
        np.testing.assert_allclose(weights_of(ours), theirs, rtol=1e-9, atol=1e-12)


def test_the_alias_table_draws_by_weight():
    phi = np.array([0.5, 0.05, 0.0, 0.25, 0.2])
    cut, alias = build_alias_table(phi.copy())
    share = np.zeros(5)
    for k in range(5):
        own = min(cut[k] / 2**32, 1.0)
        share[k] += own / 5
        share[alias[k]] += (1 - own) / 5
    np.testing.assert_allclose(share, phi, atol=1e-9)


def test_batch_perceptron_sums_over_the_mistakes(noisy):
    X, y = noisy
    rows, signs = signs_of(X, y)
    w = np.zeros(5)
    for _ in range(7):
        wrong = np.where(rows @ w >= 0, 1, -1) != signs
        w = w + 0.5 * (signs[wrong, None] * rows[wrong]).sum(axis=0)
    np.testing.assert_allclose(
        weights_of(BatchPerceptronClassifier(epochs=7, rate=0.5).fit(X, y)), w, atol=1e-9
    )


def separable(seed, n=60, margin=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (4 * n, 3))
    score = X @ [1.0, -1.0, 0.5] + 0.1
    keep = np.flatnonzero(np.abs(score) > margin)[:n]
    return X[keep], (score[keep] > 0).astype(int)


def test_margin_perceptron_keeps_its_bound():
    X, y = separable(0)
    rows, signs = signs_of(X, y)
    unit = np.array([0.1, 1.0, -1.0, 0.5]) / np.linalg.norm([0.1, 1.0, -1.0, 0.5])
    gamma, R = np.min(signs * (rows @ unit)), np.linalg.norm(rows, axis=1).max()
    learner = MarginPerceptronClassifier(gamma=gamma).fit(X, y)
    w = weights_of(learner)
    assert learner.n_updates_ <= 8 * (R / gamma) ** 2 + 4 * R / gamma
    assert np.min(signs * (rows @ w)) / np.linalg.norm(w) >= gamma / 2 - 1e-12


@pytest.mark.parametrize("aggressive", [False, True])
def test_romma_separates_and_keeps_its_constraint(aggressive):
    X, y = separable(1)
    rows, signs = signs_of(X, y)
    learner = ROMMAClassifier(epochs=200, aggressive=aggressive, random_state=0).fit(X, y)
    margins = signs * (rows @ weights_of(learner))
    assert np.all(margins > 0)
    if aggressive:
        best = SVC(kernel="linear", C=1e9, tol=1e-8).fit(X, y)
        largest = 1 / np.linalg.norm(np.r_[best.coef_[0], 0])
        assert margins.min() > 0.9
        assert np.linalg.norm(weights_of(learner)) < 20 / largest


def test_fld_has_the_direction_of_linear_discriminant_analysis(noisy):
    X, y = noisy
    ours = FLDClassifier().fit(X, y).coef_[0]
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).coef_[0]
    np.testing.assert_allclose(ours / np.linalg.norm(ours), theirs / np.linalg.norm(theirs), rtol=1e-9)


def test_fld_of_more_features_than_samples_is_the_shrunk_one():
    rng = np.random.default_rng(5)
    X, y, phi = rng.standard_normal((12, 30)), np.arange(12) % 2, rng.exponential(size=12)
    phi[3], phi = 0.0, phi / phi.sum()
    means = np.array([phi[y == k] @ X[y == k] / phi[y == k].sum() for k in (0, 1)])
    S = (X - means[y]).T @ (phi[:, None] * (X - means[y]))
    S += 1e-10 / (1 - 1e-10) * np.trace(S) / 30 * np.eye(30)
    theirs = np.linalg.solve(S, means[1] - means[0])
    ours = FLDClassifier().fit(X, y, sample_weight=phi)
    np.testing.assert_allclose(ours.coef_[0], theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max())


@pytest.mark.parametrize(
    "learner", [SoftSVMClassifier(random_state=0), BayesPointClassifier(), InseparableBoundClassifier()]
)
def test_features_that_are_zero_change_nothing_even_if_they_outnumber_the_samples(noisy, learner):
    X, y = noisy
    wide = np.column_stack([X, np.zeros((120, 200))])
    plain, padded = clone(learner).fit(X, y), clone(learner).fit(wide, y)
    np.testing.assert_allclose(weights_of(padded)[:5], weights_of(plain), rtol=1e-3)
    np.testing.assert_allclose(weights_of(padded)[5:], 0.0, atol=1e-9)
    assert getattr(padded, "bound_", 0.0) == pytest.approx(getattr(plain, "bound_", 0.0), rel=1e-6)


@pytest.mark.parametrize("variant", ["plain", "bias", "ccd"])
def test_a_cycle_of_rcd_may_be_drawn_in_parts(variant, monkeypatch):
    X = np.random.default_rng(1).standard_normal((40, 150))
    whole = RCDClassifier(variant=variant, epochs=400, random_state=3).fit(X, np.arange(40) % 2)
    monkeypatch.setattr("zoloss_cli.learners.search.rcd.MAX_CYCLE_NUMBERS", 1000)
    parts = RCDClassifier(variant=variant, epochs=400, random_state=3).fit(X, np.arange(40) % 2)
    np.testing.assert_allclose(weights_of(parts), weights_of(whole), rtol=1e-9)
    with pytest.raises(ValueError, match="151 conjugate directions"):
        RCDClassifier(variant="conj").fit(X, np.arange(40) % 2)


@pytest.mark.parametrize("variant", ["plain", "bias", "conj", "conj-bias", "grad", "grad-batch", "ccd"])
@pytest.mark.parametrize("update", ["2.3", "2.4"])
def test_the_error_of_rcd_never_increases(noisy, variant, update):
    X, y = noisy
    phi = np.random.default_rng(2).exponential(size=120)
    learner = RCDClassifier(
        variant=variant, epochs=120, update=update, record_every=1, seeding="fld", random_state=8
    ).fit(X, y, sample_weight=phi)
    rows, signs = signs_of(X, y)
    wrong = signs * (learner.recorded_weights_ @ rows.T) <= 0
    errors = wrong @ phi / phi.sum()
    assert all(b <= a + 1e-12 for a, b in pairwise(errors))
    assert errors[-1] < errors[0]
    np.testing.assert_array_equal(learner.recorded_weights_[-1], weights_of(learner))


def test_rcd_finds_the_optimum_of_tiny_problems():
    for seed in range(12):
        X, y = tiny_problem(seed, 4 + seed % 6, 2, "discrete")
        starts = (RCDClassifier("plain", epochs=4000, random_state=start).fit(X, y) for start in range(3))
        assert min(strict_errors(x, X, y) for x in starts) == fewest_errors(X, y, np.ones(len(y))), seed


def test_rcd_stays_exact_when_its_weights_grow_without_bound():
    """On a tiny problem w grows by orders of magnitude every hundred epochs; nothing may be lost by that."""
    X, y = np.array([[0.0], [0.2], [0.4], [1.0]]), np.array([0, 1, 0, 1])
    learner = RCDClassifier(variant="plain", epochs=60_000, random_state=0, record_every=1).fit(X, y)
    rows, signs = signs_of(X, y)
    errors = (signs * (learner.recorded_weights_ @ rows.T) <= 0).sum(axis=1)
    assert np.abs(learner.recorded_weights_).max() > 1e60
    assert np.all(np.diff(errors) <= 0)
    assert errors[-1] == 1


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_svm_solver_reaches_libsvms_optimum(seed, by_rows):
    rng = np.random.default_rng(seed)
    n, m = 80 + seed, 5
    X = rng.uniform(-1, 1, (n, m))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    C = 10.0 ** rng.uniform(-2, 2)
    phi = rng.exponential(size=n)
    machine = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y, sample_weight=phi)
    rows = np.column_stack([np.ones(n), X])
    Z = rows * y[:, None]
    columns = np.empty((0, 0)) if by_rows else pad_columns(rows)
    w, gap = solve_linear_svm(rows, columns, y, C * phi, 1e-9)

    def objective(w):
        return 0.5 * w[1:] @ w[1:] + (C * phi * np.maximum(0, 1 - Z @ w)).sum()

    theirs = objective(np.r_[machine.intercept_, machine.coef_[0]])
    assert gap < 1e-8
    assert objective(w) <= theirs * (1 + 1e-7)
    assert objective(w) == pytest.approx(theirs, rel=1e-4)
    assert np.abs(np.mean(np.sign(Z @ w) * y == machine.predict(X)) - 1) < 0.03


def test_soft_svm_does_not_depend_on_an_offset_of_the_features(noisy):
    (X, y), offset = noisy, 1e9
    plain, moved = (SoftSVMClassifier(random_state=0).fit(X + by, y) for by in (0.0, offset))
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-4)
    assert np.mean(moved.predict(X + offset) == plain.predict(X)) > 0.99
