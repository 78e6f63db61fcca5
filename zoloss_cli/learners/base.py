"""Base classes of learners: validation of input, labels and sample weights, and scikit-learn's contract."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg  # numba's matrix products run on SciPy's BLAS: load it before counting threads
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from zoloss_cli.learners.needed_package import NeededPackage
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import (
    Problem,
    Samples,
    add_bias_column,
    build_generator,
    check_feature_sizes,
    drop_tiny_values,
    refuse_masked,
)


@functools.cache
def load_blas_controller() -> ThreadpoolController:
    """Return the controller of the BLAS libraries that are loaded, looked up once."""
    return ThreadpoolController()


def sum_weights(phi: np.ndarray) -> float:
    """Return the sum of sample weights; it is infinite, without a warning, if there is no such number."""
    with np.errstate(over="ignore"):
        return float(phi.sum())


class Learner(ClassifierMixin, BaseEstimator):
    """A classifier for labels of any kind: the base of learners for two classes and for more.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.
    """

    reports: ClassVar[tuple[str, ...]] = ()  # optional record fields that it provides

    version = 1  # raise when results change, so that stored ones are not reused
    random_state: Any = None  # a deterministic learner's __init__ has no such parameter
    multiclass = False  # whether it takes more than two classes

    classes_: np.ndarray
    n_features_in_: int

    def __init__(self, random_state=None):
        self.random_state = random_state

    @property
    def deterministic(self) -> bool:
        """Whether fits to the same samples give the same result, whatever the seed."""
        return "random_state" not in self.get_params(deep=False)

    def check_classes(self, count: int) -> None:
        """Raise ValueError if the learner does not take this many classes.

        Parameters
        ----------
        count : int
            Number of classes.
        """
        if count > 2 and not self.multiclass:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} separates two classes, and y holds {count}."
            )

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return the packages that a fit with these parameters imports, beyond those that every fit needs.

        Returns
        -------
        list of NeededPackage
            They may be missing: this is reported before any task of a run starts. Learners inside this one
            report their own.
        """
        return []

    def _validate_fit_input(self, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return X, class indices, and sample weights that sum to 1; set `classes_`."""
        check_parameters(self)
        self._refuse_sparse(X)
        refuse_masked(type(self).__name__, X=X, y=y)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_feature_sizes(X, type(self).__name__)
        X = drop_tiny_values(X)
        return X, *self._validate_labels(X, y, sample_weight)

    def _refuse_sparse(self, X) -> None:
        """Raise TypeError if the samples are sparse."""
        if scipy.sparse.issparse(X):
            raise TypeError(
                f"{type(self).__name__} takes no sparse samples, since it needs all values; the online "
                f"learners perceptron, ave-perc and sgd-* do, and X.toarray() is dense"
            )

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
    """A classifier for two classes with labels of any kind.

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

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, of which only the ratios matter; None: all are equal.

        Returns
        -------
        object
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

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
        """Return the signed score of each sample; other learners may share computations on the samples.

        Parameters
        ----------
        samples : Samples
            Samples that other learners may score, too.

        Returns
        -------
        ndarray of shape (n_samples,)
            The same as from `scores`.
        """
        return self.scores(samples.X)

    def _build_problem(self, X, y, sample_weight) -> Problem:
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        return self._arrange_samples(X, np.where(codes == 1, 1.0, -1.0), phi)

    def _arrange_samples(self, X: np.ndarray, signs: np.ndarray, phi: np.ndarray) -> Problem:
        """Return the problem of validated samples, labels -1.0 and +1.0, and weights that sum to 1."""
        return Problem(add_bias_column(X), signs, phi, build_generator(self.random_state))

    def decision_function(self, X) -> np.ndarray:
        """Return the signed score of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; at least 0 predicts the second class.
        """
        return self.scores(self._validate_samples(X))

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
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0.0).astype(int)]
