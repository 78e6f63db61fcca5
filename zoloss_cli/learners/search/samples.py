"""Samples as searches use them: equal ones merged, and their exact values as integers, for proofs."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np

from zoloss_cli.kernels.line_losses import compute_strict_loss
from zoloss_cli.learners.base import Problem, set_within

RANK_TOLERANCE = 1e-10  # of the largest singular value
WEIGHT_TOLERANCE = 1e-12  # of the weight at one place: less counts as none
MARGIN_TOLERANCE = 1e-12  # of the lengths of a sample and of w: less counts as 0
MAX_MOVES = 20
MANY_SAMPLES = 100_000  # from here on, sorting all samples and all singular vectors take too long
MANY_BYTES = 64 << 20  # from here on, they take too much memory
VALUES_PER_BLOCK = 1 << 22  # of many samples, processed at a time
HASH_SEED = 20061


@dataclass(frozen=True)
class MergedSamples:
    """Signed samples: w classifies the i-th correctly if <Y_i, w> > 0.

    Equal samples are merged into one, with the weight by which one class prevails. The features are rotated to
    as many axes as their rank. Samples have length 1, which changes no sign.
    """

    Y: np.ndarray  # (n_merged, n_axes)
    c: np.ndarray  # (n_merged,): their weights, in mean sample weights
    t: np.ndarray  # their classes, -1.0 or 1.0: t_i Y_i points to the sample itself
    lengths: np.ndarray  # that the samples were divided by
    # The samples before they were signed, rotated and divided; with many samples, those of the problem itself,
    # or none if Y uses their memory.
    places: np.ndarray
    # (n_axes, n_features + 1), orthonormal: w here is w @ axes for the features of the problem.
    axes: np.ndarray
    indices: np.ndarray  # for each of them, a sample of the problem that it represents
    unavoidable_loss: float  # the weight that every w misclassifies

    @property
    def raw(self) -> np.ndarray:
        """The signed samples before they were rotated and divided."""
        return self.places * self.t[:, None]

    def compute_loss(self, w: np.ndarray) -> float:
        """Return the loss of w, counting a margin within rounding error of 0 as an error."""
        return self.unavoidable_loss + compute_strict_loss(self.Y, self.c, w)

    def order_by_distance(self, w: np.ndarray) -> np.ndarray:
        """Return the indices of the samples sorted by |<w, x>|, the smallest first."""
        return np.argsort(np.abs(self.Y @ w) * self.lengths, kind="stable")


def merge_equal_samples(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray | slice, np.ndarray, np.ndarray, float]:
    """Merge equal samples into one; return their indices, weights, classes, and the unavoidable loss.

    Where both labels occur, the lighter one is always misclassified, and the surplus of the heavier one
    remains. The indices are a slice of all if there are many samples and none are equal.
    """
    if _are_many(X) and _are_all_different(X):
        return slice(None), np.array(weights, dtype=float), np.array(y, dtype=float), 0.0
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    place = place.ravel()
    net = np.bincount(place, y * weights, len(first))
    both = np.bincount(place, weights, len(first))
    kept = np.abs(net) > WEIGHT_TOLERANCE * both
    signs = np.sign(net[kept])
    unavoidable_loss = float(np.sum(both - np.abs(net)) / 2)
    return first[kept], np.abs(net[kept]), signs, unavoidable_loss


def _are_all_different(X: np.ndarray) -> bool:
    """Return True only if no two samples are equal, judging by a hash of each sample."""
    rng = np.random.default_rng(HASH_SEED)
    numbers = np.zeros(len(X), np.uint64)
    for j in range(X.shape[1]):
        factor = rng.integers(0, 2**64, dtype=np.uint64)
        bits = (X[:, j] + 0.0).view(np.uint64)  # adding 0 makes both zeros equal
        numbers += (bits ^ (bits >> np.uint64(29))) * (factor | np.uint64(1))
    numbers.sort()
    return bool(np.all(numbers[1:] != numbers[:-1]))


def build_merged_samples(problem: Problem) -> MergedSamples:
    """Return the merged samples of a problem: those with equal values before scaling, if these are known."""
    keys = problem.X if problem.exact is None else problem.exact.keys
    kept, c, t, unavoidable_loss = merge_equal_samples(keys, problem.y, problem.unit_mean_weights)
    places = problem.X if isinstance(kept, slice) else problem.X[kept]
    indices = np.arange(len(problem.X))[kept]
    if len(places) == 0:
        return MergedSamples(places, c, t, c, places, np.eye(problem.X.shape[1]), indices, unavoidable_loss)
    many = _are_many(places)
    small = _reduce_rows(places) if many else places * t[:, None]
    _, sizes, axes = np.linalg.svd(small, full_matrices=False)
    axes = axes[sizes > RANK_TOLERANCE * sizes[0]]
    if places is problem.X and problem.features is not None and len(axes) == places.shape[1]:
        Y, places = _turn_in_place(places, axes), places[:0]
    else:
        Y = places @ axes.T
    Y *= t[:, None]
    lengths = _compute_lengths(Y) if many else np.sqrt(np.sum(Y**2, axis=1))
    Y /= lengths[:, None]
    return MergedSamples(Y, c, t, lengths, places, axes, indices, unavoidable_loss)


def _are_many(X: np.ndarray) -> bool:
    return len(X) > MANY_SAMPLES or X.nbytes > MANY_BYTES


def _list_blocks(X: np.ndarray) -> list[slice]:
    """Return blocks of rows, each with more rows than columns."""
    rows = max(2 * X.shape[1], min(MANY_SAMPLES, VALUES_PER_BLOCK // X.shape[1]))
    return [slice(start, start + rows) for start in range(0, len(X), rows)]


def _reduce_rows(X: np.ndarray) -> np.ndarray:
    """Return a square matrix with the same singular values and right singular vectors."""
    R: np.ndarray = np.empty((0, X.shape[1]))
    for block in _list_blocks(X):
        R = np.asarray(np.linalg.qr(np.vstack([R, X[block]]), mode="r"))
    return R


def _turn_in_place(X: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Replace samples by their coordinates along as many axes as there are columns; return the same array."""
    for block in _list_blocks(X):
        X[block] = X[block] @ axes.T
    return X


