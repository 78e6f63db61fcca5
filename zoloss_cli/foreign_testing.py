"""Checks of what an estimator from elsewhere must satisfy to be used in a table, and of what it lacks."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from zoloss_cli.datasets.named import load_dataset
from zoloss_cli.learners.foreign import ForeignLearner
from zoloss_cli.learners.search.claims import check_claims

ForeignFactory = Callable[[], ForeignLearner]  # builds the estimator to check, unfitted, in its adapter


def find_faults(build: ForeignFactory, problem: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Return what is wrong with an estimator, one sentence each; empty if nothing is.

    Parameters
    ----------
    build : callable
        Builds the estimator to check, in its adapter.
    problem : tuple of ndarray
        Samples and labels of two classes.
    """
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in FOREIGN_CHECKS:
            try:
                check(build, *problem)
            except AssertionError as error:
                faults.append(" ".join(str(error).split()))
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                faults.append(f"it ends with {reason}")
            if faults and check is check_fit_and_predict:
                break  # all others would end the same way
    return faults


def list_limits(build: ForeignFactory) -> list[str]:
    """Return what an estimator lacks and what that means for experiments, one sentence each.

    Parameters
    ----------
    build : callable
        Builds the estimator, in its adapter.
    """
    learner = build()
    estimator, limits = learner.estimator, []
    if learner.deterministic:
        limits.append("it has no parameter random_state, so it must not draw random numbers")
    if "sample_weight" not in _list_fit_parameters(estimator):
        limits.append("its fit takes no sample_weight, so classes cannot be weighed")
    if not hasattr(learner, "decision_function"):
        limits.append("it has no decision_function and no predict_proba, so metrics of scores cannot be shown")
    if not learner.multiclass:
        limits.append("it takes two classes only")
    if not hasattr(estimator, "get_params"):
        limits.append("it has no get_params, so that scikit-learn's own tools cannot copy it")
    return limits


def _list_fit_parameters(estimator: Any) -> list[str]:
    return list(inspect.signature(estimator.fit).parameters)


def check_fit_and_predict(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that it fits, predicts only the classes it was given, and leaves its input unchanged."""
    predicted = build().fit(X, y).predict(X)
    assert predicted.shape == y.shape, f"predict of {len(y)} samples gives the shape {predicted.shape}"


def check_seed_is_obeyed(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that two fits with the same seed agree."""
    first, second = (build().fit(X, y) for _ in range(2))
    same = np.array_equal(first.predict(X), second.predict(X))
    if same and hasattr(first, "decision_function"):
        same = np.array_equal(first.decision_function(X), second.decision_function(X))
    assert same, (
        "it ignores its seed: two fits with the same random_state differ, so no number can be reproduced"
    )


def check_scores_go_with_predictions(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that with two classes there is one finite score per sample, large for the second class."""
    learner = build().fit(X, y)
    if not hasattr(learner, "decision_function"):
        return
    scores, positive = learner.decision_function(X), learner.predict(X) == 1
    assert scores.shape == y.shape, f"scores of {len(y)} samples of two classes have the shape {scores.shape}"
    assert np.all(np.isfinite(scores)), "some scores are not finite"
    agree = np.all(scores[positive] >= 0) and np.all(scores[~positive] <= 0)
    assert agree, "scores do not match predictions: the second class must have scores above 0"


def check_parameters_are_kept(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that an estimator with `get_params` can be copied by its parameters."""
    estimator = build().estimator
    if hasattr(estimator, "get_params"):
        try:
            clone(estimator)
        except Exception as error:
            raise AssertionError(f"it cannot be copied by its parameters: {error}") from error


def check_more_classes(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check three classes, unless it declares that it takes only two."""
    if build().multiclass:
        X, y = load_dataset("iris")
        try:
            build().fit(X, y).predict(X)
        except Exception as error:
            raise AssertionError(
                f"three classes end with {type(error).__name__}: {error}; if it is for two, give its class the "
                "attribute multiclass = False"
            ) from error


def check_what_it_reports(build: ForeignFactory, X: np.ndarray, y: np.ndarray) -> None:
    """Check that the trace falls and ends with the errors counted, and that no bound exceeds them."""
    learner = build().fit(X, y)
    if learner.reports:
        try:
            check_claims(learner, int(np.count_nonzero(learner.predict(X) != y)))
        except ValueError as error:
            raise AssertionError(str(error)) from error


FOREIGN_CHECKS: tuple[Callable[[ForeignFactory, np.ndarray, np.ndarray], None], ...] = (
    check_fit_and_predict,
    check_seed_is_obeyed,
    check_scores_go_with_predictions,
    check_parameters_are_kept,
    check_more_classes,
    check_what_it_reports,
)
