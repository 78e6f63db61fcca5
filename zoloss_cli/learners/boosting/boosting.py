"""What boosting algorithms for two classes share: scores after each round, and what the last one says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zoloss_cli.learners.base import BinaryLearner, Samples
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory


class Boosting(BinaryLearner):
    """An ensemble over the learner in its parameter `base`. Subclasses write `train` and `_staged_scores`."""

    @property
    def deterministic(self):
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _staged_scores(self, rows: Samples) -> Iterator[np.ndarray]:
        """The scores after 1, 2, ... rounds."""
        raise TypeError(f"{type(self).__name__} does not say how it scores")

    def scores(self, X):
        return self.compute_scores(Samples(X))

    def compute_scores(self, rows):
        last = np.zeros(rows.X.shape[0])
        for last in self._staged_scores(rows):  # noqa: B007  only the last one counts
            pass
        return last

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """The scores after 1, 2, ... rounds."""
        return self._staged_scores(Samples(self._validate_samples(X)))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The classes after 1, 2, ... rounds."""
        for scores in self.staged_decision_function(X):
            yield self.classes_[(scores >= 0.0).astype(int)]
