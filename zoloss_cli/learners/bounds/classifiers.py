"""The algorithms of the perceptron notes, as learners that count mistakes and know what the theorems allow."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.learners.bounds.margins import find_widest_separator
from zoloss_cli.learners.bounds.mistake_bounds import (
    BoundedCount,
    compute_mistake_bound,
    compute_sample_size,
    count_inseparable_mistakes,
    count_margin_mistakes,
    count_mistakes,
    count_until_trusted,
)
from zoloss_cli.learners.linear_base import UnweightedLinearLearner
from zoloss_cli.learners.parameters import Epochs
from zoloss_cli.learners.problem import Problem

Intercept = Annotated[
    bool,
    Field(
        description="add a constant feature 1, for a threshold; without it, hyperplanes go through the origin"
    ),
]
Epsilon = Annotated[float, Field(gt=0, lt=1, description="the error that is accepted")]
Delta = Annotated[float, Field(gt=0, lt=1, description="the probability of a larger error that is accepted")]


class BoundLearner(UnweightedLinearLearner):
    """Base class of perceptrons that set `counted_`, `bound_` and `n_epochs_`; subclasses write `_count`."""

    reports: ClassVar[tuple[str, ...]] = ("counted", "bound")
    intercept: bool

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights at the end of the count."""
        first = 0 if self.intercept else 1
        found = self._count(problem, problem.X[:, first:])
        self.counted_, self.bound_, self.n_epochs_ = int(found.counted), float(found.bound), found.rounds
        start[:] = 0.0
        start[first:] = found.weights
        return start

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        """Return the count on the samples X, with or without a column of ones."""
        raise TypeError(f"{type(self).__name__} does not implement _count")


class MistakeBoundClassifier(BoundLearner):
    """The perceptron, run until a round without mistakes, with the bound on its mistakes.

    There are at most `epochs` rounds. If no hyperplane separates the classes, there is no bound.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    intercept : bool, default=True
        Add a constant feature 1, for a threshold; without it, hyperplanes go through the origin.

    Attributes
    ----------
    bound_ : float
        The bound (R/gamma)^2, with R the length of the longest sample and gamma the largest margin; inf if
        there is none.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    counted_ : int
        Number of mistakes, at most `bound_`.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_epochs_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Lecture "Perceptron algorithm for learning linear separators" (004). Theorem 1.

    Examples
    --------
    >>> from zoloss_cli import MistakeBoundClassifier
    >>> X, y = [[1, 0, 0], [0, -1, 0], [0, 0, 1]], [1, 0, 1]  # orthogonal: no sample says anything of another
    >>> model = MistakeBoundClassifier(intercept=False).fit(X, y)
    >>> model.counted_, round(model.bound_, 6)
    (3, 3.0)
    """

    def __init__(self, epochs: Epochs = 2000, intercept: Intercept = True):
        self.epochs = epochs
        self.intercept = intercept

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_mistakes(X, problem.y, self.epochs)


class MarginBoundClassifier(BoundLearner):
    """The Margin Perceptron for the largest margin gamma, with the bound on its updates.

    Weights found in fewer than `epochs` rounds have a margin of at least (1 - epsilon) gamma. If no hyperplane
    separates the classes, there is no bound.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.5
        Share of gamma that may be missing: margins below (1 - epsilon) gamma are updated.
    epochs : int >= 1, default=2000
        Number of epochs.
    intercept : bool, default=True
        Add a constant feature 1, for a threshold; without it, hyperplanes go through the origin.

    Attributes
    ----------
    bound_ : float
        The bound, which is 8 (R/gamma)^2 + 4 R/gamma for epsilon = 1/2; inf if there is none.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    counted_ : int
        Number of updates, at most `bound_`.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_epochs_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Lecture "Perceptron algorithm for learning linear separators" (004). Theorem 2.

    Examples
    --------
    >>> from zoloss_cli import MarginBoundClassifier, load_dataset
    >>> X, y = load_dataset("separable", size=50, dimensions=5, margin=0.2, seed=3)
    >>> model = MarginBoundClassifier(intercept=False).fit(X, y)
    >>> model.score(X, y), model.counted_ <= model.bound_
    (1.0, True)
    """

    def __init__(
        self,
        epsilon: Annotated[
            float,
            Field(
                gt=0,
                le=1,
                description="share of gamma that may be missing: margins below (1 - epsilon) gamma are updated",
            ),
        ] = 0.5,
        epochs: Epochs = 2000,
        intercept: Intercept = True,
    ):
        self.epsilon = epsilon
        self.epochs = epochs
        self.intercept = intercept

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_margin_mistakes(X, problem.y, self.epochs, self.epsilon)


