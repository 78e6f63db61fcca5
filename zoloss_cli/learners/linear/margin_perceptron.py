"""The margin perceptron."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online
from zoloss_cli.learners.linear.online import run_on_padded_samples
from zoloss_cli.learners.linear.stream import NOT_RECORDED, OnlineLinearLearner
from zoloss_cli.learners.linear_base import UnweightedLinearLearner
from zoloss_cli.learners.parameters import Epochs, RecordEvery
from zoloss_cli.learners.problem import Problem


class MarginPerceptronClassifier(OnlineLinearLearner, UnweightedLinearLearner):
    """Margin Perceptron(gamma): the perceptron that also updates on small margins.

    From the lecture "Perceptron algorithm for learning linear separators" [1]_. It updates on samples that are
    right by less than gamma/2; on data separable with margin gamma it makes at most 8 (R/gamma)^2 + 4 R/gamma
    updates. Instead of gamma/2, the lecture also allows (1 - epsilon) gamma. It stops after an epoch without
    an update, or after `epochs` at the latest. `partial_fit` fits to a stream.

    Parameters
    ----------
    gamma : float > 0, default=0.1
        Margin to aim at.
    epsilon : float in (0, 1], default=0.5
        Update on margins below (1 - epsilon) gamma.
    epochs : int >= 1, default=2000
        Number of epochs.
    record_every : int >= 0, default=0
        Keep the weights after every this many epochs (0: only the last).

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_epochs_ : int
        Number of epochs until one without an update, or `epochs`.
    n_features_in_ : int
        Number of features.
    n_updates_ : int
        Number of updates; the first sample, which the lecture starts from, is one of them.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    Notes
    -----
    R and gamma are those of the samples (1, x). Sample weights are not supported.

    References
    ----------
    .. [1] Lecture "Perceptron algorithm for learning linear separators" (004). Theorem 2.

    Examples
    --------
    >>> from zoloss_cli import MarginPerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = MarginPerceptronClassifier(gamma=0.1).fit(X, y)
    >>> model.score(X, y), model.n_updates_
    (1.0, 9)
    """

    def __init__(
        self,
        gamma: Annotated[float, Field(gt=0, description="margin to aim at")] = 0.1,
        epsilon: Annotated[
            float, Field(gt=0, le=1, description="update on margins below (1 - epsilon) gamma")
        ] = 0.5,
        epochs: Epochs = 2000,
        record_every: RecordEvery = 0,
    ):
        self.gamma = gamma
        self.epsilon = epsilon
        self.epochs = epochs
        self.record_every = record_every

    @property
    def margin_threshold(self) -> float:
        """The margin below which it updates."""
        return float((1.0 - self.epsilon) * self.gamma)

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after an epoch without an update, or after all epochs."""

        def run(Z, w, checkpoints, path):
            self.n_updates_, self.n_epochs_ = online.fit_margin_perceptron(
                Z, self.margin_threshold, w, self.epochs, checkpoints, path
            )
            return w

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one epoch, and continue counting updates."""
        updates, _ = online.fit_margin_perceptron(Z, self.margin_threshold, w, 1, *NOT_RECORDED)
        self.n_updates_ = getattr(self, "n_updates_", 0) + updates
        return w
