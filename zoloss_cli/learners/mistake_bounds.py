"""Perceptrons with mistake bounds: their mistakes, counted and compared with the bounds of theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.optimize import nnls

from zoloss_cli.kernels import online
from zoloss_cli.kernels.numeric import FIXED_ORDER
from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.learners.base import Epochs, Problem
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE, NO_SEED, NOT_RECORDED, pad_features
from zoloss_cli.learners.linear_base import UnweightedLinearLearner, rotate_into_span

# Samples are rows of X with signs -1 or +1; a threshold is a constant column of X. The margin of w is the
# smallest y_i (w x_i) / |w|. The course notes "The Perceptron" (003, on-line perceptron) omit the label: they
# require |w x_i| / |w| >= gamma, which also holds for a w with every sample on the wrong side.

WIDE_MARGIN = 1e9  # in radii: beyond this the bound hardly decreases
SVM_GAP = 1e-8  # relative, of the SVM's objective
MAX_NNLS_STEPS = 30  # per row or column of its system


def compute_radius(X: np.ndarray) -> float:
    """Return R, the length of the longest sample."""
    return float(np.sqrt((X * X).sum(axis=1).max()))


def compute_margin(X: np.ndarray, signs: np.ndarray, w: np.ndarray) -> float:
    """Return the margin of w of any length: positive if w separates the samples, -inf for w = 0."""
    length = np.linalg.norm(w)
    return float((signs * (X @ w)).min() / length) if length > 0.0 else -np.inf


def find_widest_separator(X: np.ndarray, signs: np.ndarray) -> np.ndarray | None:
    """Find the unit vector with the largest margin; None if no vector separates the samples.

    It points to the shortest vector in the convex hull of the signed samples, found by nonnegative least
    squares (Lawson & Hanson 1974, chapter 23) for (sum of a_i z_i, sum of a_i) = (0, 1).
    """
    Z = X * signs[:, None]
    longest = compute_radius(X)
    if longest == 0.0:
        return None
    system = np.vstack([Z.T / longest, np.ones(len(Z))])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    a, _ = nnls(system, goal, maxiter=MAX_NNLS_STEPS * max(system.shape))
    w = Z.T @ a
    # The margin is computed from w itself, so that it does not depend on rounding in the search.
    return w / np.linalg.norm(w) if compute_margin(X, signs, w) > 0.0 else None


def find_best_comparison(X: np.ndarray, signs: np.ndarray, rounds: int) -> tuple[np.ndarray, float]:
    """Find unit vector w and gamma for which (R/gamma)^2 + (2/gamma) TD_gamma(w) is smallest, up to rounding.

    With u = w/gamma it is R^2 |u|^2 + 2 rounds sum of max(0, 1 - z_i u): the objective of a soft-margin SVM
    without a threshold, whose C is rounds/R^2.
    """
    if X.shape[1] > 1 + X.shape[0]:  # w is a combination of samples
        rotated, axes = rotate_into_span(X)
        w, gamma = find_best_comparison(rotated, signs, rounds)
        return axes @ w, gamma
    longest = compute_radius(X)
    if longest == 0.0:
        return np.full(X.shape[1], X.shape[1] ** -0.5), 1.0
    Z = X * signs[:, None] / longest
    # Every sample appears a second time with both signs changed: the best threshold is then 0.
    mirrored = np.vstack([np.insert(Z, 0, 1.0, axis=1), np.insert(Z, 0, -1.0, axis=1)])
    bounds, columns = np.full(len(mirrored), 0.5 * rounds), pad_columns(mirrored)
    candidates = [solve_linear_svm(mirrored, columns, np.ones(len(mirrored)), bounds, SVM_GAP)[0][1:]]
    if (widest := find_widest_separator(X, signs)) is not None:
        candidates.append(longest * widest / compute_margin(X, signs, widest))
    u = min(candidates, key=lambda u: u @ u + 2.0 * rounds * np.maximum(0.0, 1.0 - Z @ u).sum())
    length = float(np.linalg.norm(u))
    if length == 0.0:  # contradictory labels: the wider the margin, the smaller the bound
        return np.full(X.shape[1], X.shape[1] ** -0.5), WIDE_MARGIN * longest
    return u / length, longest / length


# From the lecture "Perceptron algorithm for learning linear separators" (004) and the course notes "The
# Perceptron" (003). All hyperplanes go through the origin; samples come in rounds, in order. Throughout, X is
# an ndarray with one sample per row, and `signs` has their labels, -1.0 or 1.0.
#
# A margin of 0 is a mistake for either label. The notes disagree here: at w x = 0, 003 predicts +1 and 004
# (1.1) predicts -1. Every bound holds for both rules and for this one, since all that the proofs require of a
# mistake is y (w x) <= 0; the proof of Claim 2 in 004 says "is negative", which does not hold for the very
# first mistake.

SAMPLES_PER_BLOCK = 256  # classified at once
BOUND_TOLERANCE = 1e-9  # relative


@dataclass(frozen=True)
class BoundedCount:
    """A count, and the bound that it cannot exceed."""

    counted: int
    weights: np.ndarray  # at the end
    rounds: int
    bound: float  # inf if the theorem gives none


def compute_mistake_bound(X: np.ndarray, signs: np.ndarray, w: np.ndarray) -> float:
    """Return (R/gamma)^2 of Theorem 1 in 004, where gamma is the margin of w; inf if w does not separate."""
    gamma = compute_margin(X, signs, w)
    return (compute_radius(X) / gamma) ** 2 if gamma > 0.0 else math.inf


def compute_margin_mistake_bound(
    X: np.ndarray, signs: np.ndarray, w: np.ndarray, epsilon: float = 0.5
) -> float:
    """Return the bound of Theorem 2 in 004, for updates on margins below (1 - epsilon) gamma.

    The theorem has epsilon = 1/2 and 8 (R/gamma)^2 + 4 R/gamma. For other values its proof gives
    2 (R/(epsilon gamma))^2 + 2 R/(epsilon gamma). It needs gamma <= R, and a first sample that is not 0.
    """
    gamma = compute_margin(X, signs, w)
    if gamma <= 0.0:
        return math.inf
    times = compute_radius(X) / (epsilon * gamma)
    return 2.0 * times**2 + 2.0 * times


def compute_inseparable_bound(
    X: np.ndarray, signs: np.ndarray, w: np.ndarray, gamma: float, rounds: int = 1
) -> float:
    """Return (R/gamma)^2 + (2/gamma) TD_gamma of 004 (1.2), for any w and any gamma > 0 to compare with.

    TD_gamma sums how far the samples of all rounds are from having the margin gamma under w.
    """
    margins = signs * (X @ w) / np.linalg.norm(w)
    moved = rounds * np.maximum(0.0, gamma - margins).sum()
    return float((compute_radius(X) / gamma) ** 2 + 2.0 / gamma * moved)


def compute_required_streak(bound: float, epsilon: float, delta: float) -> float:
    """Return the length of the error-free streak after which a hypothesis is trusted: ln(M/delta)/epsilon."""
    # With an error above epsilon, n are correct with probability below (1 - epsilon)^n <= exp(-epsilon n)
    # = delta/M: the logarithm, whose base 004 leaves open, is natural.
    return math.ceil(math.log(bound / delta) / epsilon) if math.isfinite(bound) else math.inf


def compute_sample_size(bound: float, epsilon: float, delta: float) -> float:
    """Return the maximum number of samples for the stopping rule: (M/epsilon) ln(M/delta) of 004 (1.2)."""
    return _round_down(bound) * compute_required_streak(bound, epsilon, delta)


def _round_down(bound: float) -> float:
    """Return the largest number of mistakes that a bound allows, even if rounded to just below an integer."""
    return math.floor(bound * (1.0 + BOUND_TOLERANCE)) if math.isfinite(bound) else bound


def count_mistakes(X: np.ndarray, signs: np.ndarray, rounds: int) -> BoundedCount:
    """Count the mistakes of 004's perceptron until a round without one, with the bound of Theorem 1."""
    widest = find_widest_separator(X, signs)
    bound = math.inf if widest is None else compute_mistake_bound(X, signs, widest)
    return BoundedCount(*_run_perceptron(X, signs, rounds), bound=bound)


