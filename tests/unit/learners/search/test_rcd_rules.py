"""What the papers leave open of random coordinate descent: ties along a line, and Gaussian directions."""

import numpy as np
import pytest

from zoloss_cli.learners.search.rcd import RCDClassifier


def draw_samples(seed, n=60, m=3):
    rng = np.random.default_rng(seed)
    X = rng.normal([1.0, -2.0, 0.5][:m], [0.5, 2.0, 1.0][:m], (n, m))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 1.0).astype(int)


def search_bias_axis(update, seed):
    """The bias after one epoch of RCD-bias, which is along the bias axis, from given weights."""
    X, y = np.arange(7.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1])
    model = RCDClassifier("bias", 1, seeding=[0.0, 1.0], update=update, random_state=seed).fit(X, y)
    return X, y, float(model.intercept_[0]), float(model.coef_[0, 0])


def test_a_fair_line_search_takes_the_minimum_at_either_end():
    X, y, left, slope = search_bias_axis("2.4", 0)
    assert slope == 1.0
    assert {search_bias_axis("2.4", seed)[2] for seed in range(5)} == {left}
    found = {search_bias_axis("2.4-fair", seed)[2] for seed in range(30)}
    # Every bias between the samples, by brute force.
    cuts = np.sort(-X[:, 0])
    candidates = [cuts[0] - 1, *(cuts[1:] + cuts[:-1]) / 2, cuts[-1] + 1]
    errors = [int(np.sum((X[:, 0] + b >= 0) != (y == 1))) for b in candidates]
    best = [b for b, e in zip(candidates, errors, strict=True) if e == min(errors)]
    assert len(best) > 1
    # 'leftmost' is of t in w - t d: the largest bias, which predicts the positive class most often.
    assert left == pytest.approx(max(best))
    assert sorted(found) == pytest.approx([min(best), max(best)])


def test_directions_by_feature_have_the_features_moments():
    X, _ = draw_samples(2)
    ones = np.column_stack([np.ones(len(X)), X])
    model = RCDClassifier("plain", directions="features")
    D = model._draw_directions(np.random.default_rng(0), 0, 20_000, ones)
    assert D.mean(axis=0) == pytest.approx([0.0, *X.mean(axis=0)], abs=0.06)
    assert D.std(axis=0) == pytest.approx([1.0, *X.std(axis=0)], rel=0.02)


def test_every_variant_fits_with_every_rule():
    X, y = draw_samples(3)
    for variant in ("plain", "bias", "conj", "conj-bias", "grad", "grad-batch", "ccd"):
        for rule in ({"update": "2.4-fair"}, {"directions": "features"}):
            model = RCDClassifier(variant, 50, random_state=0, **rule).fit(X, y)
            assert np.mean(model.predict(X) != y) <= 0.35, (variant, rule)
