"""What all learners share: checks, labels, sample weights, scikit-learn's contract; and linear ones besides."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg  # noqa: F401  numba's matrix products run on SciPy's BLAS: load it before counting threads
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from zoloss_cli.kernels.line_search import fixed_point
from zoloss_cli.kernels.zero_one import strict_mistakes
from zoloss_cli.learners.parameters import check_parameters


def _once(made: dict, name, make: Callable):
    if name not in made:
        made[name] = make()
    return made[name]


@dataclass(frozen=True)
class Samples:
    """Examples in the kernels' form, and what was made of them for all who look at them."""

    X: np.ndarray  # N x (m+1), the constant 1 first
    _cache: dict = field(default_factory=dict, kw_only=True)

    def cached_by_X(self, name, make: Callable):
        """Made at the first call from X alone and kept: problems on the same rows share it."""
        return _once(self._cache, name, make)


@dataclass(frozen=True)
class Problem(Samples):
    """A checked binary problem in the kernels' form."""

    y: np.ndarray  # -1.0 or +1.0
    phi: np.ndarray  # sample weights, summing to 1
    rng: np.random.Generator
    made: dict = field(default_factory=dict)
    subset_of: tuple[Samples, np.ndarray] | None = None  # the rows that these were taken from, and which they are

    def cached_by_X_and_y(self, name: str, make: Callable):
        """Made at the first call from X and y and kept: rounds of boosting differ in phi alone and share it."""
        return _once(self.made, name, make)

    @property
    def all_samples(self) -> tuple[Samples, np.ndarray | slice]:
        """All rows that are known, and which of them this problem has."""
        return self.subset_of or (self, slice(None))

    @property
    def unit_mean_weights(self) -> np.ndarray:
        """Sample weights with mean 1: exactly 1 where all are equal, so that their sums are counts."""
        return np.ones(self.phi.size) if np.ptp(self.phi) == 0.0 else self.phi * self.phi.size

    @property
    def phi_fixed(self) -> np.ndarray:
        return fixed_point(self.phi)

    def draw_kernel_seed(self) -> np.uint64:
        return self.rng.integers(0, 2**64, dtype=np.uint64)


@functools.cache
def load_blas_controller() -> ThreadpoolController:
    return ThreadpoolController()