def _compute_lengths(X: np.ndarray) -> np.ndarray:
    """Return the length of each row, without a copy of the matrix."""
    return np.sqrt(np.einsum("ij,ij->i", X, X))


def move_off_samples(X: np.ndarray, w: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return w moved so little that no sample changes sides, until none has a margin of exactly 0.

    A search does not see samples that cancelled out, but a margin of 0 makes them errors for both classes.
    """
    lengths = _compute_lengths(X)
    for _ in range(MAX_MOVES):
        margins = np.abs(X @ w)
        away = margins > MARGIN_TOLERANCE * lengths * np.sqrt(w @ w)
        if np.all(away):
            break
        direction = rng.standard_normal(len(w))
        rates = np.abs(X @ direction)
        moving = away & (rates > 0.0)
        farthest = np.min(margins[moving] / rates[moving]) if np.any(moving) else 1.0
        w = w + 0.5 * farthest * direction
    return w


MAX_DECIMAL_DIGITS = 15  # every decimal number of this length has its own floating-point number
MAX_STEP_DIVISOR = 60  # the step of a grid is at least the smallest difference divided by this
GRID_TOLERANCE = 1e-13  # of the range: how far standardizing may move values off a grid
MAX_GRID_STEPS = 10**8


@dataclass
class ExactFeatures:
    """The features of training samples as integers: proofs hold for these, not for scaled numbers."""

    values: np.ndarray  # the features before scaling; of type object if some are fractions no float has
    # Whether the values are decimal numbers of a table. If not, a feature of numbers with up to 15 digits is
    # read as decimals, one close to a grid (as scaled numbers are) as that grid, and any other by its binary
    # values.
    is_table: bool = True
    keeps_proof: bool = False  # whether the learner is to keep its proofs here, for a certificate
    # Of the cone search: its problem, the misclassified copies, the cones, the sample of each merged one.
    proof: tuple[Any, int, list[Any], list[int]] | None = None
    hitting: tuple[Any, list[int]] | None = None  # a HittingProof, and the sample of each merged one
    n_swept: int | None = None  # the fewest copies that any rule misclassifies, by a sweep of all hyperplanes

    @cached_property
    def keys(self) -> np.ndarray:
        """Return numbers with the same equalities and order as the values."""
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
        """Whether the integers are those of the values, rather than of nearby grids."""
        return None not in self._integers[1]

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[tuple[Fraction, Fraction] | None]]:
        """The integers, and the smallest value and the step of each feature; None if read as a nearby grid."""
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
        """Return which samples at_centre + <weights, x - centre> misclassifies, or scores 0, in integers.

        The numbers of the rule are read as their decimal representations; y are class indices.
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
    """Return the decimal representations of numbers: multiples of a unit, and the unit.

    None if one of them has more than `max_digits`.
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


def use_exact_features(features: ExactFeatures | None) -> AbstractContextManager[None]:
    """Make searches within a block prove their bounds for these values instead of those they are fitted to."""
    return set_within(_features, features)


def find_exact_features(X: Any) -> ExactFeatures:
    """Return the values set by `use_exact_features` if they match the samples X, otherwise those of X."""
    features = _features.get()
    if features is not None and len(features.values) == len(X):
        return features
    values = np.asarray(X)
    if values.dtype.kind not in "iuf":
        values = np.asarray(values, np.float64)
    return ExactFeatures(values, is_table=False)


def _eliminate(matrix: list[list[int]]) -> tuple[list[list[int]], list[int]]:
    """Return an echelon form without fractions (Bareiss), and the columns of the pivots."""
    rows = [list(r) for r in matrix]
    pivots, previous, at = [], 1, 0
    for column in range(len(rows[0]) if rows else 0):
        pivot_row = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if pivot_row is None:
            continue
        rows[at], rows[pivot_row] = rows[pivot_row], rows[at]
        pivot = rows[at][column]
        for r in range(at + 1, len(rows)):
            factor = rows[r][column]
            rows[r] = [(pivot * a - factor * b) // previous for a, b in zip(rows[r], rows[at], strict=True)]
        pivots.append(column)
        previous = pivot
        at += 1
        if at == len(rows):
            break
    return rows[:at], pivots


def find_independent_columns(samples: list[list[int]]) -> list[int]:
    """Return the columns of samples of integers that do not depend on earlier columns."""
    return _eliminate(samples)[1]


def find_farkas_weights(samples: list[list[int]]) -> list[int] | None:
    """Find positive integer weights with which the signed samples sum to 0: they are not separable then.

    None unless the samples have a unique such sum up to scale, with positive weights.
    """
    count = len(samples)
    echelon, pivots = _eliminate([list(column) for column in zip(*samples, strict=True)])
    if len(pivots) != count - 1:
        return None
    free = next(k for k in range(count) if k not in pivots)
    # Back substitution over a common denominator that grows as needed.
    weights, scale = [0] * count, 1
    weights[free] = 1
    for row, pivot in zip(reversed(echelon), reversed(pivots), strict=True):
        total = -sum(row[k] * weights[k] for k in range(pivot + 1, count))
        divisor = math.gcd(row[pivot], total) or 1
        grow = abs(row[pivot] // divisor)
        weights = [w * grow for w in weights]
        scale *= grow
        weights[pivot] = total * grow // row[pivot]
    if any(w < 0 for w in weights):
        weights = [-w for w in weights]
    if min(weights) <= 0:
        return None
    mixture = [sum(w * row[j] for w, row in zip(weights, samples, strict=True)) for j in range(len(samples[0]))]
    if any(mixture):
        return None
    divisor = math.gcd(*weights)
    return [w // divisor for w in weights]
