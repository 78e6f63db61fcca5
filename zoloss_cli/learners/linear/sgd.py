"""Stochastic gradient descent on margin costs (Zhang 2004), without regularization."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online
from zoloss_cli.kernels.numeric import FIXED_ORDER, RANDOM
from zoloss_cli.kernels.rows import fit_to_rows
from zoloss_cli.learners.base import Epochs, Problem, RecordEvery, Seeding, Weighting
from zoloss_cli.learners.linear.online import (
    NO_ALIAS_TABLE,
    NO_AVERAGE,
    NO_SEED,
    NOT_RECORDED,
    Rows,
    WeightedOnlineLinearLearner,
    build_steps_and_draws,
    run_on_padded_samples,
)

COSTS = {
    "hinge": online.HINGE,
    "mls": online.MODIFIED_LEAST_SQUARES,
    "ls": online.LEAST_SQUARES,
    "perceptron": online.PERCEPTRON_CRITERION,
}


class MarginSGDClassifier(WeightedOnlineLinearLearner):
    """Stochastic gradient descent with a constant rate on a cost of the margin.

    The costs of a margin rho = y <w, x> are

    - hinge: max(0, 1 - rho);
    - mls: (max(0, 1 - rho))^2, the modified least squares;
    - ls: (1 - rho)^2, the least squares;
    - perceptron: max(0, -rho).

    `partial_fit` fits to a stream.

    Parameters
    ----------
    cost : {'hinge', 'mls', 'ls', 'perceptron'}, default='hinge'
        Margin cost.
    epochs : int >= 1, default=2000
        Number of epochs.
    rate : float > 0, default=0.002
        Learning rate.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample').
    record_every : int >= 0, default=0
        Keep the weights after every this many epochs (0: only the last).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_features_in_ : int
        Number of features.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    Notes
    -----
    Deviation, as in the authors' program: the squared costs step by rate * (y - <w, x>), without the factor 2.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Table I.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Table 2.1.
    .. [3] Zhang, T. (2004). Solving large scale linear prediction problems using stochastic gradient descent
       algorithms.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import MarginSGDClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = MarginSGDClassifier(cost="hinge", epochs=200, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82
    True
    """

    def __init__(
        self,
        cost: Annotated[
            Literal["hinge", "mls", "ls", "perceptron"], Field(description="margin cost")
        ] = "hinge",
        epochs: Epochs = 2000,
        rate: Annotated[float, Field(gt=0, description="learning rate")] = 0.002,
        seeding: Seeding = "zero",
        weighting: Weighting = "reweight",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.cost = cost
        self.epochs = epochs
        self.rate = rate
        self.seeding = seeding
        self.weighting = weighting
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        seed = problem.draw_kernel_seed()

        def run(Z, w, *recording):
            return self._run_kernel(Z, step, cut, alias, w, self.epochs, RANDOM, seed, *recording)

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one epoch in fixed order."""
        return self._run_kernel(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)

    def _run_kernel(self, Z, step, cut, alias, w, epochs, *schedule) -> np.ndarray:
        """Return the weights after the kernel's epochs, starting from w, which is overwritten."""
        online.fit_sgd(Z, step, cut, alias, w, epochs, float(self.rate), COSTS[self.cost], *schedule)
        return w

    def update_by_rows(
        self, rows: Rows, y: np.ndarray, w: np.ndarray, draws: tuple, schedule: tuple
    ) -> np.ndarray:
        """Return the weights after some epochs."""
        epochs, *rest = schedule
        rule = float(self.rate), COSTS[self.cost]
        fit_to_rows(*rows, y, *draws, w, NO_AVERAGE, 0.0, epochs, *rule, *rest)
        return w
