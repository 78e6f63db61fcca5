"""Generators: reproducible, as their papers describe them; random targets of all three models."""

import numpy as np
import pytest

from zoloss_cli.data import generators
from zoloss_cli.data.dataset import generate
from zoloss_cli.data.generators import TANGRAM
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.registry import GENERATORS, make_learner


def test_every_seed_has_a_target_of_its_own():
    for model in ("network", "svm", "rbf"):
        pools = [generate("data_engine", seed, size=800, model=model, complexity=6) for seed in (1, 2, 1)]
        np.testing.assert_array_equal(pools[0].X, pools[2].X)
        np.testing.assert_array_equal(pools[0].y, pools[2].y)
        turned = generate("data_engine", 1, size=800, model=model, complexity=6, flipped=0.3)
        np.testing.assert_array_equal(turned.X, pools[0].X)
        assert np.mean(turned.y != pools[0].y) == pytest.approx(0.3, abs=0.06)
        assert np.abs(pools[0].X).max() <= 1.0
        targets = [generators.build_random_target(np.random.default_rng(s), model, 8, 6) for s in range(15)]
        labels = [target(pools[0].X) >= 0 for target in targets]
        assert all(0.4 < y.mean() < 0.6 for y in labels)
        # On the same points two targets agree on about half.
        agreement = [np.mean(a == b) for i, a in enumerate(labels) for b in labels[:i]]
        assert 0.4 < np.mean(agreement) < 0.6
        assert max(agreement) < 0.95


def test_any_is_each_of_the_models_in_turn(monkeypatch):
    made = []

    def watch(name, model):
        return lambda *arguments: made.append(name) or model(*arguments)

    watched = {name: watch(name, model) for name, model in generators.MODELS.items()}
    monkeypatch.setattr(generators, "MODELS", watched)
    for seed in range(30):
        generate("data_engine", seed, size=10)
    assert min(made.count(name) for name in ("network", "svm", "rbf")) >= 4
    generate("data_engine", 1, size=10, model="rbf")
    assert made[-1] == "rbf"


def test_generators_are_reproducible_and_complete():
    for name in GENERATORS:
        one, again, other = (generate(name, seed, size=400) for seed in (4, 4, 5))
        np.testing.assert_array_equal(one.X, again.X, name)
        assert not np.array_equal(one.X, other.X), name
        assert one.X.shape == (len(one.y), len(one.features)) == (400, len(one.features)), name
        assert set(one.y) == set(range(len(one.classes))), name


def test_ringnorm_and_threenorm_have_their_moments():
    pool = generate("ringnorm", 0, size=40000)
    assert pool.X[pool.y == 0].var() == pytest.approx(4.0, rel=0.02)
    assert pool.X[pool.y == 1].mean() == pytest.approx(1 / np.sqrt(20), abs=0.01)
    pool = generate("threenorm", 0, size=40000)
    a = 2 / np.sqrt(20)
    assert pool.X[pool.y == 1][:, 0].mean() == pytest.approx(a, abs=0.03)
    assert pool.X[pool.y == 1][:, 1].mean() == pytest.approx(-a, abs=0.03)
    assert abs(pool.X[pool.y == 0].mean()) < 0.03
    sums = pool.X[pool.y == 0].sum(axis=1)
    assert np.abs(sums).mean() == pytest.approx(20 * a, rel=0.05)


def test_yinyang_is_symmetric_under_half_a_turn(monkeypatch):
    def classify(points):
        monkeypatch.setattr(generators, "_draw_in_disk", lambda *_: np.asarray(points))
        return generators.yinyang(None, len(points)).y

    points = np.random.default_rng(0).uniform(-0.77, 0.77, (500, 2))
    assert np.all(classify(points) != classify(-points))
    upper = [[-0.5, 0.3], [-0.5, -0.3], [0.5, 0.01], [0, 1.05]]
    lower = [[-0.5, 0.01], [0.5, 0.3], [0, -1.05], [0, -0.8]]
    assert classify(upper + lower).tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_the_tangram_covers_its_square_without_overlap():
    def area(corners):
        return 0.5 * sum(
            ax * by - bx * ay for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True)
        )

    assert sorted(area(c) for c in TANGRAM.values()) == [1, 1, 2, 2, 2, 4, 4]
    pool = generate("tangram", 1, size=20000)
    assert pool.y.min() == 0
    shares = np.bincount(pool.y) / 20000
    np.testing.assert_allclose(shares, [area(c) / 16 for c in TANGRAM.values()], atol=0.015)


def test_disks_have_three_rings():
    pool = generate("disks", 1, size=9000)
    radius = np.hypot(*pool.X.T)
    assert radius.max() <= 1
    np.testing.assert_array_equal(pool.y, ((radius < 1 / 3) | (radius >= 2 / 3)).astype(int))


def test_gaussians_stay_in_the_papers_ranges():
    for seed in range(1, 11):
        pool = generate("gaussians", seed, size=2000, dimensions=3)
        assert np.bincount(pool.y).tolist() == [1000, 1000]
        for side in (0, 1):
            part = pool.X[pool.y == side]
            assert np.abs(part.mean(axis=0)).max() < 5.0 + 4 * 10 / np.sqrt(1000)
            assert 0.85 < part.std(axis=0).min() <= part.std(axis=0).max() < 11.0


def test_outliers_skew_every_convex_loss():
    """Figure 1 of Nguyen & Sanner: at least 61 errors by least squares, SVM and LR, 39 by the best line."""
    pool = generate("outliers", 1)
    far = pool.X[:, 0] < -6.0
    assert (len(pool.y), far.sum(), set(pool.y[far])) == (300, 30, {1})
    X = scale_parts(pool.X, pool.X, "standard")[0]

    def errors(name):
        predicted = make_learner(name, {}, 0).fit(X, pool.y).predict(X)
        return int((predicted != pool.y).sum())

    assert [errors(name) for name in ("fld", "svm", "lr")] == [67, 64, 64]
    assert errors("pivot") == 38
