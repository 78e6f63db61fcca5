"""Learners against the papers' pseudo-code, other libraries, brute force and invariants."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from twins import (
    python_averaged_perceptron,
    python_perceptron,
    python_pocket,
    python_sgd,
    python_voted_perceptron,
)

from zoloss_cli.kernels.numeric import RANDOM, build_alias_table, draw_epoch
from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.learners.boosting.stumps import DecisionStumpClassifier
from zoloss_cli.learners.linear.bayes_point import BayesPointClassifier
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE
from zoloss_cli.learners.linear.perceptrons import (
    AveragedPerceptronClassifier,
    BatchPerceptronClassifier,
    MarginPerceptronClassifier,
    PerceptronClassifier,
    ROMMAClassifier,
    VotedPerceptronClassifier,
)
from zoloss_cli.learners.linear.pocket import PocketClassifier
from zoloss_cli.learners.linear.sgd import MarginSGDClassifier
from zoloss_cli.learners.linear.soft_svm import SoftSVMClassifier
from zoloss_cli.learners.mistake_bounds import InseparableBoundClassifier
from zoloss_cli.learners.search.rcd import RCDClassifier


def weights_of(learner):
    return np.concatenate([learner.intercept_, learner.coef_[0]])


def signed(X, y):
    return np.column_stack([np.ones(len(y)), X]), np.where(y == 1, 1.0, -1.0)


def drawn_indices(seed, n, epochs, table=NO_ALIAS_TABLE):
    """The examples that a kernel draws for a learner with this random_state."""
    counter = np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64)
    indices, out = np.arange(n).astype(np.int32), []
    for _ in range(epochs):
        counter = np.uint64(draw_epoch(RANDOM, indices, counter, *table))
        out.append(indices.copy())
    return np.concatenate(out)


@pytest.mark.parametrize("ratchet", [True, False])
def test_pocket_follows_algorithm_2_1(noisy, ratchet):
    X, y = noisy
    rows, signs = signed(X, y)
    ours = PocketClassifier(epochs=12, ratchet=ratchet, random_state=5).fit(X, y)
    theirs = python_pocket(rows, signs, np.zeros(5), drawn_indices(5, 120, 12), ratchet)
    np.testing.assert_allclose(weights_of(ours), theirs, atol=1e-9)


def test_pocket_in_the_primal_is_the_same(noisy, monkeypatch):
    from zoloss_cli.learners.linear import pocket

    X, y = noisy
    dual = PocketClassifier(epochs=30, random_state=1).fit(X, y)
    monkeypatch.setattr(pocket.pocket, "MAX_GRAM_SAMPLES", 10)
    primal = PocketClassifier(epochs=30, random_state=1).fit(X, y)
    np.testing.assert_allclose(weights_of(primal), weights_of(dual), atol=1e-9)
    assert primal.n_error_counts_ == dual.n_error_counts_


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_pocket_with_sample_weights(noisy, weighting):
    X, y = noisy
    rows, signs = signed(X, y)
    phi = np.random.default_rng(0).exponential(size=120)
    phi /= phi.sum()
    table, step = (
        (NO_ALIAS_TABLE, 120 * phi) if weighting == "reweight" else (build_alias_table(phi), np.ones(120))
    )
    ours = PocketClassifier(epochs=10, weighting=weighting, random_state=2).fit(X, y, sample_weight=phi)
    theirs = python_pocket(rows, signs, np.zeros(5), drawn_indices(2, 120, 10, table), True, phi, step)
    np.testing.assert_allclose(weights_of(ours), theirs, atol=1e-9)


def test_averaged_perceptron_follows_algorithm_2_6(noisy):
    X, y = noisy
    rows, signs = signed(X, y)
    phi = np.random.default_rng(1).exponential(size=120)
    ours = AveragedPerceptronClassifier(epochs=8, seeding="fld", random_state=4).fit(X, y, sample_weight=phi)
    start = weights_of(FLDClassifier().fit(X, y, sample_weight=phi))
    theirs = python_averaged_perceptron(rows, signs, start, drawn_indices(4, 120, 8), 120 * phi / phi.sum())
    scale = weights_of(ours)[1] / theirs[1]
    assert scale > 0
    np.testing.assert_allclose(weights_of(ours), scale * theirs, rtol=1e-9)


def test_averaged_perceptron_in_fixed_order_follows_algorithm_2_2(noisy):
    X, y = noisy
    rows, signs = signed(X, y)
    ours = AveragedPerceptronClassifier(epochs=6, order="fixed").fit(X, y)
    theirs = python_averaged_perceptron(rows, signs, np.zeros(5), np.tile(np.arange(120), 6))
    np.testing.assert_allclose(weights_of(ours) / weights_of(ours)[1], theirs / theirs[1], rtol=1e-9)


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_voted_perceptron_follows_freund_and_schapire(noisy, weighting):
    X, y = noisy
    rows, signs = signed(X, y)
    phi = np.random.default_rng(1).exponential(size=120)
    phi[7] = 0.0
    table, step = (
        (NO_ALIAS_TABLE, 120 * phi / phi.sum())
        if weighting == "reweight"
        else (build_alias_table(phi / phi.sum()), np.ones(120))
    )
    ours = VotedPerceptronClassifier(epochs=8, weighting=weighting, random_state=4).fit(X, y, phi)
    new = np.random.default_rng(2).normal(size=(300, 4))
    theirs = python_voted_perceptron(
        rows, signs, drawn_indices(4, 120, 8, table), np.column_stack([np.ones(300), new]), step
    )
    np.testing.assert_allclose(ours.decision_function(new), theirs, atol=1e-9)
    assert ours.n_mistakes_ > 64  # the room for vectors has grown


def test_the_mean_of_the_vectors_that_vote_is_the_averaged_perceptron(noisy):
    X, y = noisy
    voted = VotedPerceptronClassifier(epochs=6, random_state=4).fit(X, y)
    averaged = AveragedPerceptronClassifier(epochs=6, random_state=4).fit(X, y)
    assert voted.n_mistakes_ == averaged.n_mistakes_
    mean = voted.survival_times_ @ voted.vectors_ / voted.survival_times_.sum()
    np.testing.assert_allclose(weights_of(averaged), mean, rtol=1e-9)


def test_permuted_order_shows_every_example_once_an_epoch():
    from zoloss_cli.kernels.numeric import PERMUTED

    indices = np.arange(50).astype(np.int32)
    draw_epoch(PERMUTED, indices, np.uint64(3), *NO_ALIAS_TABLE)
    assert sorted(indices) == list(range(50))
    assert list(indices) != list(range(50))


def test_perceptron_follows_rosenblatts_rule(noisy):
    X, y = noisy
    rows, signs = signed(X, y)
    ours = PerceptronClassifier(epochs=5, random_state=9).fit(X, y)
    theirs = python_perceptron(rows, signs, np.zeros(5), drawn_indices(9, 120, 5))
    np.testing.assert_allclose(weights_of(ours), theirs, atol=1e-9)


@pytest.mark.parametrize("cost", ["hinge", "mls", "ls", "perceptron"])
def test_sgd_follows_the_gradient(noisy, cost):
    X, y = noisy
    rows, signs = signed(X, y)
    ours = MarginSGDClassifier(cost=cost, epochs=5, rate=0.01, random_state=3).fit(X, y)
    theirs = python_sgd(rows, signs, np.zeros(5), drawn_indices(3, 120, 5), 0.01, cost)
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
    rows, signs = signed(X, y)
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


@pytest.mark.parametrize("seed", range(5))
def test_margin_perceptron_keeps_its_bound(seed):
    X, y = separable(seed)
    rows, signs = signed(X, y)
    unit = np.array([0.1, 1.0, -1.0, 0.5]) / np.linalg.norm([0.1, 1.0, -1.0, 0.5])
    gamma, R = np.min(signs * (rows @ unit)), np.linalg.norm(rows, axis=1).max()
    learner = MarginPerceptronClassifier(gamma=gamma).fit(X, y)
    w = weights_of(learner)
    assert learner.n_updates_ <= 8 * (R / gamma) ** 2 + 4 * R / gamma
    assert np.min(signs * (rows @ w)) / np.linalg.norm(w) >= gamma / 2 - 1e-12


@pytest.mark.parametrize("aggressive", [False, True])
def test_romma_separates_and_keeps_its_constraint(aggressive):
    X, y = separable(1)
    rows, signs = signed(X, y)
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


def test_fld_survives_a_singular_covariance(noisy):
    X, y = noisy
    doubled = np.column_stack([X, X[:, 0], np.zeros(len(y))])
    plain, singular = FLDClassifier().fit(X, y), FLDClassifier().fit(doubled, y)
    np.testing.assert_allclose(
        singular.decision_function(doubled), plain.decision_function(X), rtol=1e-4, atol=1e-4
    )


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
    rows, signs = signed(X, y)
    wrong = signs * (learner.recorded_weights_ @ rows.T) <= 0
    errors = wrong @ phi / phi.sum()
    assert all(b <= a + 1e-12 for a, b in pairwise(errors))
    assert errors[-1] < errors[0]
    np.testing.assert_array_equal(learner.recorded_weights_[-1], weights_of(learner))


@pytest.mark.parametrize("seed", range(40))
def test_rcd_finds_the_optimum_of_tiny_problems(seed):
    """Brute force: some plane through two of the points (nudged to either side) is optimal in the plane."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    X = rng.integers(-5, 6, (n, 2)).astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    rows, signs = signed(X, y)
    optimum = min(signs_error(rows, signs, w) for w in planes(rows))
    found = []
    for start in range(3):
        learner = RCDClassifier(variant="plain", epochs=10_000, random_state=start).fit(X / 5, y)
        found.append(signs_error(signed(X / 5, y)[0], signs, weights_of(learner)))
    assert min(found) == optimum


