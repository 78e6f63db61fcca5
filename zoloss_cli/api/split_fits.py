"""Fit one learner on one split of samples in memory, and count its errors as the runner does."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoloss_cli.api.learners import prepare_estimator
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import SplitRule, derive_seed
from zoloss_cli.experiment.task import count_confusion
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Learner
from zoloss_cli.results.record import FailedRecord, FitRecord

MAX_REASON_LENGTH = 300
SEED_NAME = "evaluate"  # in seeds, in place of a data set's name


@dataclass(frozen=True)
class SplitSamples:
    """Samples in memory, and how they are split and scaled.

    Attributes
    ----------
    X : ndarray or DataFrame
        The features; a DataFrame stays a DataFrame if nothing is scaled.
    y : ndarray of int
        Indices of the classes.
    n_classes : int
        Number of classes.
    rule : SplitRule
        How many samples train and test, and the seed.
    scale : {'standard', 'minmax', 'none'}
        How features are scaled, by the training samples of each split.
    """

    X: Any
    y: np.ndarray
    n_classes: int
    rule: SplitRule
    scale: str

    def select(self, split: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """Return copies of the training and test samples of a split, scaled, and of their classes."""
        from sklearn.utils import _safe_indexing

        train, test = self.rule.select_indices(len(self.y), SEED_NAME, split)
        X_train, X_test = (_safe_indexing(self.X, indices) for indices in (train, test))
        if self.scale != "none":
            X_train, X_test = scale_parts(X_train, X_test, self.scale)
        return X_train, X_test, self.y[train], self.y[test]


def fit_split(samples: SplitSamples, label: str, estimator: Any, split: int) -> FitRecord | FailedRecord:
    """Fit a copy of an estimator on one split and count its errors; an exception becomes a failed record.

    Parameters
    ----------
    samples : SplitSamples
        All samples.
    label : str
        The learner's name, on which its seed depends.
    estimator : estimator
        The estimator to copy and fit.
    split : int
        Number of the split.

    Returns
    -------
    FitRecord or FailedRecord
        For zoloss's learners for two classes, a margin of 0 counts as a training error, as everywhere; all
        other errors are wrong predictions.
    """
    X_train, X_test, y_train, y_test = samples.select(split)
    seed = derive_seed(samples.rule.seed, SEED_NAME, split, label)
    begin = time.perf_counter()
    try:
        fitted = prepare_estimator(estimator, seed)
        start = time.perf_counter()
        fitted.fit(X_train, y_train)
        fit_time = float(getattr(fitted, "seconds_", time.perf_counter() - start))
        fields = _count_errors(fitted, samples.n_classes, (X_train, y_train), (X_test, y_test))
        fields |= _collect_responses(fitted, samples.n_classes, X_test, y_test)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return FailedRecord(split, reason[:MAX_REASON_LENGTH])
    wall_time = time.perf_counter() - begin
    unseen = int(np.count_nonzero(~np.isin(y_test, y_train)))
    return FitRecord(split=split, fit_time=fit_time, wall_time=wall_time, n_unseen=unseen, **fields)


def _count_errors(
    fitted: Any, n_classes: int, train: tuple[Any, np.ndarray], test: tuple[Any, np.ndarray]
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part, (X, y) in (("train", train), ("test", test)):
        predicted = np.asarray(fitted.predict(X))
        if predicted.shape != y.shape or not np.isin(predicted, np.arange(n_classes)).all():
            raise ValueError("predict returned a value that is not a class of the training samples")
        fields[f"{part}_errors"] = int(np.count_nonzero(predicted != y))
        fields[f"{part}_confusion"] = count_confusion(y, predicted.astype(np.int64), n_classes)
    if isinstance(fitted, Learner) and not fitted.multiclass and len(np.unique(train[1])) == 2:
        signs = np.where(train[1] == 1, 1.0, -1.0)
        fields["train_errors"] = int(find_strict_errors(fitted.decision_function(train[0]), signs).sum())
    return fields


def _collect_responses(fitted: Any, n_classes: int, X: Any, y: np.ndarray) -> dict[str, Any]:
    """Return scores and probabilities of test samples by true class, as far as the estimator provides them."""
    fields: dict[str, Any] = {}
    probabilities = None
    if hasattr(fitted, "predict_proba"):
        probabilities = np.zeros((len(y), n_classes))
        probabilities[:, np.asarray(fitted.classes_, dtype=np.int64)] = fitted.predict_proba(X)
        if np.isfinite(probabilities).all():
            fields["test_probabilities"] = [probabilities[y == k].tolist() for k in range(n_classes)]
    if n_classes == 2:
        scores = None if probabilities is None else probabilities[:, 1]
        if hasattr(fitted, "decision_function"):
            scores = np.asarray(fitted.decision_function(X))
        if scores is not None and scores.shape == y.shape and np.isfinite(scores).all():
            fields["test_scores"] = tuple(scores[y == k].tolist() for k in (0, 1))
    return fields
