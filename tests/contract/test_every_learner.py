"""Every registered learner keeps scikit-learn's contract and ours; to be registered is to be tested."""

import inspect

import numpy as np
import pytest
from brief_learners import NAMES, make
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import zoloss_cli
from zoloss_cli.registry import find_registration
from zoloss_cli.testing import EQUIVALENCE, SPARSE_EQUIVALENCE, build_noisy_problem, select_checks

# Why a check of scikit-learn does not apply. Repeating a sample is not the same as doubling its weight where
# the number of trials or the random draws depend on the number of samples.
DRAWS = "draws depend on the number of samples, so repeated samples are not a doubled weight"
FOLDS = "cross-validation folds depend on the samples, so repeated samples are not a doubled weight"
SUMS = "weights are summed in another order than repeated samples, which breaks ties otherwise"
UNWEIGHTED_START = "it starts from LIBLINEAR, which knows no sample weights"
REASONS = {
    DRAWS: "Perceptron AveragedPerceptron VotedPerceptron Pocket MarginSGD",
    SUMS: "OutputCode",
    UNWEIGHTED_START: "Pivot SmoothLoss BranchAndBound PrioritizedSearch SwapSearch MixedInteger Certifying",
    FOLDS: "SoftSVM",
    "steps are relative to the mean weight, which repeated samples change": "BatchPerceptron",
    "C is scaled by the number of samples, which repeated samples change": "KernelSVM",
    "with more features than samples the covariance is singular, and 1e-10 of shrinkage magnifies the rounding "
    "of the weights": "FLD",
}
EXCEPTIONS = {
    f"{name}Classifier": {EQUIVALENCE: why} for why, names in REASONS.items() for name in names.split()
}
for online in ("Perceptron", "AveragedPerceptron", "MarginSGD"):
    EXCEPTIONS[f"{online}Classifier"][SPARSE_EQUIVALENCE] = DRAWS
DIVERGES = "a constant rate on a squared cost diverges on features of this size; the papers scale to [-1, 1]"
UNSCALED = ("check_n_features_in", "check_fit_idempotent", "check_fit_check_is_fitted")


def expected_failures(estimator):
    known = dict(EXCEPTIONS.get(type(estimator).__name__, {}))
    if getattr(estimator, "cost", None) in ("mls", "ls"):
        known.update(dict.fromkeys(UNSCALED, DIVERGES))
    return known


# What scikit-learn asks is the same for all names of a class; how each of them fits is asked below.
ONE_OF_EACH_CLASS = {find_registration(name).target: name for name in NAMES}.values()


