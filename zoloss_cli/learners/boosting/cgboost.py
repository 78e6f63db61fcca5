"""CGBoost: conjugate gradient in function space, on margin costs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.learners.boosting.anyboost import AnyBoostClassifier, Cost, Kappa, Tolerance, Validation
from zoloss_cli.learners.parameters import BaseLearner, RecordEveryRound, Rounds


class CGBoostClassifier(AnyBoostClassifier):
    """CGBoost: AnyBoost with conjugate directions.

    The direction of round t is d_t = f_t + beta_t d_{t-1} with beta_t = 1 - <f_t, f_{t-1}> (Polak and Ribiere's
    formula for binary hypotheses; <,> is the mean over the training samples, weighted by phi), so that every
    round changes all earlier coefficients. Everything else is as in AnyBoost.

    Parameters
    ----------
    base : learner, default='stump'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all rounds draw from this one's.
    cost : {'exponential', 'sigmoid', 'bisigmoid', 'logistic'}, default='exponential'
        Cost c(m) of a margin m: exp(-m), 1 - tanh(m), the bisigmoid (3.5) with kappa_+ = 1, or
        log(1 + exp(-m)).
    kappa : float > 0 or non-empty list of float > 0, default=1.1
        Parameter kappa_- of the bisigmoid; of a list, validation chooses one.
    rounds : int >= 1, default=300
        Maximum number of rounds.
    plain_rounds : int >= 1, default=5
        Number of first rounds with beta = 0. Gradient descent is better there.
    tolerance : float in (0, 1), default=0.01
        Last bracket of the line search, as a share of its upper end.
    validation : float in [0, 1), default=0.0
        Share of the samples, at random, held out to choose the size (0: none). The size with the fewest errors
        on them is kept, the smallest of several, and of several kappa the first with the fewest. The ensemble
        ends there.
    record_every : int >= 0, default=0
        Keep scores and costs after every this many rounds (0: none).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_rounds,)
        The steps alpha_t along the directions d_t.
    betas_ : ndarray of shape (n_rounds,)
        How much of the previous direction was kept.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    costs_ : ndarray of shape (n_rounds + 1,)
        The cost at sizes 0, 1, ..., n_rounds.
    ended_ : str
        Why there were no more rounds.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The final coefficient of each hypothesis, eq. (3.3).
    estimators_ : list of BinaryLearner
        The hypotheses f_t.
    kappa_ : float
        The kappa_- used.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of hypotheses.
    path_ : BoostingPath
        The ensembles of all sizes.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and scores were recorded.

    Notes
    -----
    In the first rounds beta_t = 0; the thesis says "several", and 5 fits its numbers. The thesis gives no rule
    for the line search either: AnyBoost's is our own.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Chapter 3, Algorithms 3.1 and 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from zoloss_cli import AnyBoostClassifier, CGBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> conjugate = CGBoostClassifier(base="stump", rounds=40).fit(X, y)
    >>> bool(conjugate.costs_[-1] < AnyBoostClassifier(base="stump", rounds=40).fit(X, y).costs_[-1])
    True
    """

    def __init__(
        self,
        base: BaseLearner = "stump",
        cost: Cost = "exponential",
        kappa: Kappa = 1.1,
        rounds: Rounds = 300,
        plain_rounds: Annotated[int, Field(ge=1, description="number of first rounds with beta = 0")] = 5,
        tolerance: Tolerance = 0.01,
        validation: Validation = 0.0,
        record_every: RecordEveryRound = 0,
        random_state=None,
    ):
        super().__init__(base, cost, kappa, rounds, tolerance, validation, record_every, random_state)
        self.plain_rounds = plain_rounds

    def _compute_beta(self, round_: int, f_t: np.ndarray, last: np.ndarray, phi: np.ndarray) -> float:
        return 0.0 if round_ <= self.plain_rounds else 1.0 - float(np.dot(phi, f_t * last))
