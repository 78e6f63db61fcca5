"""ROMMA, the relaxed online maximum margin algorithm."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online
from zoloss_cli.kernels.random import FIXED_ORDER
from zoloss_cli.learners.linear.online import ORDERS, run_on_padded_samples
from zoloss_cli.learners.linear.stream import NO_SEED, NOT_RECORDED, OnlineLinearLearner
from zoloss_cli.learners.linear_base import UnweightedLinearLearner
from zoloss_cli.learners.parameters import Epochs, Order, RecordEvery, Seeding
from zoloss_cli.learners.problem import Problem


class ROMMAClassifier(OnlineLinearLearner, UnweightedLinearLearner):
    """ROMMA, the relaxed online maximum margin algorithm, and its aggressive form.

    `partial_fit` fits to a stream. Li's thesis [2]_ reports that it oscillates on nonseparable data and runs
    into numerical trouble after several hundred epochs.

    Parameters
    ----------
    epochs : int >= 1, default=100
        Number of epochs.
    aggressive : bool, default=False
        Also update on margins below 1.
    order : {'random', 'permuted', 'fixed'}, default='random'
        Samples come at random, permuted anew each epoch, or in their fixed order.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
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
    Sample weights are not supported.

    References
    ----------
    .. [1] Li, Y. and Long, P. M. (2002). The relaxed online maximum margin algorithm.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Sections 2.2 and 2.4.2.

    Examples
    --------
    >>> from zoloss_cli import ROMMAClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> ROMMAClassifier(order="fixed").fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        epochs: Epochs = 100,
        aggressive: Annotated[bool, Field(description="also update on margins below 1")] = False,
        order: Order = "random",
        seeding: Seeding = "zero",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.epochs = epochs
        self.aggressive = aggressive
        self.order = order
        self.seeding = seeding
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        seed = problem.draw_kernel_seed()

        def run(Z, w, checkpoints, path):
            online.fit_romma(Z, w, self.epochs, self.aggressive, ORDERS[self.order], seed, checkpoints, path)
            return w

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one epoch in fixed order."""
        online.fit_romma(Z, w, 1, self.aggressive, FIXED_ORDER, NO_SEED, *NOT_RECORDED)
        return w
