"""How long scoring systems of 5 terms take to be found and proved: `make bench`."""

from __future__ import annotations

import pytest

from zoloss_cli import ScoringSystemClassifier, load_dataset


@pytest.mark.parametrize("nodes", [0, 5_000_000], ids=["found", "proved"])
@pytest.mark.parametrize(("name", "fewest"), [("breast", 13), ("heart", 34), ("votes84", 9)])
def test_scoring_system(benchmark, name, fewest, nodes):
    benchmark.group, benchmark.name = "scoring system of 5 terms", f"{name}, {'proved' if nodes else 'found'}"
    benchmark.extra_info["units"] = 1
    X, y = load_dataset(name)
    seeds = iter(range(1000))

    def fit():
        model = ScoringSystemClassifier(max_terms=5, max_points=5, nodes=nodes, random_state=next(seeds))
        return model.fit(X, y)

    model = benchmark.pedantic(fit, rounds=5, warmup_rounds=1)
    assert model.training_errors_ == fewest
    assert model.optimal_ == bool(nodes)
