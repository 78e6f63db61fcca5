"""What was learned, in the units of the table that it was learned from: mostly a linear rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoloss_cli.datasets.scaling import apply_scaling
from zoloss_cli.errors import DataError
from zoloss_cli.learners.base import Learner

FEWEST_DIGITS, ALL_DIGITS = 4, 17


@dataclass(frozen=True)
class LinearRule:
    """The score at_centre + <weights, x - centre>, which is <weights, x> + bias.

    It is computed from the centre: far from 0, as years or serial numbers are, x loses digits in the sum.
    """

    weights: np.ndarray
    centre: np.ndarray
    at_centre: float

    @property
    def bias(self) -> float:
        """The score at x = 0, rounded once."""
        pairs = zip(self.weights.tolist(), self.centre.tolist(), strict=True)
        return float(Fraction(self.at_centre) - sum((Fraction(w) * Fraction(c) for w, c in pairs), Fraction(0)))

    def scores(self, X: np.ndarray) -> np.ndarray:
        return self.at_centre + (X - self.centre) @ self.weights

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Class indices: a score of 0 stands for the positive class."""
        return (scores >= 0.0).astype(int)


@dataclass(frozen=True)
class ScaledLearner:
    """A learner for scaled rows, as a rule in the units of the table."""

    learner: Learner
    centre: np.ndarray
    spread: np.ndarray

    def scores(self, X: np.ndarray) -> np.ndarray:
        """As the learner's decision function, one column a class if there are more than two.

        Not a number where a row is too large to be scaled.
        """
        rows = apply_scaling(X, self.centre, self.spread)
        wild = ~np.isfinite(rows).all(axis=1)
        rows[wild] = 0.0
        scores = self.learner.decision_function(rows)
        scores[wild] = np.nan
        return scores

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Class indices, as the learner predicts; of equal distances to several words the first counts."""
        if scores.ndim == 2:
            return np.argmax(scores, axis=1)
        return (scores > 0.0 if self.learner.multiclass else scores >= 0.0).astype(int)


def rule_in_original_units(
    weights: np.ndarray, bias: float, centre: np.ndarray, spread: np.ndarray, features: list[str]
) -> LinearRule:
    """The rule for x that `weights` and `bias` are for (x - centre) / spread, or for 0 where spread is 0."""
    constant = spread == 0.0
    with np.errstate(over="ignore"):
        original = np.where(constant, 0.0, weights / np.where(constant, 1.0, spread))
    finite = np.isfinite(original)
    if not np.all(finite):
        name = features[int(np.flatnonzero(~finite)[0])]
        raise DataError(f"the values of '{name}' are too close to each other for a weight in their units")
    rule = LinearRule(original, centre, float(bias))
    try:
        rule.bias  # noqa: B018  it may be beyond any number
    except OverflowError:
        raise DataError("the rule's threshold in the units of the table is too large for a number") from None
    return rule


def short_rule(rule: LinearRule, X: np.ndarray) -> tuple[list[str], str]:
    """(weights, threshold) in as few digits as give the rows of X the same answers by plain arithmetic."""
    answers = rule.scores(X) >= 0.0
    for digits in range(FEWEST_DIGITS, ALL_DIGITS + 1):
        weights = [f"{w:.{digits}g}" for w in rule.weights]
        threshold = f"{-rule.bias:.{digits}g}"
        if np.array_equal(X @ np.array(weights, dtype=float) >= float(threshold), answers):
            break
    return weights, threshold
