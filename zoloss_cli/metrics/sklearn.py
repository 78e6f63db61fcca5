"""Metrics that are scikit-learn scorers, computed from what records hold about the test samples."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from zoloss_cli.errors import ConfigError
from zoloss_cli.metrics.base import Metric, Sizes, require_field
from zoloss_cli.registry import OF_PREDICTIONS, OF_SCORES, OF_TWO_CLASSES
from zoloss_cli.results.record import FitRecord

MAX_REMEMBERED_SCORES = 100_000
# Functions behind scorers that, given all classes, are defined even if a class has no test sample.
LABELLED_FUNCTIONS = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier_score_loss",
    "d2_log_loss_score": "d2_log_loss_score",
    "d2_brier_score": "d2_brier_score",
    "top_k_accuracy": "top_k_accuracy_score",
}


class ScorerMetric(Metric):
    """A scikit-learn scorer, called with the stored predictions, scores or probabilities."""

    part = "test"
    direction = "higher"
    decimals = 4
    response: ClassVar[str]  # the record field that the scorer is computed from

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record; NaN if the scorer is undefined."""
        if self.response == "test_confusion":
            counts = tuple(map(tuple, require_field(record.test_confusion)))
            return _score_counts(self.name, counts)
        # Scores and probabilities are stored by true class.
        if self.response == "test_scores":
            negative, positive = require_field(record.test_scores)
            responses = StoredResponses(scores=np.array([*negative, *positive]))
            return _call_scorer(self.name, responses, np.repeat([0, 1], [len(negative), len(positive)]))
        parts = require_field(record.test_probabilities)
        rows = np.array([row for part in parts for row in part], dtype=np.float64).reshape(-1, len(parts))
        true = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return _call_scorer(self.name, StoredResponses(len(parts), probabilities=rows), true)


def build_scorer(name: str) -> ScorerMetric:
    """Return the metric for a scorer's name."""
    if name in OF_PREDICTIONS:
        response = "test_confusion"
    else:
        response = "test_scores" if name in OF_SCORES else "test_probabilities"
    attributes = {
        "__doc__": f"The scorer `{name}` of scikit-learn.",
        "name": name,
        "requires": (response,),
        "response": response,
        "n_classes": 2 if name in OF_TWO_CLASSES else 0,
    }
    return type("ScorerMetric", (ScorerMetric,), attributes)()


@functools.lru_cache(MAX_REMEMBERED_SCORES)
def _score_counts(name: str, counts: tuple[tuple[int, ...], ...]) -> float:
    """Return a scorer's value for the predictions that confusion counts represent; many splits share them."""
    n_classes, flat = len(counts), np.array(counts).ravel()
    true, predicted = np.divmod(np.repeat(np.arange(flat.size), flat), n_classes)
    return _call_scorer(name, StoredResponses(n_classes, predictions=predicted), true)


def _call_scorer(name: str, responses: StoredResponses, y: Any) -> float:
    """Return a scorer's value for stored responses; NaN if it has none.

    Its warnings concern values set by convention, such as a precision of 0 if nothing is predicted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scorer in (_find_scorer(name), _find_labelled_scorer(name, responses.n_classes)):
            with contextlib.suppress(ValueError, TypeError):  # a class without a test sample
                return float(scorer(responses, y, y))
    return math.nan


@functools.cache
def _find_labelled_scorer(name: str, n_classes: int) -> Any:
    """Return a scorer that knows all classes, for test samples in which some are missing."""
    from sklearn import metrics

    if name not in LABELLED_FUNCTIONS:
        return _find_scorer(name)
    return metrics.make_scorer(
        getattr(metrics, LABELLED_FUNCTIONS[name]),
        response_method="predict_proba",
        greater_is_better=not name.startswith("neg_"),
        labels=list(range(n_classes)),
    )


@functools.cache
def _find_scorer(name: str) -> Any:
    import sklearn
    from sklearn.metrics import get_scorer

    try:
        return get_scorer(name)
    except ValueError:
        raise ConfigError(
            f"scikit-learn {sklearn.__version__} has no scorer '{name}'; install a newer one"
        ) from None


class StoredResponses(ClassifierMixin, BaseEstimator):
    """A classifier that returns the stored responses of one record to its test samples, in order."""

    def __init__(self, n_classes=2, predictions=None, scores=None, probabilities=None):
        self.n_classes = n_classes
        self.predictions = predictions
        self.scores = scores
        self.probabilities = probabilities

    @property
    def classes_(self) -> np.ndarray:
        """Return the classes."""
        return np.arange(self.n_classes)

    def fit(self, X, y=None) -> Self:
        """Return the classifier: there is nothing to fit."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X) -> np.ndarray:
        """Return the stored predictions."""
        return self.predictions

    @available_if(lambda self: self.scores is not None)
    def decision_function(self, X) -> np.ndarray:
        """Return the stored scores."""
        return self.scores

    @available_if(lambda self: self.probabilities is not None)
    def predict_proba(self, X) -> np.ndarray:
        """Return the stored probabilities."""
        return self.probabilities
