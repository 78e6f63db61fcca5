"""Fitted estimators as rules in the units of the table that they were fitted to: usually a linear rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoloss_cli.data.splits import apply_scaling
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import DataError
from zoloss_cli.learners.base import Learner

MIN_DIGITS, ALL_DIGITS = 4, 17


@dataclass(frozen=True)
class LinearRule:
    """The score at_centre + <weights, x - centre>, which is <weights, x> + bias.

    It is computed from the centre: far from 0, as with years or serial numbers, x loses digits in the sum.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The weights.
    centre : ndarray of shape (n_features,)
        The centre of the training samples.
    at_centre : float
        The score at the centre.
    """

    weights: np.ndarray
    centre: np.ndarray
    at_centre: float

    @property
    def bias(self) -> float:
        """The score at x = 0, rounded once."""
        pairs = zip(self.weights.tolist(), self.centre.tolist(), strict=True)
        return float(Fraction(self.at_centre) - sum((Fraction(w) * Fraction(c) for w, c in pairs), Fraction(0)))

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the score of each sample."""
        return self.at_centre + (X - self.centre) @ self.weights

    def classify(self, scores: np.ndarray) -> np.ndarray:
        """Return class indices; a score of 0 means the positive class."""
        return (scores >= 0.0).astype(int)


