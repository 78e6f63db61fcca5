"""Base classes of learners, their training data, and the parameters that several of them share."""

from __future__ import annotations

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
import scipy.linalg  # numba's matrix products run on SciPy's BLAS: load it before counting threads
import scipy.sparse
from pydantic import AfterValidator, Field, ValidationError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from zoloss_cli.kernels.line_search import to_fixed_point
from zoloss_cli.utils.signature import RANDOM_STATE, Nested, learner_parameters

Value = TypeVar("Value")


class NeededPackage(NamedTuple):
    """A package that a learner imports when it is fitted."""

    module: str
    purpose: str = ""  # what it is needed for, if not for the whole learner: "for its start 'lr'"
    instead: str = ""  # what to do instead of installing it, if anything


# Type, range, default and description of a parameter are declared once. The checks at fit and of configs, the
# text of `zoloss learners`, the JSON schema for editors and the test of docstrings are derived from them.

Epochs = Annotated[int, Field(ge=1, description="number of epochs")]
Seeding = Annotated[
    Literal["zero", "fld"] | list[float],
    Field(
        description="weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list "
        "(bias first)"
    ),
]
RecordEvery = Annotated[
    int, Field(ge=0, description="number of epochs between recorded weights (0: record only the last)")
]
Weighting = Annotated[
    Literal["reweight", "resample"],
    Field(description="use sample weights as step sizes ('reweight') or to draw samples ('resample')"),
]
Order = Annotated[
    Literal["random", "permuted", "fixed"],
    Field(description="order of the samples: drawn at random, permuted anew each epoch, or fixed"),
]
Rounds = Annotated[int, Field(ge=1, description="maximum number of rounds")]
RecordEveryRound = Annotated[
    int, Field(ge=0, description="number of rounds between recorded scores and costs (0: record none)")
]
PerfectOdds = Annotated[float, Field(gt=1, description="odds to use for (1 - e) / e in a round without errors")]


def _validate_learner(value: Any) -> Any:
    named = isinstance(value, str) or (isinstance(value, Mapping) and isinstance(value.get("learner"), str))
    if named or hasattr(value, "train"):
        return value
    raise ValueError("must be a learner's name, a mapping with the name under 'learner', or a learner")


BaseLearner = Annotated[
    Any,
    Nested(),
    AfterValidator(_validate_learner),
    Field(description="the base learner: its name, or {learner: its name, and its parameters}"),
]

PositiveList = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]


def check_parameters(estimator: Any) -> None:
    """Raise ValueError with one sentence for each wrong parameter of a learner or a measure."""
    values = {k: _to_python(v) for k, v in estimator.get_params(deep=False).items() if k != RANDOM_STATE}
    try:
        learner_parameters(type(estimator)).model_validate(values)
    except ValidationError as mistake:
        lines = [
            f"{type(estimator).__name__}: {'.'.join(str(p) for p in e['loc'][:1])}={e['input']!r}: {e['msg']}"
            for e in mistake.errors()
        ]
        raise ValueError("\n".join(lines)) from None


