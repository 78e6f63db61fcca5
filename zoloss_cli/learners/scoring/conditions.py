"""Readable conditions, built from the features of training samples: age >= 60, sex=male."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np

MAX_RAW_RANGE = 1_000  # from the smallest to the largest value of a column that is kept as it is
MAX_CUT_DIGITS = 400  # more than any float has
MAX_CONDITIONS = 20_000  # with more, even one step of a search takes minutes


@dataclass(frozen=True)
class Condition:
    """A condition on one feature, or a feature kept as it is.

    Attributes
    ----------
    feature : int
        The feature.
    cut : float or None
        The smallest value that meets the condition; None: the term is the value itself.
    name : str
        The name of the feature.
    is_indicator : bool
        Whether the feature is 0 or 1 in all training samples, so that its name says it all.
    """

    feature: int
    cut: float | None
    name: str
    is_indicator: bool = False

    @property
    def text(self) -> str:
        """The condition as text."""
        if self.cut is None or self.is_indicator:
            return self.name
        return f"{self.name} >= {format_number(self.cut)}"

    def compute(self, X: np.ndarray) -> np.ndarray:
        """Return 0 or 1 for each sample, or the feature's value; X has no bias column."""
        values = X[:, self.feature]
        return values if self.cut is None else (values >= self.cut).astype(np.float64)


def format_number(value: float) -> str:
    """Return a number in as few digits as reproduce it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def choose_cut(low: float, high: float) -> float:
    """Return the shortest decimal in (low, high]; of several, the one nearest their middle.

    Parameters
    ----------
    low, high : float
        Neighbouring values of a feature, low < high.

    Returns
    -------
    float
        Where to cut between them.
    """
    a, b = Decimal(repr(low)), Decimal(repr(high))
    middle = (a + b) / 2
    exponent = max(a.adjusted(), b.adjusted()) + 1
    for power in range(exponent, exponent - MAX_CUT_DIGITS, -1):
        step = Decimal(1).scaleb(power)
        found = [
            float(multiple)
            for rounding in (ROUND_CEILING, ROUND_FLOOR)
            if a < (multiple := (middle / step).to_integral_value(rounding) * step) <= b
        ]
        found = [cut for cut in found if low < cut <= high]
        if found:
            return min(found, key=lambda cut: (abs(Decimal(cut) - middle), cut)) + 0.0  # no -0
    return high


def find_cuts(values: np.ndarray, plus: np.ndarray, minus: np.ndarray, how: str, most: int) -> list[int]:
    """Return where to cut a feature between neighbouring values, as ascending indices of the upper ones.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        The distinct values, ascending.
    plus, minus : ndarray of shape (n_values,)
        The weight of each class at each value.
    how : {'information', 'quantiles'}
        Where to cut: where the classes' entropy falls most, one cut at a time, or into parts of equal
        weight.
    most : int
        The maximum number of cuts.

    Returns
    -------
    list of int
        The cut i is above values[i - 1] and not above values[i].
    """
    count = len(values)
    if count - 1 <= most:
        return list(range(1, count))
    below_plus, below_minus = np.cumsum(plus)[:-1], np.cumsum(minus)[:-1]
    if how == "quantiles":
        shares = (below_plus + below_minus) / (plus.sum() + minus.sum())
        wanted = np.arange(1, most + 1) / (most + 1)
        return sorted({1 + int(np.argmin(np.abs(shares - share))) for share in wanted})
    cuts: list[int] = []
    for _ in range(most):
        gains = _compute_gains(below_plus, below_minus, plus.sum(), minus.sum(), cuts)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            break
        cuts = sorted([*cuts, best + 1])
    return cuts


def _compute_gains(
    below_plus: np.ndarray, below_minus: np.ndarray, plus: float, minus: float, cuts: list[int]
) -> np.ndarray:
    """Return how much each further cut lowers the classes' entropy, times the weight, in nats."""
    gains = np.zeros(len(below_plus))
    edges = [0, *cuts, len(below_plus) + 1]
    all_plus = np.concatenate([[0.0], below_plus, [plus]])
    all_minus = np.concatenate([[0.0], below_minus, [minus]])
    for begin, end in itertools.pairwise(edges):
        if end - begin < 2:
            continue
        inside = slice(begin + 1, end)
        left = all_plus[inside] - all_plus[begin], all_minus[inside] - all_minus[begin]
        right = all_plus[end] - all_plus[inside], all_minus[end] - all_minus[inside]
        whole = _weigh_entropy(all_plus[end] - all_plus[begin], all_minus[end] - all_minus[begin])
        gains[begin : end - 1] = whole - _weigh_entropy(*left) - _weigh_entropy(*right)
    size = max(plus + minus, 1.0)
    return np.where(gains > 1e-12 * size, gains, 0.0)  # rounding errors are not information


def _weigh_entropy(plus, minus):
    """Return the entropy of two classes, times their weight."""
    total = np.asarray(plus + minus, dtype=np.float64)
    parts = [np.asarray(part, dtype=np.float64) for part in (plus, minus)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return sum(np.where(part > 0.0, -part * np.log(part / total), 0.0) for part in parts)


def build_conditions(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, names: list[str], how: str, most: int
) -> list[Condition]:
    """Return the conditions of all features, from training samples.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training samples with weight.
    y : ndarray of shape (n_samples,)
        Classes, -1.0 or +1.0.
    weights : ndarray of shape (n_samples,)
        Sample weights.
    names : list of str
        The names of the features.
    how : {'information', 'quantiles', 'raw'}
        Where to cut, or 'raw' to keep features of integers as they are.
    most : int
        The maximum number of cuts of a feature.

    Returns
    -------
    list of Condition
        In the order of the features; a constant feature has none.
    """
    conditions = []
    for j, name in enumerate(names):
        values, place = np.unique(X[:, j], return_inverse=True)
        if len(values) < 2:
            continue
        is_indicator = values.tolist() == [0.0, 1.0]
        if how == "raw" and not is_indicator:
            check_raw(values, name)
            conditions.append(Condition(j, None, name))
            continue
        plus = np.bincount(place.ravel(), np.where(y > 0.0, weights, 0.0), len(values))
        minus = np.bincount(place.ravel(), np.where(y > 0.0, 0.0, weights), len(values))
        for i in find_cuts(values, plus, minus, how, most):
            cut = choose_cut(float(values[i - 1]), float(values[i]))
            conditions.append(Condition(j, cut, name, is_indicator))
    if len(conditions) > MAX_CONDITIONS:
        raise ValueError(
            f"the features have {len(conditions):,} conditions, more than the {MAX_CONDITIONS:,} that can be "
            "searched; leave out features, or use fewer thresholds"
        )
    return conditions


def check_raw(values: np.ndarray, name: str) -> None:
    """Raise ValueError if a feature cannot be kept as it is: its values must be integers in a small range."""
    odd = values[values != np.rint(values)]
    if odd.size:
        raise ValueError(
            f"conditions='raw' keeps features of integers, and '{name}' has {odd[0]:g}; use "
            "conditions='information'"
        )
    if values[-1] - values[0] > MAX_RAW_RANGE:
        raise ValueError(
            f"conditions='raw' keeps features whose range is at most {MAX_RAW_RANGE:,}, and '{name}' goes from "
            f"{values[0]:g} to {values[-1]:g}; use conditions='information'"
        )
