"""The decision stump: one feature, one threshold, one direction (Holte 1993)."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.stump import best_stump
from zoloss_cli.learners.base import LinearLearner


class DecisionStumpClassifier(LinearLearner):
    """The decision stump with the smallest weighted training error, over all features and thresholds.

    Li & Lin (2007), section III.A, take it as the 1-D learner inside RCD; Li's thesis (2006), chapter
    4, boosts it. `feature_` and `threshold_` say where it cuts (-inf: a constant answer), `direction_`
    which side is the second class. As weights: the score is direction * (x_feature - threshold).

    >>> from zoloss_cli import DecisionStumpClassifier
    >>> model = DecisionStumpClassifier().fit([[0, 5], [1, 2], [2, 4], [3, 1]], ["no", "no", "yes", "yes"])
    >>> int(model.feature_), float(model.threshold_), int(model.direction_)
    (0, 1.5, 1)
    """

    def __init__(self):
        pass

    def learn(self, problem, start):
        X = problem.once("features", lambda: np.ascontiguousarray(problem.X[:, 1:]))
        order = problem.once("order", lambda: np.argsort(X, axis=0, kind="stable"))
        feature, threshold, self.direction_, _ = best_stump(X, order, problem.y * problem.phi)
        self.feature_, self.threshold_ = feature, threshold
        weights = np.zeros(problem.X.shape[1])
        if np.isinf(threshold):
            weights[0] = self.direction_
            return weights
        weights[0] = -self.direction_ * threshold
        weights[1 + feature] = self.direction_
        return weights