def test_rcd_stays_exact_when_its_weights_grow_without_bound():
    """On a tiny problem w grows by orders of magnitude every hundred epochs; nothing may be lost by that."""
    X, y = np.array([[0.0], [0.2], [0.4], [1.0]]), np.array([0, 1, 0, 1])
    learner = RCDClassifier(variant="plain", epochs=60_000, random_state=0, record_every=1).fit(X, y)
    rows, signs = signed(X, y)
    errors = (signs * (learner.recorded_weights_ @ rows.T) <= 0).sum(axis=1)
    assert np.abs(learner.recorded_weights_).max() > 1e60
    assert np.all(np.diff(errors) <= 0)
    assert errors[-1] == 1


def signs_error(rows, signs, w):
    return (signs * (rows @ w) <= 0).sum()


def planes(rows):
    """Planes near those through each pair of points, every way the two points may fall, and constants."""
    yield np.array([1.0, 0.0, 0.0])
    yield np.array([-1.0, 0.0, 0.0])
    n = len(rows)
    for i in range(n):
        for j in range(n):
            for a in (-1e-6, 1e-6):
                for b in (-1e-6, 1e-6):
                    normal = np.cross(rows[i], rows[j])
                    size = np.linalg.norm(normal)
                    if size == 0:
                        # Coinciding points: all planes through that point, turned around it.
                        for angle in np.linspace(0, np.pi, 721):
                            direction = np.array([np.cos(angle), np.sin(angle)])
                            w = np.r_[-direction @ rows[i][1:] + a, direction]
                            yield w
                            yield -w
                        continue
                    basis = np.array([rows[i], rows[j], normal / size])
                    w = np.linalg.solve(basis, [a, b, size])
                    yield w
                    yield -w


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("seed", range(8))
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


