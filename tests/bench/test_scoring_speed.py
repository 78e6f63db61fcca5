"""How long scoring systems of 5 terms take to be found and proved: `make bench`."""

import pytest

from zoloss_cli import ScoringSystemClassifier, load_dataset


@pytest.mark.parametrize("nodes", [0, 5_000_000], ids=["found", "proved"])
@pytest.mark.parametrize(("name", "fewest"), [("breast", 13), ("heart", 34), ("votes84", 9)])
def test_scoring_system(measure, name, fewest, nodes):
    X, y = load_dataset(name)
    seeds = iter(range(1000))

    def fit():
        model = ScoringSystemClassifier(max_terms=5, max_points=5, nodes=nodes, random_state=next(seeds))
        return model.fit(X, y)

    model = measure("scoring system of 5 terms", f"{name}, {'proved' if nodes else 'found'}", fit)
    assert model.training_errors_ == fewest
    assert model.optimal_ == bool(nodes)