def build_generator(random_state) -> np.random.Generator:
    """A Generator from an int, None, SeedSequence, Generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def add_bias_column(X: np.ndarray) -> np.ndarray:
    """The rows (1, x)."""
    design = np.empty((X.shape[0], X.shape[1] + 1))
    design[:, 0] = 1.0
    design[:, 1:] = X
    return design


class Learner(ClassifierMixin, BaseEstimator):
    """A classifier of labels of any kind: what those for two classes and those for more share.

    Attributes after fit: `classes_`, `n_features_in_`.
    """

    version = 1  # raise when results change, so that stored ones are not taken for new ones
    random_state = None  # a deterministic learner's __init__ takes none
    multiclass = False  # whether it takes more than two classes

    def __init__(self, random_state=None):
        self.random_state = random_state

    @property
    def deterministic(self) -> bool:
        """Whether it learns the same from the same rows, whatever the seed."""
        return "random_state" not in self.get_params(deep=False)

    def _validate_fit_input(self, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(X, class indices, sample weights that sum to 1); sets `classes_`."""
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        name = type(self).__name__
        self.check_classes(self.classes_.size)
        phi = self._validate_sample_weight(X, sample_weight)
        present = np.unique(codes[phi > 0.0])
        if present.size < 2:
            only = self.classes_[present[0]]
            raise ValueError(f"{name} needs two classes with weight, but y holds one class: '{only}'")
        return X, codes, phi / phi.sum()

    def check_classes(self, count: int) -> None:
        """Raise ValueError if so many classes are more than it takes."""
        if count > 2 and not self.multiclass:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} separates two classes, and y holds {count}."
            )

    def _validate_sample_weight(self, X: np.ndarray, sample_weight) -> np.ndarray:
        if sample_weight is None:
            return np.ones(X.shape[0])
        name = type(self).__name__
        try:
            phi = _check_sample_weight(sample_weight, X, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if phi.min() < 0.0:
            raise ValueError(f"{name}: the sample weight of row {phi.argmin()} is negative ({phi.min():g})")
        if phi.sum() <= 0.0:
            raise ValueError(f"{name}: the sample weights are all zero")
        return phi

    def _validate_samples(self, X) -> np.ndarray:
        check_is_fitted(self)
        return add_bias_column(validate_data(self, X, dtype=np.float64, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multiclass
        return tags


class BinaryLearner(Learner):
    """A classifier for two classes of any labels.

    Subclasses write `train`, which learns from a checked Problem, and `scores`. A score of 0 predicts the
    second class, as the papers' programs do.
    """

    def fit(self, X, y, sample_weight=None):
        """Learn from N x m features and N labels of two classes, optionally with sample weights."""
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        problem = self._build_problem(X, y, sample_weight)
        # The matrices are small: BLAS threads cost more than they bring.
        with load_blas_controller().limit(limits=1, user_api="blas"):
            self.train(problem)
        return self

    def train(self, problem: Problem) -> None:
        """Learn and set what is known after fit; the first step of `fit` has checked everything."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def scores(self, X: np.ndarray) -> np.ndarray:
        """The signed score of each row (1, x) of X."""
        raise TypeError(f"{type(self).__name__} does not say how it scores")

    def compute_scores(self, rows: Samples) -> np.ndarray:
        """The scores of rows that others look at too, so that something may be shared."""
        return self.scores(rows.X)

    def _build_problem(self, X, y, sample_weight) -> Problem:
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        signs = np.where(codes == 1, 1.0, -1.0)
        return Problem(add_bias_column(X), signs, phi, build_generator(self.random_state))

    def decision_function(self, X):
        """The signed score of each row; at least 0 stands for the second class."""
        return self.scores(self._validate_samples(X))

    def predict(self, X):
        """The class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0.0).astype(int)]


class LinearLearner(BinaryLearner):
    """A classifier sign(<w, x> + b).

    Subclasses write `learn`, which turns a Problem and the starting weights into weights with the bias
    first. Attributes after fit: `coef_`, `intercept_`, and for learners that record their epochs
    `recorded_epochs_` and `recorded_weights_` (one row an epoch, bias first).
    """

    def train(self, problem):
        self._store_weights(self.learn(problem, self._compute_start(problem)))

    def _store_weights(self, weights: np.ndarray) -> None:
        """Set what is known of the weights, bias first."""
        if not math.isfinite(weights.sum()):
            raise FloatingPointError(
                f"{type(self).__name__}: the weights are no longer finite; scale the features"
            )
        self.set_weights(weights)

    def set_weights(self, weights: np.ndarray) -> None:
        """Take these for what was learned, bias first."""
        self.coef_ = weights[None, 1:].copy()
        self.intercept_ = weights[:1].copy()

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """The weights, bias first. `start` may be changed."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def scores(self, X):
        return X @ np.concatenate([self.intercept_, self.coef_[0]])

    def _compute_start(self, problem: Problem) -> np.ndarray:
        seeding = getattr(self, "seeding", "zero")
        if isinstance(seeding, str):
            if seeding == "fld":
                from zoloss_cli.learners.linear.fld import compute_fisher_weights

                return compute_fisher_weights(problem.X, problem.y, problem.phi)
            return np.zeros(problem.X.shape[1])
        start = np.array(seeding, dtype=np.float64)
        if start.shape != (problem.X.shape[1],):
            raise ValueError(
                f"{type(self).__name__}: seeding has {start.size} weights, but {problem.X.shape[1]} are "
                f"needed (the bias first, then one a feature)"
            )
        return start

    def _prepare_recording(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """The epochs to record, and room for their weights."""
        every = self.record_every
        epochs = np.arange(every, self.epochs + 1, every) if every else np.empty(0, np.int64)
        self.recorded_epochs_ = epochs.astype(np.int64)
        self.recorded_weights_ = np.zeros((epochs.size, problem.X.shape[1]))
        return self.recorded_epochs_, self.recorded_weights_

    def recorded_errors(self, X, y) -> np.ndarray:
        """The share of errors on (X, y) after each recorded epoch; a zero margin is an error."""
        check_is_fitted(self, "recorded_weights_")
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        return strict_mistakes(self.recorded_scores(np.asarray(X)), signs).mean(axis=1)

    def recorded_scores(self, X: np.ndarray) -> np.ndarray:
        """The scores of the rows of X after each recorded epoch, one row an epoch."""
        return self.recorded_weights_[:, :1] + self.recorded_weights_[:, 1:] @ X.T


class UnweightedLinearLearner(LinearLearner):
    """A linear learner whose algorithm has no place for sample weights."""

    def fit(self, X, y):
        """Learn from N x m features and N labels of two classes."""
        return self._fit(X, y, None)
