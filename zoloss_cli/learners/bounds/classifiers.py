"""The algorithms of the perceptron notes as learners that say what was counted and what the theorem allows."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.learners.base import Problem, UnweightedLinearLearner
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
from zoloss_cli.learners.parameters import Epochs

Intercept = Annotated[
    bool,
    Field(description="give every row a constant 1, for a threshold; without it, the origin is on the line"),
]
Epsilon = Annotated[float, Field(gt=0, lt=1, description="the error to accept")]
Delta = Annotated[float, Field(gt=0, lt=1, description="the chance of a larger error to accept")]


class BoundLearner(UnweightedLinearLearner):
    """Subclasses write `count`.

    Attributes after fit: `counted_`; `bound_`, inf where there is none; `n_epochs_`.
    """

    def learn(self, problem, start):
        first = 0 if self.intercept else 1
        found = self.count(problem, problem.X[:, first:])
        self.counted_, self.bound_, self.n_epochs_ = int(found.counted), float(found.bound), found.rounds
        start[:] = 0.0
        start[first:] = found.weights
        return start

    def count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        raise TypeError(f"{type(self).__name__} does not say what it counts")


class MistakeBoundClassifier(BoundLearner):
    """The perceptron until a round without a mistake, against Theorem 1 of the lecture on linear separators.

    `counted_` mistakes are at most `bound_` = (R/gamma)^2, with R the length of the longest row and gamma the
    largest margin. There are at most `epochs` rounds. On data that no hyperplane separates there is no bound.

    >>> from zoloss_cli import MistakeBoundClassifier
    >>> X, y = [[1, 0, 0], [0, -1, 0], [0, 0, 1]], [1, 0, 1]  # orthogonal: no row says anything of another
    >>> model = MistakeBoundClassifier(intercept=False).fit(X, y)
    >>> model.counted_, round(model.bound_, 6)
    (3, 3.0)
    """

    def __init__(self, epochs: Epochs = 2000, intercept: Intercept = True):
        self.epochs = epochs
        self.intercept = intercept

    def count(self, problem, X):
        return count_mistakes(X, problem.y, self.epochs)


class MarginBoundClassifier(BoundLearner):
    """The Margin Perceptron, told the largest margin gamma, against Theorem 2 of the lecture.

    `counted_` updates are at most `bound_` = 8 (R/gamma)^2 + 4 R/gamma for epsilon = 1/2. What is found in
    fewer than `epochs` rounds has a margin of at least (1 - epsilon) gamma. There is no bound on data that no
    hyperplane separates.

    >>> from zoloss_cli import MarginBoundClassifier, load_dataset
    >>> X, y = load_dataset("separable", size=50, dimensions=5, margin=0.2, seed=3)
    >>> model = MarginBoundClassifier(intercept=False).fit(X, y)
    >>> model.score(X, y), model.counted_ <= model.bound_
    (1.0, True)
    """

    def __init__(
        self,
        epsilon: Annotated[
            float, Field(gt=0, le=1, description="update on margins below (1 - epsilon) gamma")
        ] = 0.5,
        epochs: Epochs = 2000,
        intercept: Intercept = True,
    ):
        self.epsilon = epsilon
        self.epochs = epochs
        self.intercept = intercept

    def count(self, problem, X):
        return count_margin_mistakes(X, problem.y, self.epochs, self.epsilon)


class InseparableBoundClassifier(BoundLearner):
    """The perceptron on any data for some rounds, against the bound in section 1.2 of the lecture.

    `counted_` mistakes are at most `bound_` = (R/gamma)^2 + (2/gamma) TD_gamma, where TD_gamma is how far the
    examples of all rounds would have to move for w to have the margin gamma: the least of all w and gamma.

    >>> from zoloss_cli import InseparableBoundClassifier, load_dataset
    >>> X, y = load_dataset("separable", size=100, dimensions=5, margin=0.2, flipped=0.1, seed=3)
    >>> model = InseparableBoundClassifier(epochs=1).fit(X, y)
    >>> 10 <= model.counted_ <= model.bound_ < 100
    True
    """

    def __init__(self, epochs: Epochs = 10, intercept: Intercept = True):
        self.epochs = epochs
        self.intercept = intercept

    def count(self, problem, X):
        return count_inseparable_mistakes(X, problem.y, self.epochs)


class StoppingRuleClassifier(BoundLearner):
    """The perceptron on rows drawn at random, until one hypothesis has been right often enough in a row.

    The guarantee for a distribution in section 1.2 of the lecture; here it is that of the training rows, all
    equally likely. With a probability of at least 1 - delta, the training error is at most epsilon. `counted_`
    draws are at most `bound_` = (M/epsilon) ln(M/delta), with M = (R/gamma)^2. There are at most `epochs` draws
    a row, and so many on data that no hyperplane separates: there is no bound, and nothing is trusted.

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

    def count(self, problem, X):
        widest = find_widest_separator(X, problem.y)
        bound = math.inf if widest is None else compute_mistake_bound(X, problem.y, widest)
        most = min(compute_sample_size(bound, self.epsilon, self.delta), self.epochs * len(X))
        drawn = problem.rng.integers(0, len(X), int(most))
        return count_until_trusted(X, problem.y, drawn, bound, self.epsilon, self.delta)
