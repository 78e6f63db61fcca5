"""Speed of what several classes need, as ratios measured in one run: `make bench`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import find_entry, load_data
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.kernels.stumps import find_best_stump, group_values
from zoloss_cli.learners.boosting.stumps import BoostedStumpsClassifier
from zoloss_cli.learners.multiclass.codes import PARTITIONS
from zoloss_cli.learners.multiclass.ecc import AdaBoostECCClassifier

STUMP = "weighted stump, pendigits"
ECC = "AdaBoost.ECC round, pendigits"
INNER = "50 boosted stumps, pendigits"


@pytest.fixture(scope="module")
def digits():
    data, n = load_data(EmbeddedData(name="pendigits", dataset="pendigits")), find_entry("pendigits").train_rows
    X, _ = scale_parts(data.X[:n], data.X[n:], "minmax")
    return X, data.y[:n]


@pytest.fixture(scope="module")
def halves(digits):
    X, y = digits
    phi = np.random.default_rng(1).exponential(size=len(y))
    return X, np.where(y < 5, -1.0, 1.0), phi / phi.sum()


@pytest.mark.benchmark(group=STUMP)
def test_stump_reference_tree(benchmark, halves):
    """scikit-learn's tree of depth one, with sample weights."""
    X, signs, phi = halves
    X = X.astype(np.float32)  # what it works on: no conversion is counted
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(
        lambda: DecisionTreeClassifier(max_depth=1).fit(X, signs, sample_weight=phi), rounds=10, warmup_rounds=1
    )


@pytest.mark.benchmark(group=STUMP)
def test_stump_kernel(benchmark, halves):
    X, signs, phi = halves
    groups = group_values(X)
    room, signed = np.empty(groups[2].size), signs * phi
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(lambda: find_best_stump(*groups, signed, room), rounds=200, warmup_rounds=5)


def ecc_over_trees(X, y, rounds):
    """Algorithm 4.1 in NumPy over scikit-learn's trees, with the exact max-cut of our own."""
    n, K = len(y), int(y.max()) + 1
    D = np.ones((n, K))
    D[np.arange(n), y] = 0.0
    X = X.astype(np.float32)
    for _ in range(rounds):
        edges = np.array([D[y == k].sum(axis=0) for k in range(K)])
        column = PARTITIONS["max-cut"](edges + edges.T, None)
        signs = column[y].astype(float)
        weights = (D * (column[None, :] != signs[:, None])).sum(axis=1)
        weights /= weights.sum()
        tree = DecisionTreeClassifier(max_depth=1).fit(X, signs, sample_weight=weights)
        said = tree.predict(X)
        e = weights[said != signs].sum()
        alpha = 0.5 * np.log((1.0 - e) / e)
        D *= np.exp(-alpha / 2.0 * (signs[:, None] - column[None, :]) * said[:, None])


@pytest.mark.benchmark(group=ECC)
def test_ecc_reference_trees(benchmark, digits):
    benchmark.extra_info["units"] = 20
    benchmark.pedantic(ecc_over_trees, (*digits, 20), rounds=3)


@pytest.mark.benchmark(group=ECC)
def test_ecc_stumps(benchmark, digits):
    """All 500 rounds of Table 4.2."""
    boosted = AdaBoostECCClassifier("stump", rounds=500)
    benchmark.extra_info["units"] = 500
    benchmark.pedantic(boosted.fit, digits, rounds=3, warmup_rounds=1)
    assert boosted.n_rounds_ == 500


@pytest.mark.benchmark(group=INNER)
def test_boosted_stumps(benchmark, halves):
    X, signs, phi = halves
    learner = BoostedStumpsClassifier()
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(learner.fit, (X, signs, phi), rounds=5, warmup_rounds=1)