class InseparableBoundClassifier(BoundLearner):
    """The perceptron on any data for a number of rounds, with the bound on its mistakes.

    The bound compares with the best weights w and margin gamma, and holds even if no hyperplane separates the
    classes.

    Parameters
    ----------
    epochs : int >= 1, default=10
        Number of epochs.
    intercept : bool, default=True
        Add a constant feature 1, for a threshold; without it, hyperplanes go through the origin.

    Attributes
    ----------
    bound_ : float
        The bound (R/gamma)^2 + (2/gamma) TD_gamma, where TD_gamma is how far the samples of all rounds would
        have to move for w to have the margin gamma: the least over all w and gamma.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    counted_ : int
        Number of mistakes, at most `bound_`.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_epochs_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Lecture "Perceptron algorithm for learning linear separators" (004). Section 1.2.

    Examples
    --------
    >>> from zoloss_cli import InseparableBoundClassifier, load_dataset
    >>> X, y = load_dataset("separable", size=100, dimensions=5, margin=0.2, flipped=0.1, seed=3)
    >>> model = InseparableBoundClassifier(epochs=1).fit(X, y)
    >>> 10 <= model.counted_ <= model.bound_ < 100
    True
    """

    def __init__(self, epochs: Epochs = 10, intercept: Intercept = True):
        self.epochs = epochs
        self.intercept = intercept

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_inseparable_mistakes(X, problem.y, self.epochs)


class StoppingRuleClassifier(BoundLearner):
    """The perceptron on randomly drawn samples, until one hypothesis has been right often enough in a row.

    With probability at least 1 - delta, the training error is at most epsilon. There are at most `epochs` draws
    per sample. If no hyperplane separates the classes, all of them are made: there is no bound, and no
    hypothesis is trusted.

    Parameters
    ----------
    epsilon : float in (0, 1), default=0.1
        The error that is accepted.
    delta : float in (0, 1), default=0.1
        The probability of a larger error that is accepted.
    epochs : int >= 1, default=200
        Number of epochs.
    intercept : bool, default=True
        Add a constant feature 1, for a threshold; without it, hyperplanes go through the origin.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    bound_ : float
        The bound (M/epsilon) ln(M/delta), with M = (R/gamma)^2; inf if there is none.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    counted_ : int
        Number of draws, at most `bound_`.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_epochs_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The lecture's guarantee is for a distribution; here it is the uniform distribution over the training
    samples.

    References
    ----------
    .. [1] Lecture "Perceptron algorithm for learning linear separators" (004). Section 1.2.

    Examples
    --------
    >>> from zoloss_cli import StoppingRuleClassifier, load_dataset
    >>> X, y = load_dataset("separable", size=500, dimensions=5, margin=0.1, seed=3)
    >>> model = StoppingRuleClassifier(epsilon=0.1, delta=0.05, intercept=False, random_state=0).fit(X, y)
    >>> model.score(X, y) >= 0.9, model.counted_ <= model.bound_
    (True, True)
    """

    def __init__(
        self,
        epsilon: Epsilon = 0.1,
        delta: Delta = 0.1,
        epochs: Epochs = 200,
        intercept: Intercept = True,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.epochs = epochs
        self.intercept = intercept
        self.random_state = random_state

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        widest = find_widest_separator(X, problem.y)
        bound = math.inf if widest is None else compute_mistake_bound(X, problem.y, widest)
        draws = min(compute_sample_size(bound, self.epsilon, self.delta), self.epochs * len(X))
        order = problem.rng.integers(0, len(X), int(draws))
        return count_until_trusted(X, problem.y, order, bound, self.epsilon, self.delta)
