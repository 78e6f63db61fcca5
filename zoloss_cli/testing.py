"""Conformance checks for learners, and a list of their limitations.

A learner derived from zoloss's base classes must pass scikit-learn's checks and all of CHECKS; any other
estimator must pass EXTERNAL_CHECKS. Each check raises AssertionError, or whatever the learner raised.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from zoloss_cli.config.learners import resolve_class
from zoloss_cli.data.dataset import load_dataset
from zoloss_cli.learners.external import ExternalLearner
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.progress import check_reported_result
from zoloss_cli.registry import (
    LEARNERS,
    LearnerRegistration,
    find_registration,
    is_external,
    make_learner,
    register_class,
)
from zoloss_cli.utils.imports import allow_code
from zoloss_cli.utils.signature import learner_parameters

ExternalFactory = Callable[[], ExternalLearner]  # builds the estimator to check, unfitted, in its adapter


def find_faults(build: ExternalFactory, problem: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Return the faults of an estimator, one sentence each."""
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in EXTERNAL_CHECKS:
            try:
                check(build, *problem)
            except AssertionError as error:
                faults.append(" ".join(str(error).split()))
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                faults.append(f"it fails with {reason}")
            if faults and check is check_fit_and_predict:
                break  # all others would fail the same way
    return faults


def list_limits(build: ExternalFactory) -> list[str]:
    """Return the limitations of an estimator and their consequences for experiments, one sentence each."""
    learner = build()
    estimator, limits = learner.estimator, []
    if learner.deterministic:
        limits.append("it has no parameter random_state, so it must not draw random numbers")
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        limits.append("its fit takes no sample_weight, so class weights are not supported")
    if not hasattr(learner, "decision_function"):
        limits.append(
            "it has no decision_function and no predict_proba, so metrics based on scores are not available"
        )
    if not learner.multiclass:
        limits.append("it supports only two classes")
    if not hasattr(estimator, "get_params"):
        limits.append("it has no get_params, so scikit-learn cannot clone it")
    return limits


