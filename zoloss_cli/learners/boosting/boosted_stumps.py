"""AdaBoost over decision stumps in one kernel: the base learner of Table 4.4 of Li's thesis (2006)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.stump import boost_stumps, compute_stump_votes
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.boosting.stump import group_features
from zoloss_cli.learners.parameters import PerfectOdds
from zoloss_cli.learners.problem import Problem

JUST_BELOW_ZERO = -np.finfo(np.float64).tiny


class BoostedStumpsClassifier(BinaryLearner):
    """AdaBoost over decision stumps in one kernel, fast enough to be boosted itself.

    The stumps and coefficients are those of `AdaBoostClassifier` with the base 'stump', up to rounding; but if
    their votes add up to 0, the first class is predicted, as in the author's program.

    Parameters
    ----------
    rounds : int >= 1, default=50
        Maximum number of stumps.
    perfect_odds : float > 1, default=1000.0
        Odds to take for (1 - e) / e in a round without any error.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    directions_ : ndarray of shape (n_rounds,)
        +1 where the second class is above the threshold, -1 where it is below.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The coefficients alpha_t.
    features_ : ndarray of shape (n_rounds,)
        The feature of each stump.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of stumps.
    thresholds_ : ndarray of shape (n_rounds,)
        The threshold of each stump; -inf: a constant prediction.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 4.4.

    Examples
    --------
    >>> from zoloss_cli import AdaBoostClassifier, BoostedStumpsClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> fast = BoostedStumpsClassifier(rounds=50).fit(X, y)
    >>> slow = AdaBoostClassifier(base="stump", rounds=50).fit(X, y)
    >>> fast.n_rounds_, bool((fast.predict(X) == slow.predict(X)).all())
    (50, True)
    """

    reports: ClassVar[tuple[str, ...]] = ("iterations",)

    version = 2  # 2: which of equal stumps, and how weights are rounded

    def __init__(
        self,
        rounds: Annotated[int, Field(ge=1, description="maximum number of stumps")] = 50,
        perfect_odds: PerfectOdds = 1000.0,
    ):
        self.rounds = rounds
        self.perfect_odds = perfect_odds

    def train(self, problem: Problem) -> None:
        """Boost stumps until the rounds are used up, or one is no better than chance."""
        ids, starts, values = group_features(problem)
        self.features_, self.thresholds_, self.directions_, self.estimator_weights_, self.estimator_errors_ = (
            boost_stumps(
                ids, starts, values, problem.y, problem.phi.copy(), self.rounds, float(self.perfect_odds)
            )
        )
        self.n_rounds_ = self.features_.size

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted votes of the stumps, just below 0 if they add up to 0."""
        votes = compute_stump_votes(
            X, self.features_, self.thresholds_, self.directions_, self.estimator_weights_
        )
        votes[votes == 0.0] = JUST_BELOW_ZERO
        return votes
