"""The majority class, the baseline of all learners."""

from __future__ import annotations

from typing import Self

import numpy as np

from zoloss_cli.learners.base import Learner


class MajorityClassifier(Learner):
    """The majority class: the class with the largest weight is predicted for every sample.

    The baseline that every other learner must beat: its error is the share of all other classes. Any number of
    classes is supported. Among classes of equal weight, the first is predicted.

    Attributes
    ----------
    class_shares_ : ndarray of shape (n_classes,)
        The share of each class in the weight of all training samples.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Holte, R. C. (1993). Very simple classification rules perform well on most commonly used datasets.
       The rule without any feature.

    Examples
    --------
    >>> from zoloss_cli import MajorityClassifier
    >>> model = MajorityClassifier().fit([[0], [1], [2]], ["no", "yes", "no"])
    >>> model.predict([[5]]).tolist(), model.class_shares_.round(2).tolist()
    (['no'], [0.67, 0.33])
    """

    multiclass = True

    class_shares_: np.ndarray

    def __init__(self):
        pass

    def _fit(self, X, y, sample_weight) -> Self:
        _, codes, phi = self._validate_fit_input(X, y, sample_weight)
        self.class_shares_ = np.bincount(codes, phi, self.classes_.size)
        return self

    def decision_function(self, X) -> np.ndarray:
        """Return the class shares for each sample; with two classes, the second share minus the first."""
        n, shares = len(self._validate_samples(X)), self.class_shares_
        if shares.size == 2:
            return np.full(n, shares[1] - shares[0])
        return np.tile(shares, (n, 1))

    def _predict_codes(self, X) -> np.ndarray:
        return np.full(len(self._validate_samples(X)), np.argmax(self.class_shares_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
