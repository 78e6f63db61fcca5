"""Perceptron learning rules: Rosenblatt's, the averaged and the batch perceptron."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online
from zoloss_cli.kernels.random import FIXED_ORDER
from zoloss_cli.kernels.rows import fit_to_rows
from zoloss_cli.learners.linear.online import (
    NO_ALIAS_TABLE,
    ORDERS,
    build_steps_and_draws,
    pad_columns,
    run_on_padded_samples,
)
from zoloss_cli.learners.linear.rows import NO_AVERAGE, Rows
from zoloss_cli.learners.linear.stream import NO_SEED, NOT_RECORDED, WeightedOnlineLinearLearner
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.parameters import Epochs, Order, RecordEvery, Seeding, Weighting
from zoloss_cli.learners.problem import Problem


class PerceptronClassifier(WeightedOnlineLinearLearner):
    """Rosenblatt's perceptron learning rule: w <- w + y x on a mistake.

    A zero margin is a mistake. On nonseparable data the rule never settles; the last weights are kept.
    `partial_fit` fits to a stream.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    order : {'random', 'permuted', 'fixed'}, default='random'
        Samples come at random, permuted anew each epoch, or in their fixed order.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
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
    n_mistakes_ : int
        Number of mistakes, each followed by an update.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Eq. (2).

    Examples
    --------
    >>> from zoloss_cli import PerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = PerceptronClassifier(order="fixed").fit(X, y)  # separable: it settles
    >>> model.predict(X).tolist()
    ['no', 'yes', 'yes', 'yes']
    >>> model = PerceptronClassifier().partial_fit(X[:2], y[:2], classes=["no", "yes"])
    >>> model.partial_fit(X[2:], y[2:]).n_mistakes_  # all but the last sample; (1, 0) had a margin of 0
    3
    """

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        order: Order = "random",
        weighting: Weighting = "reweight",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.epochs = epochs
        self.seeding = seeding
        self.order = order
        self.weighting = weighting
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        if cut.size and self.order != "random":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws at random; order={self.order!r} cannot"
            )
        seed = problem.draw_kernel_seed()

        self.n_mistakes_ = 0

        def run(Z, w, *recording):
            return self._run_kernel(Z, step, cut, alias, w, self.epochs, ORDERS[self.order], seed, *recording)

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one epoch in fixed order, and continue counting mistakes."""
        self.n_mistakes_ = getattr(self, "n_mistakes_", 0)
        return self._run_kernel(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)

    def _run_kernel(self, Z, step, cut, alias, w, *schedule) -> np.ndarray:
        """Return the weights after the kernel's epochs, starting from w, which is overwritten."""
        self.n_mistakes_ += online.fit_perceptron(Z, step, cut, alias, w, *schedule)
        return w

    def _begin(self) -> None:
        self.n_mistakes_ = 0

    def update_by_rows(
        self, rows: Rows, y: np.ndarray, w: np.ndarray, draws: tuple, schedule: tuple
    ) -> np.ndarray:
        """Return the weights after some epochs, and continue counting mistakes."""
        return self._run_row_kernel(rows, y, draws, w, NO_AVERAGE, 0.0, schedule)[0]

    def _run_row_kernel(self, rows, y, draws, w, late, clock, schedule) -> tuple[np.ndarray, float]:
        """Return the weights and the clock, and continue counting mistakes; w and late are overwritten."""
        epochs, *rest = schedule
        rule = 1.0, online.PERCEPTRON_CRITERION
        mistakes, clock = fit_to_rows(*rows, y, *draws, w, late, clock, epochs, *rule, *rest)
        self.n_mistakes_ = getattr(self, "n_mistakes_", 0) + mistakes
        return w, clock


class AveragedPerceptronClassifier(PerceptronClassifier):  # numpydoc ignore=PR02
    """The averaged perceptron: the mean of all weights that the perceptron learning rule visits.

    These are Algorithms 2.2 (order 'fixed') and 2.6 (order 'random') of Li's thesis [1]_. The published tables
    draw at random. Freund & Schapire [2]_ introduced it as the averaged variant of the voted perceptron.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    order : {'random', 'permuted', 'fixed'}, default='random'
        Samples come at random, permuted anew each epoch, or in their fixed order.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
    record_every : int >= 0, default=0
        Keep the weights after every this many epochs (0: only the last).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w, averaged.
    intercept_ : ndarray of shape (1,)
        The bias b, averaged.
    n_features_in_ : int
        Number of features.
    n_mistakes_ : int
        Number of mistakes, each followed by an update.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The averaged weights after these epochs, bias first.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithms 2.2 and 2.6.
    .. [2] Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import AveragedPerceptronClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = AveragedPerceptronClassifier(epochs=100, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82
    True
    """

    # The kernel's (w, late, clock), from which the average is computed: training continues from these.
    _kernel_state: tuple[np.ndarray, np.ndarray, Any] | None = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the averaged weights after all epochs."""
        self._kernel_state = None
        return super().learn(problem, start)

    def _run_kernel(self, Z, step, cut, alias, w, *schedule) -> np.ndarray:
        w, late, clock = self._kernel_state or (w, np.zeros_like(w), 0.0)
        mistakes, clock = online.fit_averaged_perceptron(Z, step, cut, alias, w, late, clock, *schedule)
        self._kernel_state = w, late, clock
        self.n_mistakes_ += mistakes
        return online.compute_average(w, late, clock)

    def _begin(self) -> None:
        super()._begin()
        self._kernel_state = None

    def update_by_rows(
        self, rows: Rows, y: np.ndarray, w: np.ndarray, draws: tuple, schedule: tuple
    ) -> np.ndarray:
        """Return the averaged weights after some epochs, and continue counting mistakes."""
        size = w.size
        w, late, clock = self._kernel_state or (w, np.zeros_like(w), 0.0)
        w, late = w[:size].copy(), late[:size].copy()
        w, clock = self._run_row_kernel(rows, y, draws, w, late, clock, schedule)
        self._kernel_state = pad_columns(w), pad_columns(late), clock
        return online.compute_average(w, late, clock)


class BatchPerceptronClassifier(LinearLearner):
    """The batch perceptron: gradient descent on the sum of max(0, -y <w, x>), the perceptron loss.

    From the course notes "The Perceptron" [1]_. A score of 0 predicts +1, so it is a mistake only for negative
    samples. It stops when nothing is misclassified. There is no `partial_fit`: a step is the sum over all
    samples.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    rate : float > 0, default=1.0
        Learning rate.
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
        Number of epochs until nothing was misclassified, or `epochs`.
    n_features_in_ : int
        Number of features.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    Notes
    -----
    Footnote 1 of the notes calls this loss the hinge loss, which is max(0, 1 - y <w, x>).

    References
    ----------
    .. [1] Course notes "The Perceptron" (003). Eq. (2).

    Examples
    --------
    >>> from zoloss_cli import BatchPerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = BatchPerceptronClassifier().fit(X, y)
    >>> model.score(X, y), model.n_epochs_
    (1.0, 6)
    """

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        rate: Annotated[float, Field(gt=0, description="learning rate")] = 1.0,
        record_every: RecordEvery = 0,
    ):
        self.epochs = epochs
        self.seeding = seeding
        self.rate = rate
        self.record_every = record_every

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights that misclassify nothing, or those after all epochs."""
        step = problem.phi.size * problem.phi

        def run(Z, w, checkpoints, path):
            self.n_epochs_ = online.fit_batch_perceptron(
                Z, problem.y, step, float(self.rate), w, self.epochs, checkpoints, path
            )
            return w

        return run_on_padded_samples(self, problem, start, run)