def count_margin_mistakes(X: np.ndarray, signs: np.ndarray, rounds: int, epsilon: float = 0.5) -> BoundedCount:
    """Count the updates of the Margin Perceptron for the largest margin, with the bound of Theorem 2."""
    widest = find_widest_separator(X, signs)
    gamma = 0.0 if widest is None else compute_margin(X, signs, widest)
    bound = math.inf if widest is None else compute_margin_mistake_bound(X, signs, widest, epsilon)
    w = pad_features(np.zeros(X.shape[1]))
    least = (1.0 - epsilon) * gamma
    updates, done = online.fit_margin_perceptron(
        pad_features(X * signs[:, None]), least, w, rounds, *NOT_RECORDED
    )
    return BoundedCount(updates, w[: X.shape[1]], done, bound)


def count_inseparable_mistakes(X: np.ndarray, signs: np.ndarray, rounds: int) -> BoundedCount:
    """Count the mistakes of the perceptron until a round without one, with 004's bound for any data."""
    mistakes, w, done = _run_perceptron(X, signs, rounds)
    comparison, gamma = find_best_comparison(X, signs, done)
    return BoundedCount(mistakes, w, done, compute_inseparable_bound(X, signs, comparison, gamma, done))


def count_until_trusted(
    X: np.ndarray, signs: np.ndarray, order: np.ndarray, bound: float, epsilon: float, delta: float
) -> BoundedCount:
    """Count the samples that the perceptron sees, in this order, until it trusts a hypothesis.

    It trusts one that is correct `compute_required_streak` times in a row; the bound is `compute_sample_size`.
    If the order is drawn from a distribution with the mistake bound `bound`, the error of the hypothesis is at
    most epsilon with probability at least 1 - delta.
    """
    Z, w = X * signs[:, None], np.zeros(X.shape[1])
    needed, most = compute_required_streak(bound, epsilon, delta), _round_down(bound)
    at = mistakes = right = 0
    while at < len(order) and mistakes < most and right < needed:
        ahead = order[at : at + int(min(needed - right, SAMPLES_PER_BLOCK))]
        wrong = np.flatnonzero(Z[ahead] @ w <= 0.0)
        passed = int(wrong[0]) if wrong.size else len(ahead)
        at, right = at + passed, right + passed
        if wrong.size:
            w += Z[order[at]]
            at, right, mistakes = at + 1, 0, mistakes + 1
    return BoundedCount(at, w, 1, compute_sample_size(bound, epsilon, delta))


