"""Speed of what several classes need, as ratios measured in one run: `make bench`."""

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


def test_stump_reference_tree(measure, halves):
    """scikit-learn's tree of depth one, with sample weights."""
    X, signs, phi = halves
    X, tree = X.astype(np.float32), DecisionTreeClassifier(max_depth=1)  # float32: no conversion is counted
    measure(STUMP, "stump_reference_tree", lambda: tree.fit(X, signs, sample_weight=phi), rounds=10)


def test_stump_kernel(measure, halves):
    X, signs, phi = halves
    groups = group_values(X)
    room, signed = np.empty(groups[2].size), signs * phi
    measure(STUMP, "stump_kernel", lambda: find_best_stump(*groups, signed, room), rounds=200)


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


def test_ecc_reference_trees(measure, digits):
    measure(ECC, "ecc_reference_trees", lambda: ecc_over_trees(*digits, 20), 20, 3)


def test_ecc_stumps(measure, digits):
    boosted = AdaBoostECCClassifier("stump", rounds=500)
    measure(ECC, "ecc_stumps", lambda: boosted.fit(*digits), 500, 3)
    assert boosted.n_rounds_ == 500


def test_boosted_stumps(measure, halves):
    learner = BoostedStumpsClassifier()
    measure("50 boosted stumps, pendigits", "boosted_stumps", lambda: learner.fit(*halves))