def _to_python(value: Any) -> Any:
    """Convert NumPy values and tuples to Python numbers and lists, so that a grid of NumPy values is valid."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


# Weights below this share of the largest one do not change a solution.
NEGLIGIBLE_WEIGHT_SHARE = 1e-9
# Of a feature: fourth powers of values in this range, and their sums, are still normal numbers.
MAX_FEATURE_SIZE = 1e75
MIN_FEATURE_SIZE = 1e-75
ROWS_PER_BLOCK = 16_384


@dataclass(frozen=True)
class Samples:
    """Samples in the form that kernels take, with a cache of derived results."""

    X: np.ndarray  # (n_samples, 1 + n_features): the constant 1 first
    _cache: dict[Hashable, Any] = field(default_factory=dict, kw_only=True, repr=False)

    def cached_by_X(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, called once per key for all problems that share these samples."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def build_problem(
        self,
        y: np.ndarray,
        phi: np.ndarray,
        rng: np.random.Generator,
        label_cache: dict[Hashable, Any],
    ) -> Problem:
        """Return the binary problem on the samples whose label is not 0; their weights phi must sum to 1."""
        if np.all(y):
            return Problem(self.X, y, phi, rng, label_cache, _cache=self._cache)
        subset = np.flatnonzero(y)
        return Problem(self.X[subset], y[subset], phi[subset], rng, label_cache, (self, subset))


@dataclass(frozen=True)
class Problem(Samples):
    """A validated binary classification problem in the form that kernels take."""

    y: np.ndarray  # labels, -1.0 or +1.0
    phi: np.ndarray  # sample weights, which sum to 1
    rng: np.random.Generator  # source of random draws
    _label_cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    subset_of: tuple[Samples, np.ndarray] | None = None  # the samples these were taken from, and their indices
    features: np.ndarray | None = None  # X without the constant, if a learner may use X as workspace
    exact: Any = None  # ExactFeatures: the values that bounds hold for, for learners that prove any

    def cached_by_X_and_y(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, called once per key for problems that differ in weights only."""
        if key not in self._label_cache:
            self._label_cache[key] = compute()
        return self._label_cache[key]

    @property
    def all_samples(self) -> tuple[Samples, np.ndarray | slice]:
        """The samples that these were taken from, or these themselves, and which of them this problem has."""
        return self.subset_of or (self, slice(None))

    @property
    def unit_mean_weights(self) -> np.ndarray:
        """Sample weights with mean 1: exactly 1 if all are equal, so that their sums are counts."""
        return np.ones(self.phi.size) if np.ptp(self.phi) == 0.0 else self.phi * self.phi.size

    @property
    def phi_fixed(self) -> np.ndarray:
        """Sample weights as fixed-point integers, whose sums do not depend on their order."""
        return to_fixed_point(self.phi)

    def draw_kernel_seed(self) -> np.uint64:
        """Return a seed for the random draws of a kernel."""
        return self.rng.integers(0, 2**64, dtype=np.uint64)


def build_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator from an int, None, SeedSequence, Generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


@contextlib.contextmanager
def set_within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable within a block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_names: ContextVar[list[str] | None] = ContextVar("names", default=None)


def name_features(names: Sequence[str]) -> AbstractContextManager[None]:
    """Name the features of arrays with as many columns within a block, instead of x0, x1, ..."""
    return set_within(_names, list(names))


def find_feature_names(n_features: int, own: Sequence[str] | None) -> list[str]:
    """Return the names of features: from the DataFrame, or from the caller, or x0, x1, ..."""
    known = _names.get()
    if own is not None:
        return [str(name) for name in own]
    if known is not None and len(known) == n_features:
        return known
    return [f"x{j}" for j in range(n_features)]


def check_feature_sizes(X: np.ndarray, name: str) -> None:
    """Raise ValueError if a feature cannot be used: products of its values overflow or vanish."""
    sizes = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    wrong = (sizes > MAX_FEATURE_SIZE) | ((sizes < MIN_FEATURE_SIZE) & (sizes > 0.0))
    if np.any(wrong):
        j = int(np.argmax(wrong))
        extreme = "large" if sizes[j] > 1.0 else "small"
        raise ValueError(
            f"{name}: feature {j} (counted from 0) has values of size {sizes[j]:.3g}, too {extreme} to compute "
            f"with; measure them on another scale, or scale the features"
        )


def refuse_masked(name: str, **arrays: Any) -> None:
    """Raise ValueError if a value of an array is masked: its number is meaningless."""
    for key, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise ValueError(
                f"{name}: {key} has masked values, {np.ma.count_masked(values)} of {values.size}: leave these "
                f"samples out, or fill them in with {key}.filled(VALUE)"
            )


