"""Learners compared on samples in memory, against scikit-learn and against what the runner stores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from zoloss_cli import FLDClassifier, PocketClassifier, evaluate, load_dataset, make_table
from zoloss_cli.api.evaluate import SEED_NAME
from zoloss_cli.data.splits import SplitRule
from zoloss_cli.errors import ConfigError, DataError, ResultsError, RunError
from zoloss_cli.report.statistics import compute_corrected_t_test


@pytest.fixture(scope="module")
def heart():
    return load_dataset("heart")


def test_errors_and_metrics_are_those_of_scikit_learn(heart):
    X, y = heart
    model = LogisticRegression(C=0.5)
    names = ["test_error", "roc_auc", "f1_macro"]
    result = evaluate(X, y, model, n_splits=3, metric=names, random_state=4, test_size=50)
    for row in result.frame.itertuples():
        train, test = SplitRule(220, 50, 4).select_indices(270, SEED_NAME, row.split)
        scaled = StandardScaler().fit(X[train])  # whose variance is of n, not of n - 1
        ratio = np.sqrt(219 / 220)
        parts = [scaled.transform(X[part]) * ratio for part in (train, test)]
        fitted = LogisticRegression(C=0.5).fit(parts[0], y[train])
        predicted = fitted.predict(parts[1])
        assert row.test_error == pytest.approx(100.0 * np.mean(predicted != y[test]))
        assert row.train_error == pytest.approx(100.0 * np.mean(fitted.predict(parts[0]) != y[train]))
        assert row.roc_auc == pytest.approx(roc_auc_score(y[test], fitted.decision_function(parts[1])))
        assert row.f1_macro == pytest.approx(f1_score(y[test], predicted, average="macro"))
        assert (row.n_train, row.n_test) == (220, 50)
    assert sorted(result.frame["split"]) == [0, 1, 2]


def test_learners_by_name_class_instance_and_label(heart):
    pocket = PocketClassifier(random_state=3, epochs=20)
    learners = ["fld", "adaboost:stump", pocket, LinearSVC(), LinearSVC(C=2.0), "sklearn.dummy.DummyClassifier"]
    result = evaluate(*heart, learners, n_splits=2)
    assert not hasattr(pocket, "coef_")  # a clone was fitted
    expected = ["fld", "adaboost:stump", "PocketClassifier", "LinearSVC", "LinearSVC 2"]
    assert list(dict.fromkeys(result.frame["learner"])) == [*expected, "sklearn.dummy.DummyClassifier"]
    named = evaluate(*heart, {"mine": FLDClassifier(), "yours": "fld"}, n_splits=2)
    by_label = {label: part["test_error"].tolist() for label, part in named.frame.groupby("learner")}
    assert by_label["mine"] == by_label["yours"]
    assert by_label["mine"] == result.frame.query("learner == 'fld'")["test_error"].tolist()


def test_numbers_do_not_depend_on_processes_order_or_company(heart):
    columns = ["learner", "split", "train_error", "test_error"]
    alone = evaluate(*heart, ["pocket"], n_splits=4, random_state=7).frame[columns]
    with parallel_config(backend="threading"):  # processes take seconds to start
        both = evaluate(*heart, ["fld", "pocket"], n_splits=4, random_state=7, n_jobs=2).frame[columns]
    pd.testing.assert_frame_equal(both[both["learner"] == "pocket"].reset_index(drop=True), alone)
    other = evaluate(*heart, ["pocket"], n_splits=4, random_state=8).frame[columns]
    assert other["test_error"].tolist() != alone["test_error"].tolist()


class Changing(ClassifierMixin, BaseEstimator):
    """Overwrites what it is given."""

    def fit(self, X, y):
        X[:], y[:] = 0.0, 0
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


class Failing(Changing):
    """Fails on some splits."""

    def __init__(self, odd_only=True):
        self.odd_only = odd_only

    def fit(self, X, y):
        if not self.odd_only or round(float(X.sum()), 6) > 0:
            raise ValueError("cannot\nbe fitted")
        return self


class Strange(Changing):
    """Predicts what is not a class."""

    def predict(self, X):
        return np.full(len(X), 7)


def test_one_estimator_cannot_change_the_samples_of_another(heart):
    X, y = heart[0].copy(), heart[1].copy()
    result = evaluate(X, y, [Changing, "fld"], n_splits=2)
    np.testing.assert_array_equal(X, heart[0])
    np.testing.assert_array_equal(y, heart[1])
    alone = evaluate(X, y, ["fld"], n_splits=2).frame["test_error"].tolist()
    assert result.frame.query("learner == 'fld'")["test_error"].tolist() == alone


def test_what_fails_is_told_and_others_go_on(heart):
    words = "2 fits failed: Strange, split 0: ValueError: predict returned a value"
    with pytest.warns(UserWarning, match=words):
        result = evaluate(*heart, ["fld", Strange()], n_splits=2)
    assert set(result.frame["learner"]) == {"fld"}
    assert len(result.failures) == 2
    with pytest.raises(
        RunError, match="every fit failed; the first: Failing, split 0: ValueError: cannot be fitted"
    ):
        evaluate(*heart, Failing(odd_only=False), n_splits=2)


def test_a_metric_that_a_learner_cannot_give_leaves_the_others(heart):
    with pytest.warns(UserWarning, match="fld has no neg_log_loss: its records hold no test_probabilities"):
        result = evaluate(*heart, ["fld", LogisticRegression], n_splits=2, metric="neg_log_loss")
    means = result.table.to_frame().xs("mean", axis=1, level="value").loc["data"]
    assert np.isnan(means["FLD"])
    assert means["LogisticRegression"] < 0
    with (
        pytest.warns(UserWarning, match="fld has no"),
        pytest.raises(ConfigError, match="metric: no learner has 'neg_log_loss': its records hold no"),
    ):
        evaluate(*heart, ["fld"], n_splits=2, metric="neg_log_loss")


def test_text_columns_go_through_a_pipeline():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(["red", "blue"], 60), "size": rng.normal(size=60)})
    y = np.where(X["colour"] == "red", "yes", "no")
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    result = evaluate(X, y, make_pipeline(encode, FLDClassifier()), n_splits=3, scale="none")
    assert result.frame["test_error"].eq(0.0).all()
    with pytest.raises(DataError, match="all features must be numbers to be scaled"):
        evaluate(X, y, "fld")


def test_comparisons_are_the_corrected_test(heart):
    result = evaluate(*heart, ["fld", "majority", "pocket"], n_splits=5)
    wide = result.frame.pivot(index="split", columns="learner", values="test_error")
    found = result.compare(against="majority").set_index("learner")
    for learner in ("fld", "pocket"):
        differences = (wide[learner] - wide["majority"]).tolist()
        t, p = compute_corrected_t_test(differences, 216, 54)
        assert (found.t[learner], found.p[learner]) == pytest.approx((t, p))
        assert found.d_z[learner] == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))
        assert found.holm[learner] >= found.p[learner]
    assert found.against.eq("majority").all()
    assert result.describe().count("\n") == 3
    with pytest.raises(ResultsError, match="no learner 'pockt'; did you mean 'pocket'"):
        result.compare(against="pockt")


def test_the_table_is_shown_as_text_and_html_and_taken_by_make_table(heart):
    result = evaluate(*heart, ["fld", "majority"], n_splits=3)
    assert str(result) == str(result.table) == repr(result)
    assert result._repr_html_().count("<table>") == 1
    means = result.frame.groupby("learner")["test_error"].mean()
    frame = make_table(result, learners="majority").to_frame()
    assert frame.loc["data", ("majority", "mean")] == pytest.approx(means["majority"])
    assert frame.shape == (1, 2)


WRONG = [
    ({"learners": ["rcd-baez"]}, ConfigError, "unknown learner 'rcd-baez'; did you mean 'rcd-bias'"),
    ({"learners": []}, ConfigError, "learners: name at least one"),
    ({"learners": ["fld", "fld"]}, ConfigError, "learners: 'fld' is listed more than once"),
    ({"learners": [3]}, ConfigError, "learners: int is not a scikit-learn estimator: it has no method fit"),
    ({"learners": [OneHotEncoder]}, ConfigError, "OneHotEncoder is not a scikit-learn estimator: it has no"),
    ({"learners": ["mine.py:Mine"]}, ConfigError, "learners: import the class of 'mine.py:Mine'"),
    ({"metric": "test_eror"}, ConfigError, "unknown metric 'test_eror'; did you mean 'test_error'"),
    ({"metric": []}, ConfigError, "metric: name at least one"),
    ({"scale": "max"}, ConfigError, "scale: unknown scaling 'max'"),
    ({"n_splits": 0}, ConfigError, "n_splits must be a number of at least 1"),
    ({"random_state": -1}, ConfigError, "random_state must be a number of at least 0"),
    ({"test_size": 1.5}, ConfigError, "test_size must be a share between 0 and 1"),
    ({"test_size": 270}, DataError, "X has 270 samples: too few for 0 to train"),
    ({"y": [0, 1]}, DataError, "y must have one label for each of the 270 samples"),
    ({"y": np.zeros(270)}, DataError, "y has only one class"),
    ({"y": np.full(270, np.nan)}, DataError, "y has missing labels"),
    ({"X": np.full((270, 2), np.nan)}, DataError, "finite numbers only"),
]


def test_what_is_wrong_is_one_sentence(heart):
    for changes, error, message in WRONG:
        arguments = {"X": heart[0], "y": heart[1], "learners": ["fld"], "n_splits": 2} | changes
        with pytest.raises(error, match=message) as refused:
            evaluate(**arguments)
        assert "\n" not in str(refused.value)