@parametrize_with_checks([make(name) for name in ONE_OF_EACH_CLASS], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_what_is_exported_as_an_estimator_is_registered_or_abstract():
    exported = [getattr(zoloss_cli, name) for name in zoloss_cli.__all__]
    estimators = {each for each in exported if inspect.isclass(each) and issubclass(each, BaseEstimator)}
    bases = {each for each in estimators if inspect.isabstract(each)}
    assert {each.__name__ for each in bases} == {"BinaryLearner", "LinearLearner", "SearchLearner"}
    assert estimators - bases == {find_registration(name).learner_class for name in NAMES}


@pytest.mark.parametrize(
    ("name", "check"), [(n, check) for n in NAMES for check in select_checks(find_registration(n))]
)
def test_our_contract(name, check):
    check(lambda: make(name), *build_noisy_problem())


def test_workers_of_joblib_give_the_same_rules(noisy):
    X, y = noisy
    names = ["rcd-bias", "adaboost", "ave-perc", "svm-perceptron", "ecoc"]  # all: test_kernel_copies.py
    here = [make(name).fit(X, y).decision_function(X) for name in names]
    there = Parallel(n_jobs=2)(delayed(_fitted)(make(name), X, y) for name in names)
    for scores, learner in zip(here, there, strict=True):
        np.testing.assert_array_equal(learner.decision_function(X), scores)


def _fitted(learner, X, y):
    return learner.fit(X, y)


# Their directions are not random, or the seed only draws folds, which may choose the same C, or trials that
# the weights do not depend on (tests/oracle/test_rcd_bound.py).
SEED_HARDLY_MATTERS = {"ccd", "rcd-grad-batch", "soft-svm", "scoring", "rcd-bound"}
SEEDED = [n for n in NAMES if "random_state" in find_registration(n).learner_class().get_params()]


@pytest.mark.parametrize("name", sorted(set(SEEDED) - SEED_HARDLY_MATTERS))
def test_another_seed_gives_other_scores(name, noisy):
    X, y = noisy
    changed = make(name).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(changed.decision_function(X), make(name).fit(X, y).decision_function(X))


@pytest.mark.parametrize(
    "name", [n for n in NAMES if "seeding" in find_registration(n).parameter_model.model_fields]
)
def test_seeding_by_a_given_vector(name, noisy):
    X, y = noisy
    zero = make(name, seeding=[0.0] * 5).fit(X, y)
    np.testing.assert_array_equal(zero.coef_, make(name, seeding="zero").fit(X, y).coef_)
    with pytest.raises(ValueError, match="3 weights, but 5 are needed"):
        make(name, seeding=[1.0, 2.0, 3.0]).fit(X, y)


RECORDS_EPOCHS = [
    n for n in NAMES if {"record_every", "epochs"} <= find_registration(n).parameter_model.model_fields.keys()
]


@pytest.mark.parametrize("name", RECORDS_EPOCHS)
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


def mask_one(values):
    return np.ma.masked_array(values, mask=np.arange(np.size(values)).reshape(np.shape(values)) == 3)


@pytest.mark.parametrize("name", NAMES)
def test_masked_values_are_refused(name, noisy):
    X, y = noisy
    learner, weighted = make(name), "sample_weight" in inspect.signature(make(name).fit).parameters
    for given in [{"X": mask_one(X), "y": y}, {"X": X, "y": mask_one(y)}] + weighted * [
        {"X": X, "y": y, "sample_weight": mask_one(np.ones(len(y)))}
    ]:
        with pytest.raises(ValueError, match=r"has masked values, 1 of [0-9]+: leave these samples out"):
            learner.fit(**given)
    learner.fit(np.ma.masked_array(X), np.ma.masked_array(y))  # nothing is masked
    for method in ("predict", "decision_function"):
        with pytest.raises(ValueError, match="X has masked values"):
            getattr(learner, method)(mask_one(X))
    if hasattr(learner, "partial_fit"):
        with pytest.raises(ValueError, match="y has masked values"):
            learner.partial_fit(X, mask_one(y))


WEIGHTED = [name for name in NAMES if "sample_weight" in inspect.signature(make(name).fit).parameters]


@pytest.mark.parametrize("name", WEIGHTED)
def test_only_the_ratios_of_weights_matter_however_large_they_are(name, noisy):
    X, y = noisy
    half = np.where(np.arange(len(y)) % 3 == 0, 0.5, 1.0)
    plain, huge, tiny = (
        make(name).fit(X, y, sample_weight=size * half).decision_function(X)
        for size in (1.0, 2.0**1023, 2.0**-1060)
    )
    np.testing.assert_array_equal(huge, plain)
    np.testing.assert_array_equal(tiny, plain)
    mixed = make(name).fit(X, y, sample_weight=np.where(half == 0.5, 1e-308, 1e308))
    assert np.all(np.isfinite(mixed.decision_function(X)))
    with pytest.raises(ValueError, match="needs two classes with weight"):
        make(name).fit(X, y, sample_weight=np.where(y == 1, 1e-308, 1e308))


@pytest.mark.parametrize("name", [name for name in WEIGHTED if hasattr(make(name), "partial_fit")])
def test_weights_of_partial_fits_are_taken_as_they_are(name, noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="the sample weights are too large to add up; scale them"):
        make(name).partial_fit(X, y, classes=np.unique(y), sample_weight=np.full(len(y), 1e308))