@pytest.mark.parametrize("offset", [1e5, 1e7, 1e9])
def test_soft_svm_does_not_depend_on_an_offset_of_the_features(noisy, offset):
    X, y = noisy
    plain, moved = (SoftSVMClassifier(random_state=0).fit(X + by, y) for by in (0.0, offset))
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-4)
    assert np.mean(moved.predict(X + offset) == plain.predict(X)) > 0.99


def test_soft_svm_chooses_the_smallest_of_equally_good_C(noisy):
    X, y = noisy
    learner = SoftSVMClassifier(C=[4.0, 4.0 * (1 + 1e-12), 1e-3], random_state=0).fit(X, y)
    assert learner.C_ in (4.0, 1e-3)
    assert SoftSVMClassifier(C=[8.0], random_state=0).fit(X, y).C_ == 8.0


def test_the_stump_is_as_good_as_brute_force():
    rng = np.random.default_rng(4)
    for _ in range(40):
        X = rng.integers(0, 5, (15, 3)).astype(float)
        y = rng.integers(0, 2, 15)
        if len(set(y)) < 2:
            continue
        phi = rng.exponential(size=15)
        phi /= phi.sum()
        signs = np.where(y == 1, 1, -1)
        best = min(
            phi[np.where(X[:, j] >= t, d, -d) != signs].sum()
            for j in range(3)
            for t in np.arange(-0.5, 6)
            for d in (-1, 1)
        )
        stump = DecisionStumpClassifier().fit(X, y, sample_weight=phi)
        assert phi[stump.predict(X) != y].sum() == pytest.approx(best)


def test_the_stump_agrees_with_a_tree_of_depth_one(noisy):
    X, y = noisy
    ours = (DecisionStumpClassifier().fit(X, y).predict(X) != y).sum()
    theirs = (DecisionTreeClassifier(max_depth=1).fit(X, y).predict(X) != y).sum()
    assert ours <= theirs
