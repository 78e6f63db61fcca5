"""The decision stump: one feature, one threshold, one direction (Holte 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.stumps import boost_stumps, compute_stump_votes, find_best_stump, group_values
from zoloss_cli.learners.base import BinaryLearner, PerfectOdds, Problem
from zoloss_cli.learners.linear_base import LinearLearner


class DecisionStumpClassifier(LinearLearner):
    """The decision stump with the smallest weighted training error, over all features and thresholds.

    As weights: the score is direction * (x_feature - threshold), and a sample on the threshold belongs to the
    upper side. Li & Lin use the stump as the 1-D learner inside RCD [2]_; Li's thesis boosts it [3]_.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w, with one nonzero entry unless the prediction is constant.
    direction_ : int
        +1 if the second class is above the threshold, -1 if it is below.
    feature_ : int
        The feature that is compared with the threshold.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_features_in_ : int
        Number of features.
    threshold_ : float
        Where the feature is cut; -inf: a constant prediction.

    References
    ----------
    .. [1] Holte, R. C. (1993). Very simple classification rules perform well on most commonly used datasets.
    .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section III.A.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Chapter 4.

    Examples
    --------
    >>> from zoloss_cli import DecisionStumpClassifier
    >>> model = DecisionStumpClassifier().fit([[0, 5], [1, 2], [2, 4], [3, 1]], ["no", "no", "yes", "yes"])
    >>> int(model.feature_), float(model.threshold_), int(model.direction_)
    (0, 1.5, 1)
    """

    version = 3  # 2: a new sample that lies on the threshold of a falling stump; 3: which of equal stumps

    def __init__(self):
        pass

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights of the best stump."""
        ids, starts, values = group_features(problem)
        net_weights = problem.cached_by_X("net weights", lambda: np.empty(values.size))
        signed = problem.y * problem.phi
        self.feature_, self.threshold_, self.direction_, _ = find_best_stump(
            ids, starts, values, signed, net_weights
        )
        return self.build_weights(problem.X.shape[1] - 1)

    def build_weights(self, n_features: int) -> np.ndarray:
        """Return the stump as weights, bias first."""
        weights = np.zeros(1 + n_features)
        if np.isinf(self.threshold_):
            weights[0] = self.direction_
            return weights
        # A score of 0 is the second class, but samples on the threshold of a falling stump are not in it.
        cut = self.threshold_ if self.direction_ > 0 else np.nextafter(self.threshold_, -np.inf)
        weights[0] = -self.direction_ * cut
        weights[1 + self.feature_] = self.direction_
        return weights

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores, computed from the feature of the stump alone."""
        # Much faster than the product with all features, and the same to the last bit.
        return self.intercept_[0] + self.coef_[0, self.feature_] * X[:, 1 + self.feature_]


def group_features(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `group_values` of the problem's samples, computed once for all samples they were taken from."""
    samples, subset = problem.all_samples
    ids, starts, values = samples.cached_by_X("groups", lambda: group_values(samples.X[:, 1:]))
    return ids[subset], starts, values


JUST_BELOW_ZERO = -np.finfo(np.float64).tiny


@dataclass(eq=False, repr=False)
class BoostedStumpsClassifier(BinaryLearner):  # numpydoc ignore=PR02
    """AdaBoost over decision stumps in one kernel, fast enough to be boosted itself.

    The stumps and coefficients are those of `AdaBoostClassifier` with the base 'stump', up to rounding; but if
    their votes add up to 0, the first class is predicted, as in the author's program.

    Parameters
    ----------
    rounds : int >= 1, default=50
        Maximum number of stumps.
    perfect_odds : float > 1, default=1000.0
        Odds to use for (1 - e) / e in a round without errors.

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

    rounds: Annotated[int, Field(ge=1, description="maximum number of stumps")] = 50
    perfect_odds: PerfectOdds = 1000.0

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
