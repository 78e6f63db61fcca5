"""Random targets: one a seed, about balanced, of all three models, as complex as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from zoloss_cli.data import generators as data_engine
from zoloss_cli.data.dataset import generate
from zoloss_cli.registry import make_learner


@pytest.mark.parametrize("model", ["network", "svm", "rbf"])
def test_every_seed_has_a_target_of_its_own(model):
    pools = [generate("data_engine", seed, model=model, complexity=6) for seed in (1, 2, 1)]
    np.testing.assert_array_equal(pools[0].X, pools[2].X)
    np.testing.assert_array_equal(pools[0].y, pools[2].y)
    assert pools[0].X.shape == (3400, 8)
    assert np.abs(pools[0].X).max() <= 1.0
    targets = [data_engine.build_random_target(np.random.default_rng(s), model, 8, 6) for s in range(30)]
    labels = [target(pools[0].X) >= 0 for target in targets]
    assert all(0.45 < y.mean() < 0.55 for y in labels)
    # On the same points two targets agree on about half.
    agreement = [np.mean(a == b) for i, a in enumerate(labels) for b in labels[:i]]
    assert 0.4 < np.mean(agreement) < 0.6
    assert max(agreement) < 0.95


def test_any_is_each_of_the_models_in_turn(monkeypatch):
    made = []

    def watched(name, model):
        def make(*arguments):
            made.append(name)
            return model(*arguments)

        return make

    monkeypatch.setattr(
        data_engine, "MODELS", {name: watched(name, model) for name, model in data_engine.MODELS.items()}
    )
    for seed in range(30):
        generate("data_engine", seed, size=10)
    counts = {name: made.count(name) for name in ("network", "svm", "rbf")}
    assert min(counts.values()) >= 4
    generate("data_engine", 1, size=10, model="rbf")
    assert made[-1] == "rbf"


def test_labels_are_flipped_and_nothing_else():
    for seed in range(3):
        straight, turned = (generate("data_engine", seed, size=5000, flipped=share) for share in (0.0, 0.3))
        np.testing.assert_array_equal(straight.X, turned.X)
        assert np.mean(straight.y != turned.y) == pytest.approx(0.3, abs=0.03)


def test_complexity_makes_a_network_harder_for_a_line():
    """One hidden unit is a line; many are not."""

    def errors(complexity):
        pools = [generate("data_engine", s, size=600, model="network", complexity=complexity) for s in range(4)]
        return np.mean([1 - make_learner("lr", {}).fit(p.X, p.y).score(p.X, p.y) for p in pools])

    assert errors(1) < 0.02
    assert errors(30) > 0.1
