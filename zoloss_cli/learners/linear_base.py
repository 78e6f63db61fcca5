"""Base classes of linear learners: weights, their initialization, and what is recorded during a fit."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Self

import numpy as np
from scipy.linalg import block_diag
from sklearn.utils.validation import check_is_fitted

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import BinaryLearner, Problem, refuse_masked


class LinearLearner(BinaryLearner):  # numpydoc ignore=PR02
    """Base class of linear classifiers sign(<w, x> + b) for two classes.

    Subclasses implement `learn`, which turns a `Problem` and the starting weights into weights with the bias
    first.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result. A subclass without random draws takes
        no such parameter.

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
        Epochs whose weights were recorded, if the learner has the parameter `record_every`.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    See Also
    --------
    BinaryLearner : The base of classifiers whose score is not linear.
    check_learner : Tests that every learner must pass.

    Examples
    --------
    >>> import numpy as np
    >>> from zoloss_cli import LinearLearner
    >>> class MeanDifference(LinearLearner):
    ...     "Halfway between the means of both classes."
    ...     def __init__(self):
    ...         pass
    ...     def learn(self, problem, start):
    ...         first, second = (problem.X[problem.y == side, 1:].mean(axis=0) for side in (-1, 1))
    ...         w = second - first
    ...         return np.concatenate([[-w @ (first + second) / 2], w])
    >>> model = MeanDifference().fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> model.coef_.tolist(), model.intercept_.tolist()
    ([[5.0]], [-15.0])
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    epochs: int  # parameters of learners that record epochs
    record_every: int

    def train(self, problem: Problem) -> None:
        """Fit the weights and store them."""
        self._store_weights(self.learn(problem, self._compute_start(problem)))

    def _store_weights(self, weights: np.ndarray) -> None:
        """Set the fitted attributes from weights, bias first, which must be finite."""
        if not math.isfinite(weights.sum()):
            raise ValueError(f"{type(self).__name__}: the weights are no longer finite; scale the features")
        self.set_weights(weights)

    def set_weights(self, weights: np.ndarray) -> None:
        """Set the weights, bias first, as if they had been fitted."""
        self.coef_ = weights[None, 1:].copy()
        self.intercept_ = weights[:1].copy()

    @abstractmethod
    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights that fit a problem.

        Parameters
        ----------
        problem : Problem
            Samples, labels -1.0 and +1.0, weights that sum to 1, and a random generator.
        start : ndarray of shape (1 + n_features,)
            Weights to start from, which may be overwritten.

        Returns
        -------
        ndarray of shape (1 + n_features,)
            The weights, bias first.
        """

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return <w, x> + b for each sample."""
        return X @ np.concatenate([self.intercept_, self.coef_[0]])

    def _compute_start(self, problem: Problem) -> np.ndarray:
        """Return the weights that the parameter `seeding` names, bias first."""
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
                f"needed (the bias first, then one for each feature)"
            )
        return start

    def _prepare_recording(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Return the epochs to record and arrays for their weights, and set both as fitted attributes."""
        every = self.record_every
        recorded = np.arange(every, self.epochs + 1, every) if every else np.empty(0, np.int64)
        self.recorded_epochs_ = recorded.astype(np.int64)
        self.recorded_weights_ = np.zeros((recorded.size, problem.X.shape[1]))
        return self.recorded_epochs_, self.recorded_weights_

    def recorded_errors(self, X, y) -> np.ndarray:
        """Return the error rate on (X, y) after each recorded epoch; a zero margin is an error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        ndarray of shape (n_recorded,)
            Shares of misclassified samples.
        """
        check_is_fitted(self, "recorded_weights_")
        refuse_masked(type(self).__name__, X=X, y=y)
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        return find_strict_errors(self.recorded_scores(np.asarray(X)), signs).mean(axis=1)

    def recorded_scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of samples after each recorded epoch.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_recorded, n_samples)
            One row per recorded epoch.
        """
        return self.recorded_weights_[:, :1] + self.recorded_weights_[:, 1:] @ X.T


def rotate_into_span(X: np.ndarray, kept: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return samples rotated into as many features as samples, and the axes: weights w there are axes @ w here.

    Learners that depend on lengths and angles alone find the same solution there. The first `kept` columns stay
    as they are: 1 for the constant.
    """
    axes, triangle = np.linalg.qr(X[:, kept:].T)
    return np.ascontiguousarray(np.hstack([X[:, :kept], triangle.T])), block_diag(np.eye(kept), axes)


class UnweightedLinearLearner(LinearLearner):
    """A linear learner whose algorithm does not take sample weights."""

    def fit(self, X, y) -> Self:  # type: ignore[override]  # scikit-learn looks for sample_weight here
        """Fit the classifier, whose algorithm does not take sample weights."""
        return self._fit(X, y, None)
