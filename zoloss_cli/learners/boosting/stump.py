"""The decision stump: one feature, one threshold, one direction (Holte 1993)."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.stump import best_stump, group_values
from zoloss_cli.learners.base import LinearLearner, Problem


class DecisionStumpClassifier(LinearLearner):
    """The decision stump with the smallest weighted training error, over all features and thresholds.

    Li & Lin (2007), section III.A, take it as the 1-D learner inside RCD; Li's thesis (2006), chapter
    4, boosts it. `feature_` and `threshold_` say where it cuts (-inf: a constant answer), `direction_`
    which side is the second class. As weights: the score is direction * (x_feature - threshold), and a
    point on the threshold is on its upper side.

    >>> from zoloss_cli import DecisionStumpClassifier
    >>> model = DecisionStumpClassifier().fit([[0, 5], [1, 2], [2, 4], [3, 1]], ["no", "no", "yes", "yes"])
    >>> int(model.feature_), float(model.threshold_), int(model.direction_)
    (0, 1.5, 1)
    """

    def __init__(self):
        pass

    version = 3  # 2: a new point that lies on the threshold of a falling stump; 3: which of equal stumps

    def learn(self, problem, start):
        ids, starts, values = group_features(problem)
        room = problem.cached_by_X("net weights", lambda: np.empty(values.size))
        signed = problem.y * problem.phi
        self.feature_, self.threshold_, self.direction_, _ = best_stump(ids, starts, values, signed, room)
        return self.build_weights(problem.X.shape[1] - 1)

    def build_weights(self, features: int) -> np.ndarray:
        """The stump's weights, bias first."""
        weights = np.zeros(1 + features)
        if np.isinf(self.threshold_):
            weights[0] = self.direction_
            return weights
        # A score of 0 is the second class; a falling stump's points on the threshold are not in it.
        at = self.threshold_ if self.direction_ > 0 else np.nextafter(self.threshold_, -np.inf)
        weights[0] = -self.direction_ * at
        weights[1 + self.feature_] = self.direction_
        return weights

    def scores(self, X):
        # One feature counts: much faster than the product with all, and the same to the last bit.
        at = 1 + self.feature_
        return self.intercept_[0] + self.coef_[0, at - 1] * X[:, at]


def group_features(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`group_values` of the problem's rows, made once for all rows of which they are a part."""
    rows, which = problem.all_samples
    ids, starts, values = rows.cached_by_X("groups", lambda: group_values(rows.X[:, 1:]))
    return ids[which], starts, values
