"""Several classes from two: base classifiers fitted to the columns of a coding matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Self

import numpy as np

from zoloss_cli.kernels.codes import add_distances
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import BinaryLearner, Learner, load_blas_controller
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory
from zoloss_cli.learners.problem import Samples, add_bias_column, build_generator

SIDES = np.array([-1, 1])


class ColumnFitter:
    """Fit base classifiers to columns of a coding matrix, on the same samples.

    Parameters
    ----------
    base : BaseLearnerFactory
        The base learner.
    X : ndarray of shape (n_samples, n_features)
        Samples.
    codes : ndarray of shape (n_samples,)
        Class indices.
    phi : ndarray of shape (n_samples,)
        Sample weights, which sum to 1.
    n_classes : int
        Number of classes.
    rng : numpy.random.Generator
        Source of random draws.
    """

    def __init__(
        self,
        base: BaseLearnerFactory,
        X: np.ndarray,
        codes: np.ndarray,
        phi: np.ndarray,
        n_classes: int,
        rng: np.random.Generator,
    ):
        self.base, self.samples, self.codes, self.phi = base, Samples(add_bias_column(X)), codes, phi
        self.n_classes, self.rng = n_classes, rng
        self._caches: dict[bytes, dict[Hashable, Any]] = {}  # by column

    def fit_column(self, column: np.ndarray, weights: np.ndarray, round_: int) -> BinaryLearner:
        """Return a base classifier fitted to a column.

        Parameters
        ----------
        column : ndarray of shape (n_classes,)
            -1, 0 or +1 for each class; samples of classes with 0 are left out.
        weights : ndarray of shape (n_samples,)
            Sample weights; those of the samples that remain sum to 1.
        round_ : int
            Number of the round, from 1.

        Returns
        -------
        BinaryLearner
            The fitted base classifier.
        """
        signs = column[self.codes].astype(np.float64)
        label_cache = self._caches.setdefault(column.tobytes(), {})
        problem = self.samples.build_problem(signs, weights, self.rng, label_cache)
        return self.base.fit_copy(problem, SIDES, round_)

    def predict_signs(self, learner: BinaryLearner) -> np.ndarray:
        """Return -1.0 or +1.0 for every training sample, including those that the column leaves out."""
        return predict_signs(learner.compute_scores(self.samples))


class CodedEnsemble(Learner):
    """A classifier for K classes that compares their code words with the predictions of T base classifiers.

    Class k has the word M(k, .) of -1, 0 and +1, one letter per base classifier f_t with coefficient
    alpha_t; the prediction is the class with the smallest Hamming distance, sum of alpha_t (1 - M(k, t) f_t(x))
    / 2, on a tie the first of them (Allwein et al. 2000; Li's thesis 2006, section 4.2).

    Subclasses implement `encode`, which fits base classifiers with a `ColumnFitter`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_columns)
        The code words, one row per class.
    estimator_weights_ : ndarray of shape (n_columns,)
        The coefficients alpha_t.
    estimators_ : list of BinaryLearner
        The base classifiers f_t.
    n_features_in_ : int
        Number of features.
    """

    multiclass = True
    version = 2  # 2: columns, sums and ties in the order of the author's program

    base: Any

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, of which only the ratios matter; None: all are equal.

        Returns
        -------
        object
            The fitted classifier.
        """
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        base = BaseLearnerFactory(self, self.base)
        base.check()
        rng = build_generator(self.random_state)
        fitter = ColumnFitter(base, X, codes, phi, self.classes_.size, rng)
        # The matrices are small: BLAS threads cost more than they save.
        with load_blas_controller().limit(limits=1, user_api="blas"):
            columns, self.estimators_, alphas = self.encode(fitter)
        self.estimator_weights_ = np.array(alphas, np.float64)
        matrix = np.array(columns, np.int8).reshape(len(columns), self.classes_.size)
        self.coding_matrix_ = np.ascontiguousarray(matrix.T)
        return self

    def encode(self, fitter: ColumnFitter) -> tuple[list[np.ndarray], list[BinaryLearner], list[Any]]:
        """Choose the columns of the coding matrix and fit their base classifiers.

        Parameters
        ----------
        fitter : ColumnFitter
            Fits base classifiers to the samples, which `fit` has validated.

        Returns
        -------
        columns : list of ndarray of shape (n_classes,)
            -1, 0 or +1 for each class.
        estimators : list of BinaryLearner
            The base classifier of each column.
        coefficients : list of float or of ndarray of shape (2,)
            The coefficient of each base classifier, or those of its two outputs.
        """
        raise TypeError(f"{type(self).__name__} does not implement encode")

    @property
    def deterministic(self) -> bool:
        """Whether the base learner uses no random draws."""
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _iterate_distances(self, X) -> Iterator[np.ndarray]:
        """Yield the distances (N x K) after 0, 1, 2, ... base classifiers, in one array that changes."""
        samples = Samples(self._validate_samples(X))
        distances = np.zeros((samples.X.shape[0], self.classes_.size))
        yield distances
        all_scores = _iterate_scores(self.estimators_, samples)
        steps = zip(self.coding_matrix_.T, all_scores, self.estimator_weights_, strict=True)
        for column, scores, alpha_t in steps:
            alphas = np.broadcast_to(alpha_t, 2).copy()  # one coefficient, or one for each side
            add_distances(distances, scores, np.ascontiguousarray(column), alphas)
            yield distances

    def decision_function(self, X) -> np.ndarray:
        """Return minus the distance of each sample to the word of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Minus the distances; with two classes, by how much the second is nearer.
        """
        *_, distances = self._iterate_distances(X)
        return distances[:, 0] - distances[:, 1] if self.classes_.size == 2 else -distances

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
        *_, distances = self._iterate_distances(X)
        return self.classes_[choose_nearest(distances)]

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after each base classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels after 1, 2, ... base classifiers.
        """
        stages = self._iterate_classes(X)
        next(stages)
        yield from stages

    def _iterate_classes(self, X) -> Iterator[np.ndarray]:
        return (self.classes_[choose_nearest(distances)] for distances in self._iterate_distances(X))


def choose_nearest(distances: np.ndarray) -> np.ndarray:
    """Return the nearest class of each sample; on a tie the first, or with two classes the second.

    So a score of 0 is the second class, as in all classifiers for two classes.
    """
    if distances.shape[1] == 2:
        return (distances[:, 0] >= distances[:, 1]).astype(np.int64)
    return np.argmin(distances, axis=1)


def _iterate_scores(estimators: list[BinaryLearner], samples: Samples) -> Iterator[np.ndarray]:
    """Yield the scores of each base classifier; a class may be able to compute many at a time."""
    together = getattr(type(estimators[0]), "iterate_scores", None) if estimators else None
    if together is not None:
        yield from together(estimators, samples)
        return
    for estimator in estimators:
        yield estimator.compute_scores(samples)