@dataclass(frozen=True)
class ScaledEstimator:
    """An estimator for scaled samples, as a rule in the units of the table.

    Attributes
    ----------
    estimator : Learner
        The fitted estimator.
    centre, spread : ndarray of shape (n_features,)
        What is subtracted from samples, and what they are divided by.
    """

    estimator: Learner
    centre: np.ndarray
    spread: np.ndarray

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the estimator's decision function, one column per class if there are more than two.

        It is NaN if a sample is too large to be scaled.
        """
        samples = apply_scaling(X, self.centre, self.spread)
        wild = ~np.isfinite(samples).all(axis=1)
        samples[wild] = 0.0
        scores = self.estimator.decision_function(samples)
        scores[wild] = np.nan
        return scores

    def classify(self, scores: np.ndarray) -> np.ndarray:
        """Return class indices as the estimator predicts; on equal distances, the first word counts."""
        if scores.ndim == 2:
            return np.argmax(scores, axis=1)
        return (scores > 0.0 if self.estimator.multiclass else scores >= 0.0).astype(int)


def convert_to_original_units(
    weights: np.ndarray, bias: float, centre: np.ndarray, spread: np.ndarray, features: list[str]
) -> LinearRule:
    """Return the rule for samples x that is equivalent to a rule for scaled samples.

    Parameters
    ----------
    weights, bias : ndarray of shape (n_features,), float
        The rule for (x - centre) / spread, or for 0 if the spread is 0.
    centre, spread : ndarray of shape (n_features,)
        How samples were scaled.
    features : list of str
        Names, for messages.

    Returns
    -------
    LinearRule
        The rule in the table's units.
    """
    constant = spread == 0.0
    with np.errstate(over="ignore"):
        original = np.where(constant, 0.0, weights / np.where(constant, 1.0, spread))
    finite = np.isfinite(original)
    if not np.all(finite):
        name = features[int(np.flatnonzero(~finite)[0])]
        raise DataError(f"the values of '{name}' are too close to each other for a weight in their units")
    rule = LinearRule(original, centre, float(bias))
    try:
        rule.bias  # noqa: B018  it may be too large for a number
    except OverflowError:
        raise DataError("the rule's threshold in the units of the table is too large for a number") from None
    return rule


def round_weights(
    weights: np.ndarray, threshold: float, X: np.ndarray, positive: np.ndarray
) -> tuple[list[str], str]:
    """Write a rule with as few digits as give all samples the same classes in plain arithmetic.

    Parameters
    ----------
    weights, threshold : ndarray of shape (n_features,), float
        A sample is positive if the sum of weight times feature is at least the threshold.
    X : ndarray of shape (n_samples, n_features)
        The samples.
    positive : ndarray of bool of shape (n_samples,)
        Which of them the rule classifies as positive.

    Returns
    -------
    weights : list of str
        A number for each feature.
    threshold : str
        The threshold.
    """
    for digits in range(MIN_DIGITS, ALL_DIGITS + 1):
        shown, at_least = [f"{w:.{digits}g}" for w in weights], f"{threshold:.{digits}g}"
        if np.array_equal(X @ np.array(shown, dtype=float) >= float(at_least), positive):
            break
    return shown, at_least


MAX_SHOWN_FEATURES = 20


@dataclass(frozen=True)
class ReadableRule:
    """A rule in the units of the table, scaled so that the largest effect is 1.

    Attributes
    ----------
    names : list of str
        The features by the size of their effect, the largest first.
    weights : list of str
        The weight of each, with as few digits as give all samples their class.
    effects : ndarray of shape (n_features,)
        Weight times standard deviation: how much the sum typically varies because of this feature.
    threshold : str
        A sample is positive if the sum of weight times feature is at least this.
    indicators : dict of str to tuple of (str, str)
        Text columns with two levels, which have one indicator: the level where it is 0, and where it is 1.
    """

    names: list[str]
    weights: list[str]
    effects: np.ndarray
    threshold: str
    indicators: dict[str, tuple[str, str]]


def build_readable_rule(rule: LinearRule, table: CsvTable) -> ReadableRule:
    """Return a rule in the form in which it is shown.

    Two indicators of which one is always 1 are replaced by the second: the first adds its weight to every
    sample, which the threshold absorbs together with the difference of both weights.

    Parameters
    ----------
    rule : LinearRule
        The rule in the units of the table.
    table : CsvTable
        The table that it was fitted to.

    Returns
    -------
    ReadableRule
        The same rule.
    """
    X, weights, threshold = table.X, rule.weights.copy(), -rule.bias
    kept, indicators, at = np.ones(len(weights), bool), {}, 0
    for column in table.columns:
        count = len(column.features)
        levels = column.levels or ()
        if len(levels) == count == 2 and np.all(X[:, at] + X[:, at + 1] == 1.0):
            threshold -= weights[at]
            weights[at + 1] -= weights[at]
            kept[at] = False
            indicators[column.name] = levels[0], levels[1]
        at += count
    names = [name for name, is_kept in zip(table.features, kept, strict=True) if is_kept]
    X, weights = X[:, kept], weights[kept]
    effects = weights * X.std(axis=0)
    largest = float(np.max(np.abs(effects), initial=0.0))
    if largest == 0.0:  # a constant prediction
        largest = abs(threshold) or 1.0
    with np.errstate(over="ignore"):
        scaled = weights / largest, threshold / largest, effects / largest
    if not all(np.all(np.isfinite(part)) for part in scaled):
        scaled = weights, threshold, effects
    shown, at_least = round_weights(scaled[0], scaled[1], X, rule.score(table.X) >= 0.0)
    order = np.argsort(-np.abs(scaled[2]), kind="stable")
    return ReadableRule(
        [names[i] for i in order], [shown[i] for i in order], scaled[2][order], at_least, indicators
    )


def render_rule(readable: ReadableRule, positive: str, show_all: bool = False) -> list[str]:
    """Return a rule as lines of text, with at most 20 features unless all are requested."""
    from tabulate import tabulate

    count = len(readable.names) if show_all else min(len(readable.names), MAX_SHOWN_FEATURES)
    effects = [f"{effect:+.2f}" for effect in readable.effects]
    rows = list(zip(readable.names, readable.weights, effects, strict=True))[:count]
    table = tabulate(
        rows, ["feature", "weight", "effect"], disable_numparse=True, colalign=("left", "right", "right")
    )
    lines = [
        f"rule      '{positive}' where the sum of weight times feature is at least {readable.threshold}",
        "",
        table,
        "(weights in the units of the table; effect: weight times the feature's standard deviation)",
    ]
    left = len(readable.names) - count
    return lines + ([f"(and {left:,} more features of smaller effect: --all)"] if left else [])


def list_level_lines(table: CsvTable, readable: ReadableRule | None) -> list[str]:
    """Return how each text column became numbers, one sentence each."""
    pairs = {} if readable is None else readable.indicators
    found = []
    for column in table.columns:
        if column.levels is None:
            continue
        if column.name in pairs:
            zero, one = pairs[column.name]
            found.append(f"'{column.name}' has one indicator: 1 for {one}, 0 for {zero}")
        else:
            found.append(f"'{column.name}' has one indicator, 1 or 0, for each of: {', '.join(column.levels)}")
    return found
