"""The values that training samples had before they were scaled, as integers: what a proof is about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zoloss_cli.learners.search.cone_problem import ConeProblem
    from zoloss_cli.learners.search.cone_workspace import Cone
    from zoloss_cli.learners.search.hitting_bound import HittingProof

MAX_DECIMAL_DIGITS = 15  # every decimal number of this length has its own floating-point number
MAX_STEP_DIVISOR = 60  # the step of a grid is at least the smallest difference divided by this
GRID_TOLERANCE = 1e-13  # of the range: how far standardizing may move values off a grid
MAX_GRID_STEPS = 10**8


@dataclass
class ExactFeatures:
    """The features of training samples as integers: what is proved holds for these, not for scaled numbers.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features)
        The features before scaling; of type object if some are fractions, which no floating-point number has.
    is_table : bool
        Whether the numbers are decimal numbers of a table. Otherwise those of up to 15 digits are, a feature
        near a grid is taken for that grid, as scaled numbers are, and any other has its binary values.
    keeps_proof : bool
        Whether the learner is to keep its proofs here, for a certificate.
    hitting : tuple of (HittingProof, list of int) or None
        What impossible sets proved, and the training sample that each merged one represents.
    n_swept : int or None
        The fewest copies that any rule misclassifies, by a sweep of all hyperplanes; None without one.
    proof : tuple of (ConeProblem, int, list of Cone, list of int) or None
        What the cone search proved: its problem, the misclassified copies, the cones it was divided into, and
        the training sample that each merged one represents.
    """

    values: np.ndarray
    is_table: bool = True
    keeps_proof: bool = False
    proof: tuple[ConeProblem, int, list[Cone], list[int]] | None = None
    hitting: tuple[HittingProof, list[int]] | None = None
    n_swept: int | None = None

    @cached_property
    def keys(self) -> np.ndarray:
        """Numbers that are equal where the values are, and in the same order."""
        if self.values.dtype != object:
            return self.values
        ranks = []
        for column in zip(*self.samples, strict=True):
            rank = {value: k for k, value in enumerate(sorted(set(column)))}
            ranks.append([rank[value] for value in column])
        return np.array(ranks, np.int64).T

    @property
    def samples(self) -> list[list[int]]:
        """One list of integers per sample: each feature is counted from its smallest value, in equal steps."""
        return self._integers[0]

    @property
    def is_exact(self) -> bool:
        """Whether the integers are those of the values, rather than of grids that they are near to."""
        return None not in self._integers[1]

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[tuple[Fraction, Fraction] | None]]:
        """The integers, and the smallest value and the step of each feature; None for a grid near to it."""
        columns, units = [], []
        for values in self.values.T:
            decimals = _read_decimals(values, None if self.is_table else MAX_DECIMAL_DIGITS)
            grid = _find_grid(values) if decimals is None else None
            numbers = decimals or _read_binary(values)
            column, unit = _count_steps(values, *numbers) if grid is None else (grid, None)
            columns.append(column)
            units.append(unit)
        return [list(sample) for sample in zip(*columns, strict=True)], units

    def sign_samples(self, indices: np.ndarray | slice, signs: np.ndarray) -> list[list[int]]:
        """Return some samples in integers: the sign of the class, and the sign times each feature."""
        chosen = np.arange(len(self.values))[indices].tolist()
        pairs = zip(chosen, signs.astype(int).tolist(), strict=True)
        return [[sign, *(sign * value for value in self.samples[i])] for i, sign in pairs]

    def find_errors(
        self, y: np.ndarray, weights: np.ndarray, centre: np.ndarray, at_centre: float
    ) -> np.ndarray:
        """Return which samples at_centre + <weights, x - centre> has on the wrong side, or at 0, in integers.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Class indices.
        weights, centre : ndarray of shape (n_features,)
            The rule, whose numbers are taken as they are written in decimals.
        at_centre : float
            Its score at the centre.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            The errors.
        """
        samples, units = self._integers
        score, factors = Fraction(repr(float(at_centre))), []
        for w, c, unit in zip(weights.tolist(), centre.tolist(), units, strict=True):
            assert unit is not None, "values of a table are exact"
            score += Fraction(repr(w)) * (unit[0] - Fraction(repr(c)))
            factors.append(Fraction(repr(w)) * unit[1])
        common = lcm(score.denominator, *(factor.denominator for factor in factors))
        start, whole = int(score * common), [int(factor * common) for factor in factors]
        scores = (start + sum(map(int.__mul__, whole, sample)) for sample in samples)
        return np.array([(s if label == 1 else -s) <= 0 for s, label in zip(scores, y.tolist(), strict=True)])


def _read_decimals(values: np.ndarray, max_digits: int | None) -> tuple[dict[Any, int], Fraction] | None:
    """Return numbers as they are written in decimals: multiples of a unit, and the unit.

    None if one of them has more digits than it may.
    """
    known = set(values.tolist())
    if values.dtype == np.longdouble != np.float64:
        return None
    if not all(isinstance(value, float) for value in known):
        exact = {value: Fraction(repr(value) if isinstance(value, float) else value) for value in known}
        common = lcm(*(number.denominator for number in exact.values()))
        return {value: int(number * common) for value, number in exact.items()}, Fraction(1, common)
    numbers, exponents = {}, {}  # without fractions, which take ten times as long
    for value in known:
        mantissa, _, exponent = repr(value).partition("e")
        whole, _, part = mantissa.partition(".")
        digits = whole + part
        if max_digits is not None and len(digits.lstrip("-0").rstrip("0")) > max_digits:
            return None
        numbers[value], exponents[value] = int(digits), int(exponent or 0) - len(part)
    least = min(exponents.values())
    return {value: n * 10 ** (exponents[value] - least) for value, n in numbers.items()}, Fraction(10) ** least


def _read_binary(values: np.ndarray) -> tuple[dict[Any, int], Fraction]:
    """Return the exact values of floating-point numbers: multiples of a unit, and the unit."""
    ratios = {value: value.as_integer_ratio() for value in set(values.tolist())}
    common = max(denominator for _, denominator in ratios.values())  # all are powers of two
    return {value: n * (common // d) for value, (n, d) in ratios.items()}, Fraction(1, common)


def _count_steps(
    values: np.ndarray, whole: dict[Any, int], unit: Fraction
) -> tuple[list[int], tuple[Fraction, Fraction]]:
    """Return values in steps of their greatest divisor from the smallest on; the smallest, and the step."""
    least = min(whole.values())
    step = gcd(*(number - least for number in whole.values())) or 1
    index = {value: (number - least) // step for value, number in whole.items()}
    return [index[value] for value in values.tolist()], (least * unit, step * unit)


def _find_grid(values: np.ndarray) -> list[int] | None:
    """Return values that scaling may have moved off a grid as steps of that grid; None if there is none."""
    levels, place = np.unique(np.asarray(values, float), return_inverse=True)
    if len(levels) > 1:
        steps = (levels - levels[0]) / np.min(np.diff(levels))
        for divisor in range(1, MAX_STEP_DIVISOR + 1):
            fine = steps * divisor
            if fine[-1] > MAX_GRID_STEPS:
                break
            if np.max(np.abs(fine - np.round(fine))) < GRID_TOLERANCE * (1.0 + fine[-1]):
                return [round(float(fine[p])) for p in place]
    return None


_features: ContextVar[ExactFeatures | None] = ContextVar("features", default=None)


@contextlib.contextmanager
def use_exact_features(features: ExactFeatures | None) -> Iterator[None]:
    """Within this block, make a search prove its bound for these values instead of those it is fitted to."""
    token = _features.set(features)
    try:
        yield
    finally:
        _features.reset(token)


def find_exact_features(X: Any) -> ExactFeatures:
    """Return the values that a caller provides for the samples that a search is fitted to, or these."""
    features = _features.get()
    if features is not None and len(features.values) == len(X):
        return features
    values = np.asarray(X)
    if values.dtype.kind not in "iuf":
        values = np.asarray(values, np.float64)
    return ExactFeatures(values, is_table=False)