def _run_perceptron(X: np.ndarray, signs: np.ndarray, rounds: int) -> tuple[int, np.ndarray, int]:
    """Return the mistakes, weights and rounds of a perceptron that ends after a round without mistakes."""
    Z, step, w = pad_features(X * signs[:, None]), np.ones(len(X)), pad_features(np.zeros(X.shape[1]))
    mistakes, done, more = 0, 0, 1
    while more and done < rounds:
        more = online.fit_perceptron(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)
        mistakes, done = mistakes + more, done + 1
    return mistakes, w[: X.shape[1]], done


Intercept = Annotated[
    bool,
    Field(
        description="add a constant feature 1, for a threshold; without it, hyperplanes go through the origin"
    ),
]
Epsilon = Annotated[float, Field(gt=0, lt=1, description="accepted error")]
Delta = Annotated[float, Field(gt=0, lt=1, description="accepted probability of a larger error")]


class BoundLearner(UnweightedLinearLearner):
    """Base of perceptrons that set `counted_`, `bound_` and `n_epochs_`; subclasses implement `_count`."""

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


@dataclass(eq=False, repr=False)
class MistakeBoundClassifier(BoundLearner):  # numpydoc ignore=PR02
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
    >>> X, y = [[1, 0, 0], [0, -1, 0], [0, 0, 1]], [1, 0, 1]  # orthogonal: one mistake on each
    >>> model = MistakeBoundClassifier(intercept=False).fit(X, y)
    >>> model.counted_, round(model.bound_, 6)
    (3, 3.0)
    """

    epochs: Epochs = 2000
    intercept: Intercept = True

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_mistakes(X, problem.y, self.epochs)


@dataclass(eq=False, repr=False)
class MarginBoundClassifier(BoundLearner):  # numpydoc ignore=PR02
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

    epsilon: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="share of gamma that may be missing: margins below (1 - epsilon) gamma are updated",
        ),
    ] = 0.5
    epochs: Epochs = 2000
    intercept: Intercept = True

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_margin_mistakes(X, problem.y, self.epochs, self.epsilon)


@dataclass(eq=False, repr=False)
class InseparableBoundClassifier(BoundLearner):  # numpydoc ignore=PR02
    """The perceptron on any data for a number of rounds, with the bound on its mistakes.

    The bound compares with the best weights w and margin gamma. It holds even if no hyperplane separates the
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
        have to move for w to have the margin gamma: the minimum over all w and gamma.
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

    epochs: Epochs = 10
    intercept: Intercept = True

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        return count_inseparable_mistakes(X, problem.y, self.epochs)


@dataclass(eq=False, repr=False)
class StoppingRuleClassifier(BoundLearner):  # numpydoc ignore=PR02
    """The perceptron on randomly drawn samples, until a hypothesis has been correct often enough in a row.

    With probability at least 1 - delta, the training error is at most epsilon. There are at most `epochs` draws
    per sample. If no hyperplane separates the classes, all of them are made: there is no bound, and no
    hypothesis is trusted.

    Parameters
    ----------
    epsilon : float in (0, 1), default=0.1
        Accepted error.
    delta : float in (0, 1), default=0.1
        Accepted probability of a larger error.
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

    epsilon: Epsilon = 0.1
    delta: Delta = 0.1
    epochs: Epochs = 200
    intercept: Intercept = True
    random_state: Any = None

    def _count(self, problem: Problem, X: np.ndarray) -> BoundedCount:
        widest = find_widest_separator(X, problem.y)
        bound = math.inf if widest is None else compute_mistake_bound(X, problem.y, widest)
        draws = min(compute_sample_size(bound, self.epsilon, self.delta), self.epochs * len(X))
        order = problem.rng.integers(0, len(X), int(draws))
        return count_until_trusted(X, problem.y, order, bound, self.epsilon, self.delta)
