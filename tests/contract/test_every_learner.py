"""Every registered learner keeps scikit-learn's contract and ours; to be registered is to be tested."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.parameters import learner_parameters
from zoloss_cli.registry import learners, make_learner, nested_learners, parameters, registration

NAMES = sorted(learners())
WEIGHTED = [name for name in NAMES if registration(name).takes_weights]
EPOCHS = 60
# Counts, not seconds: what depends on the machine is not the same twice.
BUDGETS = {"epochs": EPOCHS, "steps": 500, "lines": 500, "nodes": 500, "time_limit": None}
OWN_BUDGETS = {"mip": {"nodes": 1}, "certify": {"programs": 0}}

# Why a check of scikit-learn does not apply. Repeating a row is not the same as doubling its weight where
# the number of trials or the random draws depend on the number of rows.
DRAWS = "draws depend on the number of rows, so repeated rows are not a doubled weight"
FOLDS = "cross-validation folds depend on the rows, so repeated rows are not a doubled weight"
SUMS = "weights are summed in another order than repeated rows, which breaks ties otherwise"
UNWEIGHTED_START = "it starts from LIBLINEAR, which knows no sample weights"
EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"
EXCEPTIONS = {
    "PerceptronClassifier": {EQUIVALENCE: DRAWS},
    "AveragedPerceptronClassifier": {EQUIVALENCE: DRAWS},
    "PocketClassifier": {EQUIVALENCE: DRAWS},
    "MarginSGDClassifier": {EQUIVALENCE: DRAWS},
    "BatchPerceptronClassifier": {
        EQUIVALENCE: "steps are relative to the mean weight, which repeated rows change"
    },
    "RCDClassifier": {EQUIVALENCE: SUMS},
    "DecisionStumpClassifier": {EQUIVALENCE: SUMS},
    "SoftSVMClassifier": {EQUIVALENCE: FOLDS},
    "AdaBoostClassifier": {EQUIVALENCE: SUMS},
    "KernelSVMClassifier": {EQUIVALENCE: "C is scaled by the number of rows, which repeated rows change"},
    "BoostedStumpsClassifier": {EQUIVALENCE: SUMS},
    "AdaBoostECCClassifier": {EQUIVALENCE: SUMS},
    "AdaBoostERPClassifier": {EQUIVALENCE: SUMS},
    "OneVsOneClassifier": {EQUIVALENCE: SUMS},
    "OneVsAllClassifier": {EQUIVALENCE: SUMS},
    "PivotClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "SmoothLossClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "BranchAndBoundClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "PrioritizedSearchClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "SwapSearchClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "MixedIntegerClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "CertifyingClassifier": {EQUIVALENCE: UNWEIGHTED_START},
    "FLDClassifier": {
        EQUIVALENCE: "with more features than rows the covariance is singular, and 1e-10 of shrinkage "
        "magnifies the rounding of the weights"
    },
}
DIVERGES = "a constant rate on a squared cost diverges on features of this size; the papers scale to [-1, 1]"
UNSCALED = ("check_n_features_in", "check_fit_idempotent", "check_fit_check_is_fitted")


def make(name, **settings):
    known = parameters(name).model_fields
    settings = {k: v for k, v in BUDGETS.items() if k in known} | OWN_BUDGETS.get(name, {}) | settings
    if nested_learners(parameters(name)):
        settings |= {"base": {"learner": "rcd-bias", "epochs": EPOCHS}}
        settings |= {"rounds": 12} if "rounds" in known else {}
    return make_learner(name, settings, 0)


def expected_failures(estimator):
    known = dict(EXCEPTIONS.get(type(estimator).__name__, {}))
    if getattr(estimator, "cost", None) in ("mls", "ls"):
        known.update(dict.fromkeys(UNSCALED, DIVERGES))
    return known


@parametrize_with_checks([make(name) for name in NAMES], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_any_two_labels(name, noisy):
    X, y = noisy
    plain = make(name).fit(X, y)
    words = make(name).fit(X, np.where(y == 1, "yes", "no"))
    assert list(words.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(words.predict(X) == "yes", plain.predict(X) == 1)


@pytest.mark.parametrize("name", NAMES)
def test_learns_and_recounts(name, noisy):
    X, y = noisy
    learner = make(name).fit(X, y)
    scores = learner.decision_function(X)
    if isinstance(learner, LinearLearner):
        np.testing.assert_allclose(scores, X @ learner.coef_[0] + learner.intercept_[0])
    np.testing.assert_array_equal(learner.predict(X), (scores >= 0).astype(int))
    assert np.mean(learner.predict(X) != y) < 0.35


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_scores(name, noisy):
    X, y = noisy
    first, second = make(name).fit(X, y), make(name).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    copy = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(copy.decision_function(X), first.decision_function(X))
    assert clone(first).get_params().keys() == first.get_params().keys()


# Their directions are not random, or the seed only draws folds, which may choose the same C.
SEED_HARDLY_MATTERS = {"ccd", "rcd-grad-batch", "soft-svm"}
SEEDED = [n for n in NAMES if "random_state" in registration(n).learner_class().get_params()]


@pytest.mark.parametrize("name", sorted(set(SEEDED) - SEED_HARDLY_MATTERS))
def test_another_seed_gives_other_scores(name, noisy):
    X, y = noisy
    changed = make(name).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(changed.decision_function(X), make(name).fit(X, y).decision_function(X))


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_scale_of_sample_weights_does_not_matter(name, noisy):
    X, y = noisy
    phi = np.random.default_rng(1).exponential(size=len(y))
    small = make(name).fit(X, y, sample_weight=phi)
    # A power of two scales without rounding, so that nothing at all may change.
    large = make(name).fit(X, y, sample_weight=1024.0 * phi)
    np.testing.assert_array_equal(small.decision_function(X), large.decision_function(X))


@pytest.mark.parametrize("name", WEIGHTED)
def test_sample_weights_matter(name, noisy):
    X, y = noisy
    phi = np.where(y == 1, 9.0, 1.0)
    weighted = make(name).fit(X, y, sample_weight=phi)
    assert not np.array_equal(weighted.decision_function(X), make(name).fit(X, y).decision_function(X))


@pytest.mark.parametrize("name", WEIGHTED)
def test_sample_weights_must_be_weights(name, noisy):
    X, y = noisy
    who = registration(name).learner_class.__name__
    with pytest.raises(ValueError, match=f"(?i){who}: .*sample weights .*zero"):
        make(name).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match=f"{who}: the sample weight of row 3 is negative"):
        make(name).fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1.0, 1.0))


@pytest.mark.parametrize("name", [n for n in NAMES if "seeding" in parameters(n).model_fields])
def test_seeding_by_a_given_vector(name, noisy):
    X, y = noisy
    zero = make(name, seeding=[0.0] * 5).fit(X, y)
    np.testing.assert_array_equal(zero.coef_, make(name, seeding="zero").fit(X, y).coef_)
    with pytest.raises(ValueError, match="3 weights, but 5 are needed"):
        make(name, seeding=[1.0, 2.0, 3.0]).fit(X, y)


@pytest.mark.parametrize("name", [n for n in NAMES if "record_every" in parameters(n).model_fields])
def test_recording_does_not_change_the_result(name, noisy):
    X, y = noisy
    plain, recorded = make(name).fit(X, y), make(name, record_every=20).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, recorded.coef_)
    assert list(recorded.recorded_epochs_) == [20, 40, 60]
    np.testing.assert_array_equal(recorded.recorded_weights_[-1, 1:], recorded.coef_[0])
    errors = recorded.recorded_errors(X, y)
    assert errors.shape == (3,)
    signs = np.where(y == 1, 1, -1)
    assert errors[-1] == np.mean(signs * recorded.decision_function(X) <= 0)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_declared_and_checked(name, noisy):
    X, y = noisy
    entry = registration(name)
    model = learner_parameters(entry.learner_class)
    assert entry.learner_class.__doc__
    for key, fact in model.model_fields.items():
        assert fact.description, f"{key} has no description"
        bad = make(name).set_params(**{key: object()})
        with pytest.raises(ValueError, match=f"{entry.learner_class.__name__}: {key}="):
            bad.fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_one_class_and_non_finite_data_are_refused(name, noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="class"):
        make(name).fit(X, np.ones_like(y))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make(name).fit(np.where(X > 0.9, np.nan, X), y)
