"""The base learner of an ensemble: resolved, checked, and fitted repeatedly."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from zoloss_cli.learners.base import BinaryLearner, Learner
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import Problem
from zoloss_cli.registry import resolve_learner


class BaseLearnerFactory:
    """Build and fit copies of the base learner of an ensemble.

    Parameters
    ----------
    owner : Learner
        The ensemble.
    learner : learner
        The base learner: its name, a mapping {learner: name, ...}, or the learner itself.

    Attributes
    ----------
    learner : BinaryLearner
        The unfitted base learner.
    name : str
        Its name, or that of its class.
    """

    def __init__(self, owner: Learner, learner: Any):
        self._owner = type(owner).__name__
        self._n_features = getattr(owner, "n_features_in_", None)
        self.name: str
        self.learner: Any
        self.name, self.learner = resolve_learner(learner)

    def check(self) -> None:
        """Raise ValueError if the learner cannot be the base of an ensemble."""
        if getattr(self.learner, "multiclass", False):
            raise ValueError(f"{self._owner}: its base learner {self.name} must be one for two classes")
        if not has_fit_parameter(self.learner, "sample_weight"):
            raise ValueError(
                f"{self._owner}: its base learner {self.name} takes no sample weights and cannot be boosted"
            )
        check_parameters(self.learner)

    def build_unfitted(self, classes: np.ndarray) -> Any:
        """Return a copy of the learner to separate these two classes."""
        # copy.copy goes through scikit-learn's pickling, ten times slower.
        learner: Any = object.__new__(type(self.learner))
        learner.__dict__.update(self.learner.__dict__)
        learner.classes_, learner.n_features_in_ = classes, self._n_features
        return learner

    def fit_copy(self, problem: Problem, classes: np.ndarray, round_: int) -> BinaryLearner:
        """Return a fitted copy of the learner; an error names the learner and the round.

        Parameters
        ----------
        problem : Problem
            The problem to fit to.
        classes : ndarray of shape (2,)
            The labels that -1 and +1 stand for.
        round_ : int
            Number of the round, from 1.

        Returns
        -------
        BinaryLearner
            The fitted copy.
        """
        learner = self.build_unfitted(classes)
        try:
            learner.train(problem)
        except Exception as error:
            kind = ValueError if isinstance(error, ValueError) else RuntimeError
            raise kind(
                f"{self._owner}: its base learner {self.name} failed in round {round_}: {error}"
            ) from error
        return learner
