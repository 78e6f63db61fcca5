"""Online learners: base class, stochastic gradient descent, streams, sparse rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from zoloss_cli.kernels import online as kernels
from zoloss_cli.kernels.numeric import FIXED_ORDER, PERMUTED, RANDOM, build_alias_table
from zoloss_cli.learners.base import (
    Epochs,
    Problem,
    RecordEvery,
    Seeding,
    Weighting,
    build_generator,
    check_feature_sizes,
    check_parameters,
    drop_tiny_values,
    refuse_masked,
    sum_weights,
)
from zoloss_cli.learners.linear_base import LinearLearner

ORDERS = {"fixed": FIXED_ORDER, "permuted": PERMUTED, "random": RANDOM}
NO_ALIAS_TABLE = (np.empty(0, np.uint64), np.empty(0, np.int32))
COLUMN_MULTIPLE = 4
PADDED_SAMPLES = "padded samples"  # their key in the cache of a problem


def pad_features(X: np.ndarray) -> np.ndarray:
    """Return X with zero columns up to a multiple of four, so that inner products need no remainder loop."""
    columns = X.shape[-1]
    padded = np.zeros((*X.shape[:-1], columns + -columns % COLUMN_MULTIPLE))
    padded[..., :columns] = X
    return padded


def build_padded_samples(problem: Problem) -> np.ndarray:
    """Return the samples y (1, x), padded."""
    return problem.cached_by_X_and_y(PADDED_SAMPLES, lambda: sign_and_pad(problem.X[:, 1:], problem.y))


def sign_and_pad(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the samples y (1, x) of features X, padded, without an intermediate copy."""
    n, m = X.shape
    padded = np.zeros((n, 1 + m + -(1 + m) % COLUMN_MULTIPLE))
    padded[:, 0] = y
    np.multiply(X, y[:, None], out=padded[:, 1 : 1 + m])
    return padded


