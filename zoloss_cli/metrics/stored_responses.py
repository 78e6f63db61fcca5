"""What a record holds about the test samples, as a fitted classifier for scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if


class StoredResponses(ClassifierMixin, BaseEstimator):
    """A classifier that answers for the test samples of one record, in their stored order.

    Parameters
    ----------
    n_classes : int
        Number of classes, which are called 0, 1, ...
    predictions : ndarray of shape (n_samples,) or None
        Predicted classes.
    scores : ndarray of shape (n_samples,) or None
        Scores of two classes.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        Probabilities of the classes.
    """

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


def build_from_counts(counts: Sequence[Sequence[int]]) -> tuple[StoredResponses, np.ndarray]:
    """Return the predictions that confusion counts represent, and the true classes."""
    n_classes, flat = len(counts), np.array(counts).ravel()
    true, predicted = np.divmod(np.repeat(np.arange(flat.size), flat), n_classes)
    return StoredResponses(n_classes, predictions=predicted), true


def build_from_scores(scores: Sequence[Sequence[float]]) -> tuple[StoredResponses, np.ndarray]:
    """Return the scores of two classes, which are stored by true class, and the true classes."""
    values = np.concatenate([np.asarray(part, dtype=np.float64) for part in scores])
    return StoredResponses(scores=values), np.repeat([0, 1], [len(part) for part in scores])


def build_from_probabilities(
    probabilities: Sequence[Sequence[Sequence[float]]],
) -> tuple[StoredResponses, np.ndarray]:
    """Return probabilities, which are stored by true class, and the true classes."""
    n_classes = len(probabilities)
    rows = np.array([row for part in probabilities for row in part], dtype=np.float64).reshape(-1, n_classes)
    true = np.repeat(np.arange(n_classes), [len(part) for part in probabilities])
    return StoredResponses(n_classes, probabilities=rows), true
