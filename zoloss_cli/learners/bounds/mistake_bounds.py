"""Mistakes that perceptrons make, bounds on their number, and a rule that says when to stop.

From the lecture "Perceptron algorithm for learning linear separators" (004) and the course notes "The
Perceptron" (003). All hyperplanes go through the origin; samples come in rounds, in order. Throughout, X is an
ndarray with one sample per row, and `signs` has their labels, -1.0 or 1.0.

A margin of 0 is a mistake for either label. The notes disagree here: at w x = 0, 003 predicts +1 and 004 (1.1)
predicts -1. Every bound holds for both rules and for ours, since all that the proofs need of a mistake is
y (w x) <= 0; the proof of Claim 2 in 004 says "is negative", which the very first mistake is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zoloss_cli.kernels import online
from zoloss_cli.kernels.random import FIXED_ORDER
from zoloss_cli.learners.bounds.margins import (
    compute_margin,
    compute_radius,
    find_best_comparison,
    find_widest_separator,
)
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE, pad_columns
from zoloss_cli.learners.linear.stream import NO_SEED, NOT_RECORDED

SAMPLES_PER_BLOCK = 256  # classified at once
BOUND_TOLERANCE = 1e-9  # relative


@dataclass(frozen=True)
class BoundedCount:
    """A count, and the bound that it cannot exceed.

    Attributes
    ----------
    counted : int
        The count.
    weights : ndarray
        The weights at the end.
    rounds : int
        Number of rounds.
    bound : float
        The bound; inf if the theorem gives none.
    """

    counted: int
    weights: np.ndarray
    rounds: int
    bound: float


def compute_mistake_bound(X: np.ndarray, signs: np.ndarray, w: np.ndarray) -> float:
    """Return (R/gamma)^2 of Theorem 1 in 004, where gamma is the margin of w; inf if w does not separate.

    003 states it as M/gamma^2, rounded up, with an M that it does not define.
    """
    gamma = compute_margin(X, signs, w)
    return (compute_radius(X) / gamma) ** 2 if gamma > 0.0 else math.inf


def compute_margin_mistake_bound(
    X: np.ndarray, signs: np.ndarray, w: np.ndarray, epsilon: float = 0.5
) -> float:
    """Return the bound of Theorem 2 in 004, for updates on margins below (1 - epsilon) gamma.

    The theorem has epsilon = 1/2 and 8 (R/gamma)^2 + 4 R/gamma. For other values its proof gives
    2 (R/(epsilon gamma))^2 + 2 R/(epsilon gamma): once |w| >= R^2/(epsilon gamma), an update lengthens w by at
    most (1 - epsilon/2) gamma. It needs gamma <= R, which holds for a margin but not for an arbitrary number,
    and a first sample that is not 0.
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

    TD_gamma sums how far the samples are from having the margin gamma under w. It counts every presentation: a
    sample that comes in several rounds counts several times, which "the points" of 004 leaves open.
    """
    margins = signs * (X @ w) / np.linalg.norm(w)
    moved = rounds * np.maximum(0.0, gamma - margins).sum()
    return float((compute_radius(X) / gamma) ** 2 + 2.0 / gamma * moved)


def compute_required_streak(bound: float, epsilon: float, delta: float) -> float:
    """Return how many samples in a row a hypothesis must classify correctly to be trusted.

    It is ln(M/delta)/epsilon of 004 (1.2), rounded up.

    A hypothesis with an error above epsilon survives n of them with probability below (1 - epsilon)^n <=
    exp(-epsilon n) = delta/M: the logarithm, whose base 004 leaves open, is natural.
    """
    return math.ceil(math.log(bound / delta) / epsilon) if math.isfinite(bound) else math.inf


def compute_sample_size(bound: float, epsilon: float, delta: float) -> float:
    """Return the most samples that the stopping rule needs: (M/epsilon) ln(M/delta) of 004 (1.2).

    Before each of at most M mistakes, fewer samples are right than `compute_required_streak` says. After M
    mistakes there are none left to make: the last hypothesis needs no test.
    """
    return _round_down(bound) * compute_required_streak(bound, epsilon, delta)


def _round_down(bound: float) -> float:
    """Return the most mistakes that a bound allows, even if rounding put it just below a whole number."""
    return math.floor(bound * (1.0 + BOUND_TOLERANCE)) if math.isfinite(bound) else bound


def count_mistakes(X: np.ndarray, signs: np.ndarray, rounds: int) -> BoundedCount:
    """Count the mistakes of the perceptron until a round without one, with the bound of Theorem 1.

    There are at most `rounds` rounds. The perceptron is 004's: 003's first update condition must read
    "y = -1 and y_i = 1".
    """
    widest = find_widest_separator(X, signs)
    bound = math.inf if widest is None else compute_mistake_bound(X, signs, widest)
    return BoundedCount(*_run_perceptron(X, signs, rounds), bound=bound)


def count_margin_mistakes(X: np.ndarray, signs: np.ndarray, rounds: int, epsilon: float = 0.5) -> BoundedCount:
    """Count the updates of the Margin Perceptron for the largest margin, with the bound of Theorem 2.

    The first sample, which 004 starts from, counts as a mistake. If nothing separates the classes, gamma is 0.
    """
    widest = find_widest_separator(X, signs)
    gamma = 0.0 if widest is None else compute_margin(X, signs, widest)
    bound = math.inf if widest is None else compute_margin_mistake_bound(X, signs, widest, epsilon)
    w = pad_columns(np.zeros(X.shape[1]))
    least = (1.0 - epsilon) * gamma
    updates, done = online.fit_margin_perceptron(
        pad_columns(X * signs[:, None]), least, w, rounds, *NOT_RECORDED
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
    """Count the samples that the perceptron sees until it trusts a hypothesis.

    It trusts one that is right `compute_required_streak` times in a row. The bound is `compute_sample_size`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    signs : ndarray of shape (n_samples,)
        Labels, -1.0 or 1.0.
    order : ndarray of int
        The samples in the order in which they come. If it is drawn from a distribution with the mistake
        bound M, the error of the hypothesis is at most epsilon with probability at least 1 - delta.
    bound : float
        The mistake bound M.
    epsilon : float
        The accepted error.
    delta : float
        The accepted probability of a larger error.

    Returns
    -------
    BoundedCount
        The samples seen, and the weights of the hypothesis.
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
    Z, step, w = pad_columns(X * signs[:, None]), np.ones(len(X)), pad_columns(np.zeros(X.shape[1]))
    mistakes, done, more = 0, 0, 1
    while more and done < rounds:
        more = online.fit_perceptron(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)
        mistakes, done = mistakes + more, done + 1
    return mistakes, w[: X.shape[1]], done
