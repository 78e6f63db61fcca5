"""Facts that the papers state in their text, found again on a few splits of the published protocol."""

import numpy as np
import pytest

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import SplitRule, scale_parts
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear.perceptrons import PocketClassifier


def training_parts(name, count):
    data = load_data(EmbeddedData(name=name, dataset=name))
    for k in range(count):
        train, test = SplitRule(0.8, None, 2007).select_indices(len(data.y), name, k)
        yield scale_parts(data.X[train], data.X[test], "minmax")[0], data.y[train]


@pytest.mark.parametrize(("seeding", "published"), [("zero", 7463.7), ("fld", 33170.0)])
def test_how_often_pocket_counts_errors_on_pima(seeding, published):
    """Li's thesis (2006), section 2.4.2, gives these averages for 2000 epochs."""
    counts = [
        PocketClassifier(epochs=2000, seeding=seeding, random_state=k).fit(X, y).n_error_counts_
        for k, (X, y) in enumerate(training_parts("pima", 15))
    ]
    assert abs(np.mean(counts) - published) < 3 * np.std(counts) / np.sqrt(len(counts))


def test_the_bias_rule_of_the_seed():
    """The midpoint between the classes' means would leave 26.0 % training errors on german, not 23.6 %."""
    errors, midpoint = [], []
    for X, y in training_parts("german", 40):
        fld = FLDClassifier().fit(X, y)
        errors.append(np.mean(fld.predict(X) != y))
        middle = -0.5 * (X[y == 1].mean(axis=0) + X[y == 0].mean(axis=0)) @ fld.coef_[0]
        midpoint.append(np.mean((X @ fld.coef_[0] + middle > 0) != (y == 1)))
    assert np.mean(errors) == pytest.approx(0.236, abs=0.005)
    assert np.mean(midpoint) == pytest.approx(0.260, abs=0.008)
