"""What boosting algorithms share: a base learner trained again every round, and scores after each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from zoloss_cli.learners.base import BinaryLearner, Problem
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.registry import resolve


class Boosting(BinaryLearner):
    """An ensemble over the learner in its parameter `base`. Subclasses write `train` and `_staged_scores`."""

    def _staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """The scores of the rows (1, x) after 1, 2, ... rounds."""
        raise TypeError(f"{type(self).__name__} does not say how it scores")

    def scores(self, X):
        last = np.zeros(X.shape[0])
        for last in self._staged_scores(X):  # noqa: B007  only the last one counts
            pass
        return last

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """The scores after 1, 2, ... rounds."""
        return self._staged_scores(self._check_rows(X))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The classes after 1, 2, ... rounds."""
        for scores in self.staged_decision_function(X):
            yield self.classes_[(scores >= 0.0).astype(int)]

    def _checked_base(self) -> tuple[str, BinaryLearner]:
        """(name, learner) of the base, which must take sample weights."""
        name, base = resolve(self.base)
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"{type(self).__name__}: its base learner {name} takes no sample weights and cannot be boosted"
            )
        check_parameters(base)
        return name, base

    def _learned(self, name: str, base: BinaryLearner, problem: Problem, round_: int) -> BinaryLearner:
        # copy.copy goes through scikit-learn's pickling, ten times slower.
        learner = type(base).__new__(type(base))
        learner.__dict__.update(base.__dict__)
        learner.classes_, learner.n_features_in_ = self.classes_, self.n_features_in_
        try:
            learner.train(problem)
        except Exception as error:
            kind = ValueError if isinstance(error, ValueError) else RuntimeError
            raise kind(
                f"{type(self).__name__}: its base learner {name} failed in round {round_}: {error}"
            ) from error
        return learner
