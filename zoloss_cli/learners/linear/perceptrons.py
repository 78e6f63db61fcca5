"""The perceptron and its relatives: averaged, voted, pocket, with margin, and ROMMA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online, pocket
from zoloss_cli.kernels.numeric import FIXED_ORDER
from zoloss_cli.kernels.online import fit_to_rows, fit_voted_perceptron
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import BinaryLearner, Epochs, Order, Problem, RecordEvery, Seeding, Weighting
from zoloss_cli.learners.linear.online import (
    NO_ALIAS_TABLE,
    NO_AVERAGE,
    NO_SEED,
    NOT_RECORDED,
    ORDERS,
    OnlineLinearLearner,
    Rows,
    WeightedOnlineLinearLearner,
    build_padded_samples,
    build_steps_and_draws,
    pad_features,
    run_on_padded_samples,
)
from zoloss_cli.learners.linear_base import LinearLearner, UnweightedLinearLearner


@dataclass(eq=False, repr=False)
class PerceptronClassifier(WeightedOnlineLinearLearner):  # numpydoc ignore=PR02
    """Rosenblatt's perceptron learning rule: w <- w + y x on a mistake.

    A zero margin is a mistake. On nonseparable data the rule does not converge; the last weights are kept.
    `partial_fit` learns from a stream.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    order : {'random', 'permuted', 'fixed'}, default='random'
        Order of the samples: drawn at random, permuted anew each epoch, or fixed.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).
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
    >>> model = PerceptronClassifier(order="fixed").fit(X, y)  # separable: it converges
    >>> model.predict(X).tolist()
    ['no', 'yes', 'yes', 'yes']
    >>> model = PerceptronClassifier().partial_fit(X[:2], y[:2], classes=["no", "yes"])
    >>> model.partial_fit(X[2:], y[2:]).n_mistakes_  # all but the last sample; (1, 0) had a margin of 0
    3
    """

    epochs: Epochs = 2000
    seeding: Seeding = "zero"
    order: Order = "random"
    weighting: Weighting = "reweight"
    record_every: RecordEvery = 0
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        step, cut, alias = build_steps_and_draws(self, problem)
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
        rule = 1.0, online.PERCEPTRON_CRITERION
        mistakes, clock = fit_to_rows(tuple(rows), y, draws, w, late, clock, rule, schedule)
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
        Order of the samples: drawn at random, permuted anew each epoch, or fixed.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).
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
        self._kernel_state = pad_features(w), pad_features(late), clock
        return online.compute_average(w, late, clock)


@dataclass(eq=False, repr=False)
class BatchPerceptronClassifier(LinearLearner):  # numpydoc ignore=PR02
    """The batch perceptron: gradient descent on the sum of max(0, -y <w, x>), the perceptron loss.

    A score of 0 predicts +1, so it is a mistake only for negative samples. It stops when nothing is
    misclassified. There is no `partial_fit`: a step is the sum over all samples.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    rate : float > 0, default=1.0
        Learning rate.
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).

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

    epochs: Epochs = 2000
    seeding: Seeding = "zero"
    rate: Annotated[float, Field(gt=0, description="learning rate")] = 1.0
    record_every: RecordEvery = 0

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights that misclassify nothing, or those after all epochs."""
        step = problem.phi.size * problem.phi

        def run(Z, w, checkpoints, path):
            self.n_epochs_ = online.fit_batch_perceptron(
                Z, problem.y, step, float(self.rate), w, self.epochs, checkpoints, path
            )
            return w

        return run_on_padded_samples(self, problem, start, run)


VECTORS_AT_A_TIME = 512  # whose scores of all samples are in memory


@dataclass(eq=False, repr=False)
class VotedPerceptronClassifier(BinaryLearner):  # numpydoc ignore=PR02
    """The voted perceptron: all weight vectors of the perceptron learning rule vote by their survival times.

    Figure 1 of Freund & Schapire [1]_, with a linear kernel. It performs like the averaged perceptron, which Li
    & Lin [2]_ use instead, but is not linear, and keeps a vector for each mistake.

    Parameters
    ----------
    epochs : int >= 1, default=100
        Number of epochs.
    order : {'random', 'permuted', 'fixed'}, default='random'
        Order of the samples: drawn at random, permuted anew each epoch, or fixed.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    n_features_in_ : int
        Number of features.
    n_mistakes_ : int
        Number of mistakes, each followed by an update.
    survival_times_ : ndarray of shape (n_mistakes_,)
        For each weight vector, the number of trials from its creation to the next mistake.
    vectors_ : ndarray of shape (n_mistakes_, 1 + n_features)
        The weight vectors in order, bias first.

    See Also
    --------
    AveragedPerceptronClassifier : The mean of the same vectors.

    Notes
    -----
    Deviations: samples have a constant feature for the bias, as in [2]_; they come at random by default, as in
    Algorithm 2.6 of [3]_, while [1]_ cycles through them (order 'fixed'); a margin of 0 is a mistake; a vector
    whose score is 0 votes for the second class; sample weights are step sizes, as in [3]_.

    References
    ----------
    .. [1] Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm.
       Figure 1.
    .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section II.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 2.2 and Algorithm 2.6.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import VotedPerceptronClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = VotedPerceptronClassifier(epochs=20, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82, model.vectors_.shape == (model.n_mistakes_, 14)
    (True, True)
    """

    epochs: Epochs = 100
    order: Order = "random"
    weighting: Weighting = "reweight"
    random_state: Any = None

    def train(self, problem: Problem) -> None:
        """Store the weight vectors of all epochs and their survival times."""
        step, cut, alias = build_steps_and_draws(self, problem)
        Z, seed = build_padded_samples(problem), problem.draw_kernel_seed()
        vectors, self.survival_times_ = fit_voted_perceptron(
            Z, step, cut, alias, self.epochs, ORDERS[self.order], seed
        )
        self.vectors_ = vectors[:, : problem.X.shape[1]].copy()
        self.n_mistakes_ = len(vectors)
        if not np.isfinite(self.vectors_.sum()):
            raise ValueError(f"{type(self).__name__}: the weights are no longer finite; scale the features")

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the votes for the second class minus those for the first, as a share of all."""
        votes = np.zeros(X.shape[0])
        for start in range(0, len(self.vectors_), VECTORS_AT_A_TIME):
            block = slice(start, start + VECTORS_AT_A_TIME)
            votes += predict_signs(X @ self.vectors_[block].T) @ self.survival_times_[block]
        return votes / self.survival_times_.sum()


@dataclass(eq=False, repr=False)
class PocketClassifier(LinearLearner):  # numpydoc ignore=PR02
    """The pocket algorithm: the best weights that the perceptron learning rule visits.

    Weights enter the pocket if their run of correct trials is longer than that of the weights in it; with
    ratchet, only if they also have fewer training errors. There is no `partial_fit`: admission depends on all
    samples.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    ratchet : bool, default=True
        Admit to the pocket only weights with fewer training errors.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample').
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w in the pocket.
    intercept_ : ndarray of shape (1,)
        The bias b in the pocket.
    n_error_counts_ : int
        Number of times that the training errors were counted (the thesis gives 33,170 for pima from FLD).
    n_features_in_ : int
        Number of features.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights in the pocket after these epochs, bias first.

    Notes
    -----
    Deviations, both as in the authors' program: the pocket starts with the error of the seed rather than 1, and
    the fit ends once the pocket's error is 0.

    References
    ----------
    .. [1] Gallant, S. I. (1990). Perceptron-based learning algorithms.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 2.1.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PocketClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = PocketClassifier(record_every=500, random_state=0).fit(scale(X), y)
    >>> errors = model.recorded_errors(scale(X), y)  # the pocket never gets worse
    >>> bool((errors[1:] <= errors[:-1]).all()), bool(errors[-1] < 0.15)
    (True, True)
    """

    reports: ClassVar[tuple[str, ...]] = ("error_counts",)
    version = 2  # 2: epochs with many mistakes run in the primal, which rounds differently

    epochs: Epochs = 2000
    seeding: Seeding = "zero"
    ratchet: Annotated[
        bool, Field(description="admit to the pocket only weights with fewer training errors")
    ] = True
    weighting: Weighting = "reweight"
    record_every: RecordEvery = 0
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights in the pocket after all epochs."""
        step, cut, alias = build_steps_and_draws(self, problem)
        seed, phi = problem.draw_kernel_seed(), problem.phi_fixed

        def run(Z, w, checkpoints, path):
            dual = Z.shape[0] <= pocket.MAX_GRAM_SAMPLES
            gram = problem.cached_by_X_and_y("gram", lambda: Z @ Z.T) if dual else np.empty((0, 0))
            Z_T = problem.cached_by_X_and_y("padded columns", lambda: np.ascontiguousarray(Z.T))
            samples = Z, Z_T, step, phi, cut, alias
            best, self.n_error_counts_ = pocket.fit_pocket(
                *samples, w, self.epochs, self.ratchet, gram, seed, checkpoints, path
            )
            return best

        return run_on_padded_samples(self, problem, start, run)


@dataclass(eq=False, repr=False)
class MarginPerceptronClassifier(OnlineLinearLearner, UnweightedLinearLearner):  # numpydoc ignore=PR02
    """Margin Perceptron(gamma): the perceptron that also updates on small margins.

    It updates on samples with a margin below (1 - epsilon) gamma; with gamma/2, on data separable with
    margin gamma, it makes at most 8 (R/gamma)^2 + 4 R/gamma updates. It stops after an epoch without an update.
    `partial_fit` learns from a stream.

    Parameters
    ----------
    gamma : float > 0, default=0.1
        Target margin.
    epsilon : float in (0, 1], default=0.5
        Update on margins below (1 - epsilon) gamma.
    epochs : int >= 1, default=2000
        Number of epochs.
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).

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

    gamma: Annotated[float, Field(gt=0, description="target margin")] = 0.1
    epsilon: Annotated[float, Field(gt=0, le=1, description="update on margins below (1 - epsilon) gamma")] = (
        0.5
    )
    epochs: Epochs = 2000
    record_every: RecordEvery = 0

    @property
    def margin_threshold(self) -> float:
        """The margin below which the learner updates."""
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


@dataclass(eq=False, repr=False)
class ROMMAClassifier(OnlineLinearLearner, UnweightedLinearLearner):  # numpydoc ignore=PR02
    """ROMMA, the relaxed online maximum margin algorithm, and its aggressive form.

    `partial_fit` learns from a stream. Li's thesis [2]_ reports that it oscillates on nonseparable data and
    runs into numerical trouble after several hundred epochs.

    Parameters
    ----------
    epochs : int >= 1, default=100
        Number of epochs.
    aggressive : bool, default=False
        Also update on margins below 1.
    order : {'random', 'permuted', 'fixed'}, default='random'
        Order of the samples: drawn at random, permuted anew each epoch, or fixed.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).
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

    epochs: Epochs = 100
    aggressive: Annotated[bool, Field(description="also update on margins below 1")] = False
    order: Order = "random"
    seeding: Seeding = "zero"
    record_every: RecordEvery = 0
    random_state: Any = None

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
