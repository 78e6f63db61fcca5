"""One-vs-one, one-vs-all, kernel SVMs and fixed output codes, against other libraries and brute force."""

import itertools

import numpy as np
import pytest
from problems import several
from sklearn.multiclass import OneVsOneClassifier as SklearnOneVsOne
from sklearn.svm import SVC

from zoloss_cli.learners.boosting.stumps import DecisionStumpClassifier
from zoloss_cli.learners.kernel_svm import KernelSVMClassifier
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.multiclass.ecc import AdaBoostECCClassifier, AdaBoostERPClassifier
from zoloss_cli.learners.multiclass.pairs import (
    OneVsAllClassifier,
    OneVsOneClassifier,
    OutputCodeClassifier,
    draw_best_matrix,
)


def test_one_vs_one_is_scikit_learns_vote():
    X, y = several(2, 150, 4)
    ours = OneVsOneClassifier("stump").fit(X, y)
    theirs = SklearnOneVsOne(DecisionStumpClassifier()).fit(X, y)
    votes = np.zeros((len(y), 4))
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for (a, b), estimator in zip(pairs, theirs.estimators_, strict=True):
        said = estimator.predict(X)
        votes[said == 0, a] += 1
        votes[said == 1, b] += 1
    np.testing.assert_array_equal(ours.predict(X), np.argmax(votes, axis=1))
    np.testing.assert_allclose(3 - votes + 1.5, -ours.decision_function(X))  # pairs without the class: 1/2 each


def test_one_vs_all_asks_each_class():
    X, y = several(5, 120, 4)
    ours = OneVsAllClassifier("stump").fit(X, y)
    assert len(ours.estimators_) == 4
    for a, estimator in enumerate(ours.estimators_):
        single = DecisionStumpClassifier().fit(X, (y == a).astype(int))
        np.testing.assert_array_equal(estimator.predict(X), np.where(single.predict(X) == 1, 1, -1))
    assert len(OneVsAllClassifier("stump").fit(X, y > 1).estimators_) == 1


def test_the_svm_is_libsvm_with_that_kernel():
    X, y = several(4, 60, 2)
    phi = np.random.default_rng(1).exponential(size=len(y))
    for kernel, order in (("perceptron", 2), ("stump", 1)):
        K = -np.linalg.norm(X[:, None] - X[None], order, axis=2)
        theirs = SVC(C=2.0, kernel="precomputed", tol=1e-7).fit(K, y, sample_weight=phi / phi.mean())
        ours = KernelSVMClassifier(2.0, kernel, 1e-7).fit(X, y, sample_weight=phi)
        # LIBSVM keeps the kernel in single precision.
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(K), atol=2e-5)
        turned = KernelSVMClassifier(2.0, kernel, 1e-7).fit(X, 1 - y, sample_weight=phi)
        np.testing.assert_allclose(turned.decision_function(X), -ours.decision_function(X), atol=1e-5)


ALL = [
    AdaBoostECCClassifier("stump", rounds=5),
    AdaBoostERPClassifier("stump", rounds=5),
    OneVsOneClassifier("stump"),
    OneVsAllClassifier("stump"),
]


@pytest.mark.parametrize("learner", ALL, ids=lambda v: type(v).__name__)
def test_one_class_is_refused_and_one_example_is_a_class(learner):
    X, y = several(0, 40, 4)
    with pytest.raises(ValueError, match="needs two classes with weight, but y holds one class: '2'"):
        learner.fit(X, np.full(40, 2))
    y[:4], y[4:] = [0, 1, 2, 3], np.arange(36) % 3  # the class 3 has one example
    learner.fit(X, y)
    assert list(learner.classes_) == [0, 1, 2, 3]
    assert np.all(np.isfinite(learner.decision_function(X)))
    weightless = np.where(y == 3, 0.0, 1.0)
    learner.fit(X, y, sample_weight=weightless)
    assert np.all(np.isfinite(learner.decision_function(X)))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (OneVsOneClassifier("romma"), "OneVsOneClassifier: its base learner romma takes no sample weights"),
        (AdaBoostECCClassifier("ecc"), "its base learner ecc must be one for two classes"),
        (AdaBoostERPClassifier("stump", schedule="LL"), "schedule='LL'"),
        (AdaBoostERPClassifier("stump", "max-3"), "initial='max-3'"),
        (AdaBoostECCClassifier("stump", "max-2"), "partition='max-2'"),
    ],
)
def test_bad_settings_are_named(learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(*several(0, 40, 4))


def test_what_no_learner_can_tell_apart_ends_the_run():
    X, y = np.zeros((12, 2)), np.arange(12) % 3
    with pytest.warns(UserWarning, match="AdaBoostERPClassifier: stump is no better than chance in round 1"):
        empty = AdaBoostERPClassifier("stump").fit(X, y)
    assert empty.n_rounds_ == 0
    assert list(empty.predict(X)) == [0] * 12
    assert empty.unsplit_ == 1  # a constant classifier likes all classes on one side


def test_the_exhaustive_code_has_every_partition_once():
    X, y = several(3, 60, 5)
    code = OutputCodeClassifier("stump", "exhaustive").fit(X, y)
    columns = {tuple(column) for column in code.coding_matrix_.T}
    assert len(columns) == code.coding_matrix_.shape[1] == 2**4 - 1
    every = {(1, *rest) for rest in itertools.product((-1, 1), repeat=4)} - {(1,) * 5}
    assert columns == every


@pytest.mark.parametrize(("code", "n_columns"), [("dense", 26), ("sparse", 39)])
def test_random_codes_are_the_best_of_many(code, n_columns):
    columns = draw_best_matrix(6, code, np.random.default_rng(0))
    assert columns.shape == (n_columns, 6)
    assert np.all(columns.max(axis=1) == 1)
    assert np.all(columns.min(axis=1) == -1)
    rng = np.random.default_rng(1)
    others = rng.choice([-1, 1] if code == "dense" else [-1, 0, 0, 1], (300, n_columns, 6))

    def nearest(matrix):  # brute force over pairs of words
        pairs = itertools.combinations(matrix.T.astype(int), 2)
        return min(np.sum(1 - a * b) / 2 for a, b in pairs)

    assert nearest(columns) >= max(nearest(other) for other in others)


@pytest.mark.parametrize("code", ["dense", "sparse", "exhaustive"])
def test_output_codes_predict_the_class_with_the_nearest_word(code):
    X, y = several(4, 120, 5)
    fitted = OutputCodeClassifier("fld", code, random_state=0).fit(X, y)
    outputs = np.column_stack([np.where(f.decision_function(X) >= 0, 1, -1) for f in fitted.estimators_])
    distances = np.array([[np.sum(1 - word * row) / 2 for word in fitted.coding_matrix_] for row in outputs])
    np.testing.assert_array_equal(fitted.predict(X), distances.argmin(axis=1))
    for column, f in zip(fitted.coding_matrix_.T, fitted.estimators_, strict=True):
        used = column[y] != 0
        alone = FLDClassifier().fit(X[used], column[y][used])
        np.testing.assert_allclose(f.coef_, alone.coef_, rtol=1e-6)


def test_an_exhaustive_code_of_many_classes_is_refused():
    X, y = several(5, 60, 12)
    with pytest.raises(ValueError, match="at most 11 classes, and y holds 12; use code='dense'"):
        OutputCodeClassifier("stump", "exhaustive").fit(X, y)
