"""Estimators of other packages through the adapter: what they get, and what is counted of them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from zoloss_cli import load_dataset, make_learner
from zoloss_cli.errors import ConfigError
from zoloss_cli.learners.external import ExternalLearner


class Spy:
    """Keeps what it was given."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, samples, labels, sample_weight=None):
        self.given = samples, labels, sample_weight

    def predict(self, samples):
        return np.zeros((len(samples), 1))


def test_the_adapter_is_a_scikit_learn_estimator():
    check_estimator(ExternalLearner(LogisticRegression()))


def test_predictions_and_probabilities_are_those_of_the_estimator(noisy):
    X, y = noisy
    words = np.where(y == 1, "yes", "no")
    plain = LogisticRegression(C=0.3).fit(X, y)
    learner = make_learner("sklearn.linear_model.LogisticRegression", {"C": 0.3}, 0).fit(X, words)
    np.testing.assert_array_equal(learner.predict(X) == "yes", plain.predict(X) == 1)
    np.testing.assert_array_equal(learner.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(learner.decision_function(X), plain.decision_function(X))


def test_probabilities_stand_for_scores_where_there_are_none(noisy):
    X, y = noisy
    learner = ExternalLearner(KNeighborsClassifier(5)).fit(X, y)
    plain = KNeighborsClassifier(5).fit(X, y)
    np.testing.assert_array_equal(learner.decision_function(X), plain.predict_proba(X)[:, 1] - 0.5)
    assert not hasattr(ExternalLearner(Spy()).fit(X, y), "decision_function")
    assert not hasattr(ExternalLearner(LinearSVC()).fit(X, y), "predict_proba")


def test_sample_weights_arrive_or_are_refused(noisy):
    X, y = noisy
    weights = np.where(y == 1, 5.0, 1.0)
    plain = LogisticRegression().fit(X, y, sample_weight=weights)
    learner = ExternalLearner(LogisticRegression()).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(learner.estimator_.coef_, plain.coef_)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample weights"):
        ExternalLearner(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_it_gets_class_indices_from_0_also_where_a_class_is_missing(noisy):
    X, y = noisy
    learner = ExternalLearner(Spy(), np.random.default_rng(3)).fit(X, np.where(y == 1, 7, 4))
    samples, labels, weights = learner.estimator_.given
    np.testing.assert_array_equal(samples, X)
    np.testing.assert_array_equal(labels, y)
    assert weights is None
    assert isinstance(learner.estimator_.random_state, int)
    assert set(learner.predict(X)) == {4}  # a column of predictions counts, too
    assert learner.estimator.random_state is None


def test_all_seeds_come_from_one(noisy):
    X, y = noisy
    nested = BaggingClassifier(DecisionTreeClassifier(splitter="random", max_depth=2), 3)

    def fit(seed):
        return ExternalLearner(clone(nested), np.random.default_rng(seed)).fit(X, y)

    first = fit(1)
    np.testing.assert_array_equal(first.predict_proba(X), fit(1).predict_proba(X))
    assert not np.array_equal(first.predict_proba(X), fit(2).predict_proba(X))
    seeds = {k: v for k, v in first.estimator_.get_params().items() if k.endswith("random_state")}
    assert sorted(seeds) == ["estimator__random_state", "random_state"]
    assert all(isinstance(seed, int) for seed in seeds.values())
    kept = ExternalLearner(RandomForestClassifier(2, random_state=5), 1).fit(X, y)
    assert kept.estimator_.random_state == 5


@pytest.mark.parametrize("count", [2, 3])
def test_several_classes_as_far_as_tags_say(count):
    X, y = load_dataset("iris")
    X, y = X[y < count], y[y < count]
    assert ExternalLearner(DecisionTreeClassifier()).fit(X, y).score(X, y) == 1.0
    assert ExternalLearner(GaussianProcessClassifier()).multiclass
    two = ExternalLearner(Spy())
    two.estimator.multiclass = False
    if count == 3:
        with pytest.raises(ValueError, match="Spy separates two classes, and there are 3"):
            two.fit(X, y)
    else:
        two.fit(X, y)


def test_a_learner_by_its_dotted_name():
    learner = make_learner(
        "sklearn.ensemble.BaggingClassifier",
        {"estimator": {"learner": "sklearn.tree.DecisionTreeClassifier", "max_depth": 2}, "n_estimators": 3},
    )
    assert isinstance(learner.estimator.estimator, DecisionTreeClassifier)
    assert learner.estimator.estimator.max_depth == 2
    assert isinstance(make_learner("sklearn.dummy.DummyClassifier").estimator, DummyClassifier)
    with pytest.raises(ConfigError, match=r"'sklearn\.svm\.LinearSVC' has no parameter 'c'; did you mean 'C'"):
        make_learner("sklearn.svm.LinearSVC", c=1)
