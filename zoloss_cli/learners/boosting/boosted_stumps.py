"""AdaBoost over decision stumps in one kernel: the base learner of Table 4.4 of Li's thesis (2006)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.stump import boost_stumps, stump_votes
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.boosting.stump import group_features

NOTHING = -np.finfo(np.float64).tiny


class BoostedStumpsClassifier(BinaryLearner):
    """AdaBoost that aggregates up to 50 decision stumps, fast enough to be boosted itself.

    Section 4.4 of Li's thesis (2006). The same stumps and coefficients as `adaboost` with the base `stump`,
    up to rounding; but where their votes add up to 0, the first class is predicted, as in the author's program.

    Attributes after fit: `features_`, `thresholds_`, `directions_`, `estimator_weights_` (alpha_t),
    `estimator_errors_` (e_t) and `n_rounds_`.

    >>> from zoloss_cli import AdaBoostClassifier, BoostedStumpsClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> fast = BoostedStumpsClassifier(rounds=50).fit(X, y)
    >>> slow = AdaBoostClassifier(base="stump", rounds=50).fit(X, y)
    >>> fast.n_rounds_, bool((fast.predict(X) == slow.predict(X)).all())
    (50, True)
    """

    version = 2  # 2: which of equal stumps, and how weights are rounded

    def __init__(
        self,
        rounds: Annotated[int, Field(ge=1, description="the most stumps to aggregate")] = 50,
        perfect_odds: Annotated[
            float, Field(gt=1, description="stands for (1 - e) / e in a round without any error")
        ] = 1000.0,
    ):
        self.rounds = rounds
        self.perfect_odds = perfect_odds

    def train(self, problem):
        ids, starts, values = group_features(problem)
        self.features_, self.thresholds_, self.directions_, self.estimator_weights_, self.estimator_errors_ = (
            boost_stumps(
                ids, starts, values, problem.y, problem.phi.copy(), self.rounds, float(self.perfect_odds)
            )
        )
        self.n_rounds_ = self.features_.size

    def scores(self, X):
        votes = stump_votes(X, self.features_, self.thresholds_, self.directions_, self.estimator_weights_)
        votes[votes == 0.0] = NOTHING
        return votes