def build_steps_and_draws(learner: Any, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sample weights as online kernels take them: step sizes, and an alias table for draws.

    With 'reweight', weights are step sizes N phi_i under uniform draws, and the table is empty; with
    'resample', samples are drawn by phi, with steps of 1.
    """
    n = problem.phi.size
    if np.all(problem.phi == problem.phi[0]):
        return np.ones(n), *NO_ALIAS_TABLE
    if learner.weighting == "resample":
        if getattr(learner, "order", "random") != "random":
            raise ValueError(
                f"{type(learner).__name__}: weighting='resample' draws at random; "
                f"order={learner.order!r} cannot"
            )
        return np.ones(n), *build_alias_table(problem.phi)
    return n * problem.phi, *NO_ALIAS_TABLE


def run_on_padded_samples(
    learner: LinearLearner,
    problem: Problem,
    start: np.ndarray,
    run: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the weights of an online kernel that runs on padded samples, without the padding.

    `run` is called with the padded samples y (1, x), the padded start, the epochs to record, and an array for
    their weights; it returns padded weights.
    """
    checkpoints, path = learner._prepare_recording(problem)
    wide_path = pad_features(path)
    w = run(build_padded_samples(problem), pad_features(start), checkpoints, wide_path)
    size = problem.X.shape[1]
    path[:] = wide_path[:, :size]
    return w[:size]


ROWS_PER_PREDICTION = 65_536
NO_AVERAGE = np.empty(0)


class Rows(NamedTuple):
    """Samples in the form that `kernels.online.fit_to_rows` takes."""

    data: np.ndarray  # the values of all samples, one sample after the other
    columns: np.ndarray  # the feature of each value; for a dense array, those of one sample
    starts: np.ndarray  # (n_samples + 1,): where each sample begins
    shares_columns: bool  # whether the array is dense


def check_value_sizes(X: Any, name: str) -> None:
    """Raise ValueError if products of values overflow or vanish, in a feature or anywhere in sparse samples."""
    if not sparse.issparse(X):
        check_feature_sizes(X, name)
    elif X.data.size:
        check_feature_sizes(X.data[:, None], name)


def view_rows(X: Any) -> Rows:
    """Return a view of validated samples, CSR or a C contiguous array; nothing is copied."""
    if sparse.issparse(X):
        return Rows(X.data, X.indices, X.indptr, False)
    n, m = X.shape
    return Rows(X.reshape(n * m), np.arange(m, dtype=np.int32), np.arange(n + 1, dtype=np.int64) * m, True)


NOT_RECORDED = np.empty(0, np.int64), np.empty((0, 0))
NO_SEED = np.uint64(0)  # in a fixed order nothing is drawn
MAX_COPY_BYTES = 64 << 20  # beyond this, samples are copied only once


class OnlineLinearLearner(LinearLearner):
    """A linear learner whose algorithm processes one sample at a time, without sample weights.

    Subclasses implement `update_in_order`. A call of `partial_fit` changes the weights sample by sample, each
    sample once, in the order given: `epochs`, `order` and `record_every` apply only to `fit`. The first call
    starts from `seeding`, later ones from where the last call, or `fit`, ended; `fit` starts over.
    """

    def partial_fit(self, X, y, classes=None) -> Self:
        """Fit to more samples, each once and in this order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (2,) or None, default=None
            Both labels that can occur in y; required in the first call.

        Returns
        -------
        object
            The fitted classifier.
        """
        return self._partial_fit(X, y, classes, None)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the padded weights after one pass over the padded samples y (1, x); w may be overwritten."""
        raise TypeError(f"{type(self).__name__} does not implement update_in_order")

    def _partial_fit(self, X, y, classes, sample_weight) -> Self:
        first = not hasattr(self, "coef_")
        check_parameters(self)
        refuse_masked(type(self).__name__, X=X, y=y)
        accepted = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        X, y = validate_data(self, X, y, accept_sparse=accepted, dtype=np.float64, order="C", reset=first)
        is_sparse = sparse.issparse(X)
        # Before the check: a feature that is tiny here may not be in later samples.
        X = X if is_sparse else drop_tiny_values(X)
        check_value_sizes(X, type(self).__name__)
        check_classification_targets(y)
        known = self._validate_classes(y, classes, first)
        step = self._validate_sample_weight(X, sample_weight)
        if not np.isfinite(sum_weights(step)):
            raise ValueError(f"{type(self).__name__}: the sample weights are too large to add up; scale them")
        signs = np.where(y == known[1], 1.0, -1.0)
        if first:
            size = 1 + X.shape[1]
            w = self._compute_first_weights(
                Problem(np.empty((0, size)), signs, step, build_generator(self.random_state))
            )
        else:
            w = np.concatenate([self.intercept_, self.coef_[0]])
        weights = self._update(X, signs, step, w)
        self.classes_ = known
        self._store_weights(weights[: w.size])
        return self

    def _update(self, X, signs: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights, which may be padded, after one pass over validated samples."""
        return self.update_in_order(sign_and_pad(X, signs), step, pad_features(w))

    def _arrange_samples(self, X: np.ndarray, signs: np.ndarray, phi: np.ndarray) -> Problem:
        if X.nbytes <= MAX_COPY_BYTES or getattr(self, "seeding", "zero") == "fld":
            return super()._arrange_samples(X, signs, phi)
        # Kernels read only padded samples. Of the others, only the number of features is needed.
        own: dict[Hashable, Any] = {PADDED_SAMPLES: sign_and_pad(X, signs)}
        return Problem(np.empty((0, 1 + X.shape[1])), signs, phi, build_generator(self.random_state), own)

    def _validate_classes(self, y: np.ndarray, classes, first: bool) -> np.ndarray:
        """Return both classes, which the first call sets and later calls reuse."""
        name = type(self).__name__
        if first and classes is None:
            raise ValueError(
                f"{name}: the first call of partial_fit needs classes, the two labels that y may contain"
            )
        known = unique_labels(classes) if first else self.classes_
        self.check_classes(known.size)
        if known.size < 2:
            raise ValueError(f"{name} needs two classes, but classes holds one class: '{known[0]}'")
        if classes is not None and not np.array_equal(known, unique_labels(classes)):
            raise ValueError(f"{name}: classes={list(classes)} are not those of the first call, {list(known)}")
        unknown = y[~np.isin(y, known)]
        if unknown.size:
            raise ValueError(f"{name}: y holds '{unknown[0]}', which is not one of the classes {list(known)}")
        return known

    def _compute_first_weights(self, problem: Problem) -> np.ndarray:
        if isinstance(seeding := getattr(self, "seeding", "zero"), str) and seeding != "zero":
            raise ValueError(
                f"{type(self).__name__}: seeding='{seeding}' needs all samples at once; "
                f"partial_fit, and sparse or mapped samples, start from 'zero' or from given weights"
            )
        return self._compute_start(problem)


class WeightedOnlineLinearLearner(OnlineLinearLearner):
    """A linear learner whose algorithm processes one sample at a time, with sample weights.

    Sparse matrices and memory-mapped arrays are used in place, without a copy; for this, subclasses implement
    `update_by_rows`.
    """

    weighting: str  # a parameter of subclasses
    order: str = "random"  # a parameter of some subclasses

    def update_by_rows(
        self, rows: Rows, y: np.ndarray, w: np.ndarray, draws: tuple, schedule: tuple
    ) -> np.ndarray:
        """Return the weights after some epochs on samples that are used in place; w may be overwritten.

        `draws` is what `build_steps_and_draws` returns; `schedule` is epochs, order, seed, epochs to record,
        and an array for their weights.
        """
        raise TypeError(f"{type(self).__name__} takes no sparse samples")

    def _fit(self, X, y, sample_weight) -> Self:
        if not (sparse.issparse(X) or isinstance(X, np.memmap)):
            return super()._fit(X, y, sample_weight)
        check_parameters(self)
        refuse_masked(type(self).__name__, y=y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        check_value_sizes(X, type(self).__name__)
        codes, phi = self._validate_labels(X, y, sample_weight)
        # A problem without samples: only the number of features is needed.
        signs, rng = np.where(codes == 1, 1.0, -1.0), build_generator(self.random_state)
        problem = Problem(np.empty((0, 1 + X.shape[1])), signs, phi, rng)
        w, draws = self._compute_first_weights(problem), build_steps_and_draws(self, problem)
        schedule = (
            self.epochs,
            ORDERS[self.order],
            problem.draw_kernel_seed(),
            *self._prepare_recording(problem),
        )
        self._begin()
        self._store_weights(self.update_by_rows(view_rows(X), signs, w, draws, schedule))
        return self

    def _update(self, X, signs: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        if not sparse.issparse(X):
            return super()._update(X, signs, step, w)
        schedule = 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED
        return self.update_by_rows(view_rows(X), signs, w, (step, *NO_ALIAS_TABLE), schedule)

    def _begin(self) -> None:
        """Reset the state from which an earlier fit would continue."""

    def decision_function(self, X) -> np.ndarray:
        """Return the signed score of each sample, dense or sparse; at least 0 predicts the second class."""
        if sparse.issparse(X):
            check_is_fitted(self)
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            return np.asarray(X @ self.coef_[0] + self.intercept_[0])
        if isinstance(X, np.memmap) and X.ndim == 2 and len(X) > ROWS_PER_PREDICTION:
            compute, rows = super().decision_function, ROWS_PER_PREDICTION
            return np.concatenate([compute(X[start : start + rows]) for start in range(0, len(X), rows)])
        return super().decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Fit to more samples, each once and in this order.

        Weights are step sizes, all 1 if None. Unlike in `fit`, they are not relative to the mean weight, which
        is unknown in a stream.
        """
        if sample_weight is not None and self.weighting == "resample":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws by sample weight, but partial_fit uses "
                f"every sample once; use 'reweight'"
            )
        return self._partial_fit(X, y, classes, sample_weight)


COSTS = {
    "hinge": kernels.HINGE,
    "mls": kernels.MODIFIED_LEAST_SQUARES,
    "ls": kernels.LEAST_SQUARES,
    "perceptron": kernels.PERCEPTRON_CRITERION,
}


@dataclass(eq=False, repr=False)
class MarginSGDClassifier(WeightedOnlineLinearLearner):  # numpydoc ignore=PR02
    """Stochastic gradient descent with a constant rate on a cost of the margin.

    The costs of a margin rho = y <w, x> are

    - hinge: max(0, 1 - rho);
    - mls: (max(0, 1 - rho))^2, the modified least squares;
    - ls: (1 - rho)^2, the least squares;
    - perceptron: max(0, -rho).

    `partial_fit` learns from a stream.

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

    cost: Annotated[Literal["hinge", "mls", "ls", "perceptron"], Field(description="margin cost")] = "hinge"
    epochs: Epochs = 2000
    rate: Annotated[float, Field(gt=0, description="learning rate")] = 0.002
    seeding: Seeding = "zero"
    weighting: Weighting = "reweight"
    record_every: RecordEvery = 0
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        step, cut, alias = build_steps_and_draws(self, problem)
        seed = problem.draw_kernel_seed()

        def run(Z, w, *recording):
            return self._run_kernel(Z, step, cut, alias, w, self.epochs, RANDOM, seed, *recording)

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one epoch in fixed order."""
        return self._run_kernel(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)

    def _run_kernel(self, Z, step, cut, alias, w, epochs, *schedule) -> np.ndarray:
        """Return the weights after the kernel's epochs, starting from w, which is overwritten."""
        kernels.fit_sgd(Z, step, cut, alias, w, epochs, float(self.rate), COSTS[self.cost], *schedule)
        return w

    def update_by_rows(
        self, rows: Rows, y: np.ndarray, w: np.ndarray, draws: tuple, schedule: tuple
    ) -> np.ndarray:
        """Return the weights after some epochs."""
        rule = float(self.rate), COSTS[self.cost]
        kernels.fit_to_rows(tuple(rows), y, draws, w, NO_AVERAGE, 0.0, rule, schedule)
        return w


def progressive_errors(learner: Any, X, y, classes=None) -> np.ndarray:
    """Predict each sample, then fit to it, and return which predictions were wrong.

    Their mean is the progressive validation error: every sample tests the model fitted to those before it. The
    learner continues from its current state. An unfitted learner makes no prediction for the first sample,
    which counts as an error.

    Parameters
    ----------
    learner : estimator
        Any classifier with `partial_fit`.
    X : array-like of shape (n_samples, n_features)
        Samples, in the order of the stream.
    y : array-like of shape (n_samples,)
        Labels.
    classes : array-like of shape (n_classes,) or None, default=None
        All labels that can occur; None: those in y.

    Returns
    -------
    ndarray of shape (n_samples,)
        Whether each sample was predicted wrongly.

    Examples
    --------
    >>> import numpy as np
    >>> from zoloss_cli import PerceptronClassifier, progressive_errors
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> wrong = progressive_errors(PerceptronClassifier(), X, X[:, 0] > X[:, 1])
    >>> bool(wrong[:200].sum() > wrong[200:].sum())
    True
    """
    refuse_masked("progressive_errors", X=X, y=y)
    X, y = np.asarray(X), np.asarray(y)
    classes = np.unique(y) if classes is None else classes
    wrong = np.ones(len(y), bool)
    for i in range(len(y)):
        sample, label = X[i : i + 1], y[i : i + 1]
        with contextlib.suppress(NotFittedError):
            wrong[i] = learner.predict(sample)[0] != label[0]
        learner.partial_fit(sample, label, classes=classes)
    return wrong
