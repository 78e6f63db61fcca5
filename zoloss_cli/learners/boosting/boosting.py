"""The base class of boosting algorithms for two classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory
from zoloss_cli.learners.problem import Samples


class BoostingLearner(BinaryLearner):
    """An ensemble over the learner in the parameter `base`; subclasses write `train` and `_iterate_scores`."""

    base: Any

    @property
    def deterministic(self) -> bool:
        """Whether the base learner makes no random draws."""
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        """Return the scores after 1, 2, ... rounds."""
        raise TypeError(f"{type(self).__name__} does not implement _iterate_scores")

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores after the last round."""
        return self.compute_scores(Samples(X))

    def compute_scores(self, samples: Samples) -> np.ndarray:
        """Return the scores after the last round, 0 if the ensemble is empty."""
        last = np.zeros(samples.X.shape[0])
        for last in self._iterate_scores(samples):  # noqa: B007  only the last one matters
            pass
        return last

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Return the scores after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        iterator of ndarray of shape (n_samples,)
            Scores after 1, 2, ... rounds.
        """
        return self._iterate_scores(Samples(self._validate_samples(X)))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels after 1, 2, ... rounds.
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[(scores >= 0.0).astype(int)]
