"""The learner inside an ensemble: resolved, checked, and trained again and again."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from zoloss_cli.learners.base import BinaryLearner, Learner, Problem
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.registry import resolve


class BaseLearnerFactory:
    """A base learner, given by its name, by a mapping {learner: name, ...}, or as itself."""

    def __init__(self, owner: Learner, learner):
        self.owner = type(owner).__name__
        self.features = getattr(owner, "n_features_in_", None)
        self.name, self.learner = resolve(learner)

    def check(self) -> None:
        if getattr(self.learner, "multiclass", False):
            raise ValueError(f"{self.owner}: its base learner {self.name} must be one for two classes")
        if not has_fit_parameter(self.learner, "sample_weight"):
            raise ValueError(
                f"{self.owner}: its base learner {self.name} takes no sample weights and cannot be boosted"
            )
        check_parameters(self.learner)

    def build_unfitted(self, classes: np.ndarray) -> BinaryLearner:
        """A copy of the learner that has learned nothing yet."""
        # copy.copy goes through scikit-learn's pickling, ten times slower.
        learner = type(self.learner).__new__(type(self.learner))
        learner.__dict__.update(self.learner.__dict__)
        learner.classes_, learner.n_features_in_ = classes, self.features
        return learner

    def learned(self, problem: Problem, classes: np.ndarray, round_: int) -> BinaryLearner:
        """A copy of the learner, trained; what goes wrong names the learner and the round."""
        learner = self.build_unfitted(classes)
        try:
            learner.train(problem)
        except Exception as error:
            kind = ValueError if isinstance(error, ValueError) else RuntimeError
            raise kind(
                f"{self.owner}: its base learner {self.name} failed in round {round_}: {error}"
            ) from error
        return learner
