"""Facts that the papers state in their text, found again on a few splits of the published protocol."""

from __future__ import annotations

import numpy as np
import pytest

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import find_entry, load_data
from zoloss_cli.data.splits import SplitRule, scale_parts
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear.pocket import PocketClassifier
from zoloss_cli.learners.search.rcd import RCDClassifier


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
        for k, (X, y) in enumerate(training_parts("pima", 40))
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


def test_what_figure_3_shows():
    """Li & Lin (2007), section IV.A; Li's thesis (2006), section 2.4.1: training errors of RCD on pima."""
    variants = [
        ("ccd", "zero"),
        ("ccd", "fld"),
        ("grad", "fld"),
        ("plain", "zero"),
        ("plain", "fld"),
        ("bias", "fld"),
    ]
    early: dict[tuple[str, str], list[float]] = {v: [] for v in variants}
    final: dict[tuple[str, str], list[float]] = {v: [] for v in variants}
    for k, (X, y) in enumerate(training_parts("pima", 25)):
        for variant, seeding in variants:
            learner = RCDClassifier(variant, 2000, seeding, record_every=100, random_state=k).fit(X, y)
            errors = learner.recorded_errors(X, y)
            early[variant, seeding].append(errors[0])
            final[variant, seeding].append(errors[-1])
    mean = {v: np.mean(e) for v, e in final.items()}
    assert mean["plain", "fld"] < mean["plain", "zero"]
    assert mean["ccd", "fld"] < mean["ccd", "zero"]
    assert (
        mean["plain", "zero"] < mean["ccd", "fld"]
    )  # "even without FLD, RCD surpasses CCD with FLD in the end"
    assert max(mean["plain", "fld"], mean["bias", "fld"]) < min(mean["ccd", "fld"], mean["grad", "fld"])
    # "RCD-bias is better than RCD-plain, especially at the beginning"
    assert np.mean(early["bias", "fld"]) < np.mean(early["plain", "fld"])


@pytest.mark.parametrize(
    ("name", "train", "test", "classes", "attributes"),
    [
        ("dna", 2000, 1186, 3, 180),
        ("glass", 214, None, 6, 9),
        ("iris", 150, None, 3, 4),
        ("letter", 16000, 4000, 26, 16),
        ("pendigits", 7494, 3498, 10, 16),
        ("satimage", 4435, 2000, 6, 36),
        ("segment", 2310, None, 7, 18),
        ("vehicle", 846, None, 4, 18),
        ("vowel", 528, 462, 11, 10),
        ("wine", 178, None, 3, 13),
    ],
)
def test_the_multiclass_problems(name, train, test, classes, attributes):
    """Table 4.1 of Li's thesis (2006): `zoloss datasets of configs/thesis/table4.2.yaml`."""
    data = load_data(EmbeddedData(name=name, dataset=name))
    given = find_entry(name).train_rows
    assert (given or len(data.y)) == train
    assert (len(data.y) - given if given else None) == test
    assert (len(data.classes), data.X.shape[1]) == (classes, attributes)
    assert sorted(set(data.y)) == list(range(classes))