def check_fit_and_predict(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that it fits, predicts only the classes it was given, and leaves its input unchanged."""
    predicted = build().fit(X, y).predict(X)
    assert predicted.shape == y.shape, f"predict returns the shape {predicted.shape} for {len(y)} samples"


def check_seed_is_obeyed(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that two fits with the same seed agree."""
    first, second = (build().fit(X, y) for _ in range(2))
    same = np.array_equal(first.predict(X), second.predict(X))
    if same and hasattr(first, "decision_function"):
        same = np.array_equal(first.decision_function(X), second.decision_function(X))
    assert same, (
        "it ignores its seed: two fits with the same random_state differ, so results are not reproducible"
    )


def check_scores_match_predictions(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that scores for two classes are finite, one per sample, with the sign of the prediction."""
    learner = build().fit(X, y)
    if not hasattr(learner, "decision_function"):
        return
    scores, positive = learner.decision_function(X), learner.predict(X) == 1
    assert scores.shape == y.shape, f"scores of {len(y)} samples of two classes have the shape {scores.shape}"
    assert np.all(np.isfinite(scores)), "some scores are not finite"
    agree = np.all(scores[positive] >= 0) and np.all(scores[~positive] <= 0)
    assert agree, "scores do not match predictions: the second class must have scores above 0"


def check_is_clonable(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that an estimator with `get_params` can be cloned."""
    estimator = build().estimator
    if hasattr(estimator, "get_params"):
        try:
            clone(estimator)
        except Exception as error:
            raise AssertionError(f"it cannot be cloned: {error}") from error


def check_more_classes(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that it fits three classes, unless it declares that it supports only two."""
    if build().multiclass:
        X, y = load_dataset("iris")
        try:
            build().fit(X, y).predict(X)
        except Exception as error:
            raise AssertionError(
                f"it fails on three classes with {type(error).__name__}: {error}; if it supports only two, "
                "give its class the attribute multiclass = False"
            ) from error


def check_reported_values(build: ExternalFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that the trace decreases to the counted errors, and that no bound exceeds them."""
    learner = build().fit(X, y)
    if learner.reports:
        try:
            check_reported_result(learner, int(np.count_nonzero(learner.predict(X) != y)))
        except ValueError as error:
            raise AssertionError(str(error)) from error


EXTERNAL_CHECKS: tuple[Callable[[ExternalFactory, np.ndarray, np.ndarray], None], ...] = (
    check_fit_and_predict,
    check_seed_is_obeyed,
    check_scores_match_predictions,
    check_is_clonable,
    check_more_classes,
    check_reported_values,
)


# Checks that searches with random draws cannot pass.
EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"
SPARSE_EQUIVALENCE = "check_sample_weight_equivalence_on_sparse_data"
LearnerFactory = Callable[[], Any]  # builds the learner to check, unfitted
Check = Callable[[LearnerFactory, np.ndarray, np.ndarray], None]


def check_learner(
    learner: Any, settings: Mapping | None = None, expected_failures: Mapping[str, str] | None = None
) -> list[str]:
    """Check that a learner meets the requirements of experiments.

    A learner derived from zoloss's base classes must satisfy the contracts of scikit-learn and of this package.
    Any other estimator must fit and predict, be reproducible with its seed, leave its input unchanged, and
    report correct errors and bounds. If a file is named, its code is executed.

    Raises AssertionError, or RuntimeError if the learner failed, with the name of the learner and one fault
    per line.

    Parameters
    ----------
    learner : str, type or estimator
        A registered name, the dotted name of a class, a class in a file such as mine.py:MyClass, a class, or an
        estimator with its parameters.
    settings : mapping or None, default=None
        Parameters to check it with; small budgets keep the checks fast.
    expected_failures : mapping of str to str or None, default=None
        Names of the scikit-learn checks that the learner is expected to fail, with the reasons.

    Returns
    -------
    list of str
        The limitations of the learner and their consequences, one sentence each.

    Examples
    --------
    >>> from zoloss_cli import check_learner
    >>> check_learner("margin-perceptron", {"epochs": 50})
    []
    >>> limits = check_learner("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 3})
    >>> limits[-1]
    'its fit takes no sample_weight, so class weights are not supported'
    """
    with allow_code():
        name, entry, build = _resolve_subject(learner, settings)
        if entry.is_external:
            if faults := find_faults(build, build_noisy_problem()):
                raise AssertionError("\n".join(f"the learner '{name}': {fault}" for fault in faults))
            return list_limits(build)
        # A user's class need not treat sample weights like repeated samples.
        asked = isinstance(learner, str) and learner in LEARNERS
        expected = {} if asked else dict.fromkeys((EQUIVALENCE, SPARSE_EQUIVALENCE), "not required")
        _check_own(name, entry, build, expected | dict(expected_failures or {}))
    return []


def _resolve_subject(learner: Any, settings: Mapping | None) -> tuple[str, LearnerRegistration, LearnerFactory]:
    """Return the name of the learner, its registration, and its factory."""
    given = dict(settings or {})
    if isinstance(learner, str):
        named = resolve_class(learner) if is_external(learner) else None
        name, source = (named.learner, named.source) if named else (learner, learner)
        return name, find_registration(source), lambda: make_learner(source, given, 0)
    if isinstance(learner, type):
        entry = register_class(learner)
        return learner.__name__, entry, lambda: entry.build(given, 0)
    entry = register_class(type(learner))
    unfitted = copy.deepcopy(learner)
    for key, value in given.items():
        setattr(unfitted, key, value)
    if entry.is_external:
        return entry.title, entry, lambda: ExternalLearner(copy.deepcopy(unfitted), 0)
    return entry.title, entry, lambda: clone(unfitted)


def _check_own(name: str, entry: LearnerRegistration, build: LearnerFactory, expected: dict[str, str]) -> None:
    """Check a learner derived from zoloss's base classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(build(), expected_failed_checks=expected)
    for check in select_checks(entry):
        try:
            check(build, *build_noisy_problem())
        except Exception as error:
            kind = AssertionError if isinstance(error, AssertionError) else RuntimeError
            raise kind(f"the learner '{name}', {check.__name__}: {error}") from error


def select_checks(entry: LearnerRegistration) -> list[Check]:
    """Return the CHECKS that apply to a learner, which may not support sample weights or streams."""
    left_out: set[Check] = set()
    if not entry.accepts_sample_weight:
        left_out |= set(WEIGHT_CHECKS)
    if not hasattr(entry.learner_class, "partial_fit"):
        left_out |= set(STREAM_CHECKS)
    return [check for check in CHECKS if check not in left_out]


def is_baseline(learner: Any) -> bool:
    """Return whether a learner has scikit-learn's tag `poor_score`."""
    return get_tags(learner).classifier_tags.poor_score


def build_noisy_problem() -> tuple[np.ndarray, np.ndarray]:
    """Return 120 samples with 4 features, about a tenth of them mislabelled, and their labels."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (120, 4))
    y = (X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + 0.4 * rng.standard_normal(120) > 0).astype(int)
    return X, y


def check_labels_of_any_kind(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that string labels give the same predictions as 0 and 1."""
    plain = build().fit(X, y)
    words = build().fit(X, np.where(y == 1, "yes", "no"))
    assert list(words.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(words.predict(X) == "yes", plain.predict(X) == 1)


def check_scores_and_predictions(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that scores of at least 0 mean the second class, linear scores are linear, and errors are few."""
    learner = build().fit(X, y)
    scores = learner.decision_function(X)
    if isinstance(learner, LinearLearner):
        np.testing.assert_allclose(scores, X @ learner.coef_[0] + learner.intercept_[0])
    np.testing.assert_array_equal(learner.predict(X), (scores >= 0).astype(int))
    assert is_baseline(learner) or np.mean(learner.predict(X) != y) < 0.35


def check_same_seed_gives_same_result(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that equal seeds, clones and pickles, before and after fit, give equal scores."""
    first = build().fit(X, y)
    scores = first.decision_function(X)
    again = clone(pickle.loads(pickle.dumps(build())))
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), scores)


def check_parameters_are_declared(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that every parameter has a description, and that an invalid value is rejected by name."""
    learner = type(build())
    assert learner.__doc__, "no docstring"
    for key, field in learner_parameters(learner).model_fields.items():
        assert field.description, f"{key} has no description"
        with assert_refuses(f"{learner.__name__}: {key}="):
            build().set_params(**{key: object()}).fit(X, y)


def check_refuses_one_class_and_non_finite_data(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that labels of a single class and non-finite features are rejected."""
    with assert_refuses("class"):
        build().fit(X, np.ones_like(y))
    with assert_refuses(r"NaN|infinity"):
        build().fit(np.where(X > 0.9, np.nan, X), y)


def check_data_frames_keep_names(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that DataFrame column names are stored, and their order is enforced."""
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = build().fit(frame, pd.Series(np.where(y == 1, "yes", "no")))
    assert list(learner.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(learner.predict(frame) == "yes", build().fit(X, y).predict(X) == 1)
    with assert_refuses("same order"):
        learner.predict(frame[["b", "a", "c", "d"]])


def check_pipelines_and_grids(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check the learner in a pipeline, in cross-validation, and in a grid search."""
    pipeline = make_pipeline(StandardScaler(), build())
    score = np.mean(cross_val_score(pipeline, X, y, cv=2))
    assert score > (0.5 if is_baseline(build()) else 0.6)
    step = pipeline.steps[-1][0]
    grid = {f"{step}__{key}": [value] for key, value in build().get_params(deep=False).items()}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), pipeline.fit(X, y).predict(X))


def check_meta_estimators(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check three classes through scikit-learn's meta-estimators, and probabilities through calibration."""
    flowers, kinds = load_dataset("iris")
    flowers, kinds = StandardScaler().fit_transform(flowers)[::3], kinds[::3]
    for meta_estimator in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier):
        options = {"random_state": 0, "code_size": 2} if meta_estimator is OutputCodeClassifier else {}
        fitted = meta_estimator(build(), **options).fit(flowers, kinds)
        assert list(fitted.classes_) == [0, 1, 2]
        # Chance level is a third; some learners do not converge, since the middle class is not separable.
        right = fitted.score(flowers, kinds)
        assert is_baseline(build()) or right > 0.5, f"{meta_estimator.__name__}: {right}"
    probabilities = CalibratedClassifierCV(build(), cv=2).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert is_baseline(build()) or probabilities[y == 1, 1].mean() > probabilities[y == 0, 1].mean()


def check_weighted_ensembles(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check the learner in scikit-learn's own boosting and bagging, which pass sample weights."""
    for ensemble in (AdaBoostClassifier, BaggingClassifier):
        fitted = ensemble(build(), n_estimators=2, random_state=0).fit(X, y)
        assert fitted.score(X, y) > (0.5 if is_baseline(build()) else 0.65)


def check_sample_weight_scale_does_not_matter(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that only the ratios of sample weights count."""
    phi = np.random.default_rng(1).exponential(size=len(y))
    small = build().fit(X, y, sample_weight=phi)
    # Scaling by a power of two is exact, so the scores must be identical.
    large = build().fit(X, y, sample_weight=1024.0 * phi)
    np.testing.assert_array_equal(small.decision_function(X), large.decision_function(X))


def check_sample_weights_matter(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that sample weights change the result, by more than rounding."""
    # They differ within classes, too: the weights of whole classes do not change the means of these.
    phi = np.where(y == 1, 9.0, 1.0) * np.where(X[:, 0] > 0.0, 2.0, 1.0)
    weighted = build().fit(X, y, sample_weight=phi)
    assert not np.allclose(weighted.decision_function(X), build().fit(X, y).decision_function(X))


def check_refuses_wrong_sample_weights(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that negative sample weights and all-zero weights are rejected."""
    name = type(build()).__name__
    with assert_refuses(f"(?i){name}: .*sample weights .*zero"):
        build().fit(X, y, sample_weight=np.zeros(len(y)))
    with assert_refuses(f"{name}: the weight of sample 3 is negative"):
        build().fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1.0, 1.0))


def check_partial_fit(build: LearnerFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that several calls are equivalent to one, and that fit starts over."""
    words = np.where(y == 1, "yes", "no")
    with assert_refuses("first call .*classes"):
        build().partial_fit(X, words)
    one, several = build().partial_fit(X, words, classes=["yes", "no"]), build()
    for part in (slice(0, 1), slice(1, 50), slice(50, None)):
        several.partial_fit(X[part], words[part], classes=["no", "yes"])
    assert list(several.classes_) == ["no", "yes"]
    np.testing.assert_allclose(several.decision_function(X), one.decision_function(X), rtol=1e-9, atol=1e-12)
    with assert_refuses("'perhaps'"):
        several.partial_fit(X[:1], ["perhaps"])
    scores = build().fit(X, words).decision_function(X)
    np.testing.assert_array_equal(several.fit(X, words).decision_function(X), scores)
    assert not np.array_equal(several.partial_fit(X[::-1], words[::-1]).decision_function(X), scores)


STREAM_CHECKS: tuple[Check, ...] = (check_partial_fit,)
WEIGHT_CHECKS: tuple[Check, ...] = (
    check_weighted_ensembles,
    check_sample_weight_scale_does_not_matter,
    check_sample_weights_matter,
    check_refuses_wrong_sample_weights,
)
CHECKS: tuple[Check, ...] = (
    check_labels_of_any_kind,
    check_scores_and_predictions,
    check_same_seed_gives_same_result,
    check_parameters_are_declared,
    check_refuses_one_class_and_non_finite_data,
    check_data_frames_keep_names,
    check_pipelines_and_grids,
    check_meta_estimators,
    *STREAM_CHECKS,
    *WEIGHT_CHECKS,
)


@contextlib.contextmanager
def assert_refuses(pattern: str) -> Iterator[None]:
    """Assert that the block raises a ValueError whose message matches the pattern."""
    message = "nothing"
    try:
        yield
    except ValueError as error:
        message = str(error)
    assert re.search(pattern, message), f"a ValueError must say '{pattern}', and the message is: {message}"