def drop_tiny_values(X: np.ndarray) -> np.ndarray:
    """Return X with 0 for values that are too small to divide by; X itself if there are none."""
    for start in range(0, len(X), ROWS_PER_BLOCK):  # in blocks: all at once would take as much memory as X
        part = np.abs(X[start : start + ROWS_PER_BLOCK])
        if np.any((part < MIN_FEATURE_SIZE) & (part > 0.0)):
            return np.where(np.abs(X) < MIN_FEATURE_SIZE, 0.0, X)
    return X


def add_bias_column(X: np.ndarray) -> np.ndarray:
    """Return the samples (1, x)."""
    design = np.empty((X.shape[0], X.shape[1] + 1))
    design[:, 0] = 1.0
    design[:, 1:] = X
    return design


@functools.cache
def load_blas_controller() -> ThreadpoolController:
    """Return the controller of the BLAS libraries that are loaded, looked up once."""
    return ThreadpoolController()


def sum_weights(phi: np.ndarray) -> float:
    """Return the sum of sample weights; inf on overflow, without a warning."""
    with np.errstate(over="ignore"):
        return float(phi.sum())


class Learner(ClassifierMixin, BaseEstimator):
    """Base class of all learners: classifiers for labels of any kind."""

    reports: ClassVar[tuple[str, ...]] = ()  # optional record fields that it provides

    version = 1  # increment when results change, so that stored ones are not reused
    random_state: Any = None  # a deterministic learner's __init__ has no such parameter
    multiclass = False  # whether it takes more than two classes

    classes_: np.ndarray
    n_features_in_: int

    def __init__(self, random_state=None):
        self.random_state = random_state

    @property
    def deterministic(self) -> bool:
        """Whether fits to the same samples give the same result for any seed."""
        return "random_state" not in self.get_params(deep=False)

    def check_classes(self, count: int) -> None:
        """Raise ValueError if the learner does not support this many classes."""
        if count > 2 and not self.multiclass:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} separates two classes, and y holds {count}."
            )

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return the packages that a fit with these parameters imports, beyond those that every fit needs.

        A missing one is reported before any task of a run starts. Learners inside this one report their own.
        """
        return []

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels of two classes, or of more if the learner is multiclass.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, of which only the ratios matter; None: all are equal.

        Returns
        -------
        object
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight) -> Self:
        raise TypeError(f"{type(self).__name__} does not implement _fit")

    def decision_function(self, X) -> np.ndarray:
        """Return the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores: with two classes one, which predicts the second if it is at least 0; with more, one each.
        """
        raise TypeError(f"{type(self).__name__} does not implement decision_function")

    def predict(self, X) -> np.ndarray:
        """Return the predicted class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        codes = self._predict_codes(X)  # first, since it checks that the learner is fitted
        return self.classes_[codes]

    def _predict_codes(self, X) -> np.ndarray:
        """Return the index of the predicted class of each sample; here, of two classes."""
        return (self.decision_function(X) >= 0.0).astype(int)

    def _validate_fit_input(self, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return X, class indices, and sample weights that sum to 1; set `classes_`."""
        check_parameters(self)
        if scipy.sparse.issparse(X):
            raise TypeError(
                f"{type(self).__name__} takes no sparse samples, since it needs all values; the online "
                f"learners perceptron, ave-perc and sgd-* do, and X.toarray() is dense"
            )
        refuse_masked(type(self).__name__, X=X, y=y)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_feature_sizes(X, type(self).__name__)
        X = drop_tiny_values(X)
        return X, *self._validate_labels(X, y, sample_weight)

    def _validate_labels(self, X, y: np.ndarray, sample_weight) -> tuple[np.ndarray, np.ndarray]:
        """Return class indices, and sample weights that sum to 1; set `classes_`."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        name = type(self).__name__
        self.check_classes(self.classes_.size)
        phi = self._validate_sample_weight(X, sample_weight)
        if not np.isfinite(sum_weights(phi)):
            phi = phi / phi.max()
        phi = phi / phi.sum()  # a tiny weight may now be 0
        present = np.unique(codes[phi > 0.0])
        if present.size < 2:
            only = self.classes_[present[0]]
            raise ValueError(f"{name} needs two classes with weight, but y holds one class: '{only}'")
        return codes, phi

    def _validate_sample_weight(self, X: np.ndarray, sample_weight) -> np.ndarray:
        """Return the sample weights as an array, all 1 if none are given."""
        if sample_weight is None:
            return np.ones(X.shape[0])
        name = type(self).__name__
        refuse_masked(name, sample_weight=sample_weight)
        try:
            phi = _check_sample_weight(sample_weight, X, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if phi.min() < 0.0:
            raise ValueError(f"{name}: the weight of sample {phi.argmin()} is negative ({phi.min():g})")
        if sum_weights(phi) <= 0.0:
            raise ValueError(f"{name}: the sample weights are all zero")
        return phi

    def _validate_samples(self, X) -> np.ndarray:
        """Return the samples (1, x) to predict, checked against those of `fit`."""
        check_is_fitted(self)
        refuse_masked(type(self).__name__, X=X)
        X = drop_tiny_values(validate_data(self, X, dtype=np.float64, reset=False))
        check_feature_sizes(X, type(self).__name__)
        return add_bias_column(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multiclass
        return tags


class BinaryLearner(Learner, ABC):  # numpydoc ignore=PR02
    """Base class of binary classifiers, for labels of any kind.

    Subclasses implement `train`, which fits to a validated `Problem`, and `scores`. A score of 0 predicts the
    second class, as in the papers' programs.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result. A subclass without random draws takes
        no such parameter.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    LinearLearner : The base of classifiers whose score is linear.
    check_learner : Tests that every learner must pass.

    Examples
    --------
    >>> import numpy as np
    >>> from zoloss_cli import BinaryLearner
    >>> class NearestMean(BinaryLearner):
    ...     "The class whose mean is nearer."
    ...     def __init__(self):
    ...         pass
    ...     def train(self, problem):
    ...         self.means_ = [problem.X[problem.y == side].mean(axis=0) for side in (-1, 1)]
    ...     def scores(self, X):
    ...         first, second = (np.linalg.norm(X - mean, axis=1) for mean in self.means_)
    ...         return first - second
    >>> NearestMean().fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]).predict([[2.0], [4.0]]).tolist()
    ['a', 'b']
    """

    def _fit(self, X, y, sample_weight) -> Self:
        problem = self._build_problem(X, y, sample_weight)
        # The matrices are small: BLAS threads cost more than they save.
        with load_blas_controller().limit(limits=1, user_api="blas"):
            self.train(problem)
        return self

    @abstractmethod
    def train(self, problem: Problem) -> None:
        """Fit to a problem and set the fitted attributes; `fit` has validated the input.

        Parameters
        ----------
        problem : Problem
            Samples, labels -1.0 and +1.0, weights that sum to 1, and a random generator.
        """

    @abstractmethod
    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the signed score of each sample.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1 + n_features)
            Samples (1, x).

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; at least 0 predicts the second class.
        """

    def compute_scores(self, samples: Samples) -> np.ndarray:
        """Return the scores; a subclass may share computations on the samples with other learners."""
        return self.scores(samples.X)

    def _build_problem(self, X, y, sample_weight) -> Problem:
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        return self._arrange_samples(X, np.where(codes == 1, 1.0, -1.0), phi)

    def _arrange_samples(self, X: np.ndarray, signs: np.ndarray, phi: np.ndarray) -> Problem:
        """Return the problem of validated samples, labels -1.0 and +1.0, and weights that sum to 1."""
        return Problem(add_bias_column(X), signs, phi, build_generator(self.random_state))

    def decision_function(self, X) -> np.ndarray:
        """Return the signed score of each sample; at least 0 predicts the second class."""
        return self.scores(self._validate_samples(X))
