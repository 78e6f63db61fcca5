"""Readable conditions, built from the features of training samples: age >= 60, sex=male."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np

from zoloss_cli.errors import suggest_nearest
from zoloss_cli.kernels import scoring as kernel
from zoloss_cli.kernels.line_search import to_fixed_point

MAX_RAW_RANGE = 1_000  # from the smallest to the largest value of a feature used as is
MAX_CUT_DIGITS = 400  # more than any float has
MAX_CONDITIONS = 20_000  # with more, even one step of a search takes minutes


@dataclass(frozen=True)
class Condition:
    """A condition on one feature, or a feature used as is."""

    feature: int
    cut: float | None  # the smallest value that meets the condition; None: the term is the value itself
    name: str  # of the feature
    is_indicator: bool = False  # the feature is 0 or 1 in all training samples: its name is the condition

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
    """Return the shortest decimal in (low, high]; on ties, the one nearest the middle."""
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
    """Return at most `most` cuts of a feature between its distinct ascending values: indices of the upper ones.

    `plus` and `minus` are the weights of the classes at each value; `how` is 'information', where the classes'
    entropy falls most, one cut at a time, or 'quantiles', into parts of equal weight.
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
    """Return the conditions of all features, from training samples with weight; see `find_cuts`."""
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
    """Raise ValueError if a feature cannot be used as is: its values must be integers in a small range."""
    odd = values[values != np.rint(values)]
    if odd.size:
        raise ValueError(
            f"conditions='raw' requires integer features, but '{name}' has {odd[0]:g}; use "
            "conditions='information'"
        )
    if values[-1] - values[0] > MAX_RAW_RANGE:
        raise ValueError(
            f"conditions='raw' requires a range of at most {MAX_RAW_RANGE:,}, but '{name}' goes from "
            f"{values[0]:g} to {values[-1]:g}; use conditions='information'"
        )


@dataclass(frozen=True)
class Constraints:
    """Constraints on the terms, by feature."""

    signs: dict[int, int]  # features whose points must not be below 0 (+1) or above it (-1)
    required: tuple[tuple[int, ...], ...]  # columns by their features, one of which must have points
    forbidden: frozenset[int]  # features that get no points
    required_names: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[int]:
        """The features that have a sign or are required: no other one may replace them."""
        return frozenset(self.signs) | {feature for column in self.required for feature in column}


def build_constraints(
    names: list[str],
    monotone: Sequence[str] | None,
    require: Sequence[str] | None,
    forbid: Sequence[str] | None,
    max_terms: int,
) -> Constraints:
    """Build the constraints from a learner's parameters; raise ValueError if they conflict."""
    signs: dict[int, int] = {}
    for text in monotone or ():
        name, colon, sign = text.rpartition(":")
        if not colon or sign not in ("+", "-"):
            raise ValueError(f"monotone: '{text}' is not a name with a sign, such as age:+ or age:-")
        for feature in find_features(name, names, "monotone"):
            if signs.setdefault(feature, 1 if sign == "+" else -1) != (1 if sign == "+" else -1):
                raise ValueError(f"monotone: '{name}' has both signs; keep one of them")
    forbidden = frozenset(f for name in forbid or () for f in find_features(name, names, "forbid"))
    unique = tuple(dict.fromkeys(require or ()))
    required = tuple(find_features(name, names, "require") for name in unique)
    for name, features in zip(unique, required, strict=True):
        if forbidden.issuperset(features):
            raise ValueError(f"'{name}' is both required and forbidden; keep one of them")
    if len(forbidden) == len(names):
        raise ValueError("forbid: all features are forbidden, and none is left for a term")
    # A column adds no requirement if one of its indicators is itself required.
    alone = [k for k, own in enumerate(required) if not any(set(other) < set(own) for other in required)]
    if len(alone) > max_terms:
        raise ValueError(
            f"{len(alone)} columns are required, and at most {max_terms} terms are allowed; allow more terms"
        )
    return Constraints(signs, tuple(required[k] for k in alone), forbidden, tuple(unique[k] for k in alone))


def find_features(name: str, names: list[str], parameter: str) -> tuple[int, ...]:
    """Return the feature with a name, or all indicators of a text column, which are named name=level."""
    found = tuple(j for j, known in enumerate(names) if known == name)
    found = found or tuple(j for j, known in enumerate(names) if known.startswith(f"{name}="))
    if not found:
        columns = dict.fromkeys([*names, *(known.partition("=")[0] for known in names)])
        raise ValueError(f"{parameter}: there is no feature '{name}'{suggest_nearest(name, list(columns))}")
    return found


MAX_RATIO = 1e6  # of integer weights to the smallest
RATIO_TOLERANCE = 1e-9
WEIGHT_BITS = 50  # of the sum of all weights, if a penalty must be an integer, too


@dataclass(frozen=True)
class MergedCells:
    """Samples that meet the same conditions, merged."""

    levels: np.ndarray  # (n_conditions, n_cells), integers
    plus: np.ndarray  # (n_cells,): the weight of the positive class
    minus: np.ndarray


@dataclass(frozen=True)
class ScoringProblem:
    """Merged samples by their conditions, and the constraints on a rule."""

    conditions: list[Condition]
    offsets: np.ndarray  # the smallest value of a feature used as is, which its level omits; 0 for others
    arrays: tuple[np.ndarray, ...]  # the problem of `zoloss_cli.kernels.scoring`
    n_required: int  # number of required columns
    penalty: int  # the cost of a term
    negative: int  # weight of the negative class: the cost of a rule whose sum of gains is 0
    scale: float  # the cost of a mean sample weight
    max_terms: int
    max_points: int
    cells: MergedCells  # all merged samples, including those whose classes cancel out
    single: float  # the cost of one sample in fits of weights: repeated samples count as a multiple weight

    @property
    def core(self) -> tuple[tuple[np.ndarray, ...], int, int]:
        """The first arguments of kernels."""
        return self.arrays, self.n_required, self.penalty

    @property
    def levels(self) -> np.ndarray:
        """The level of each merged sample on each condition."""
        return self.arrays[0]

    @property
    def gains(self) -> np.ndarray:
        """The weight of the positive class minus that of the negative one, for each merged sample."""
        return self.arrays[2]

    @property
    def unavoidable(self) -> int:
        """Lower bound on the sum of gains: of equal samples, the lighter class is always misclassified."""
        return int(np.minimum(self.gains, 0).sum()) + self.penalty * self.n_required

    def to_loss(self, cost: int) -> float:
        """Return the cost from a kernel in mean sample weights, penalties included."""
        return (self.negative + int(cost)) / self.scale

    def allocate_room(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return arrays for the totals, histograms and sums of kernels."""
        reach = self.max_points * int(self.arrays[1].max(initial=1))
        totals, sums = np.zeros(self.gains.size, np.int64), np.zeros(2 * self.max_points + 1, np.int64)
        return totals, np.zeros((2, 2 * (self.max_terms + 2) * reach + 8), np.int64), sums


def to_integer_weights(phi: np.ndarray) -> np.ndarray:
    """Return sample weights as integers: their ratios if these are integers, otherwise fixed-point numbers."""
    ratios = phi / phi.min()
    whole = np.rint(ratios)
    if whole.max() <= MAX_RATIO and np.all(np.abs(ratios - whole) <= RATIO_TOLERANCE * whole):
        return whole.astype(np.int64)
    return to_fixed_point(phi / phi.sum())


def build_scoring_problem(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    conditions: list[Condition],
    constraints: Constraints,
    limits: tuple[int, int],
    penalty: float,
) -> ScoringProblem:
    """Return the problem with all distinct conditions that are allowed.

    `limits` are the maximum number of terms, and the largest points; `penalty` is the cost of a term in mean
    sample weights.
    """
    max_terms, max_points = limits
    allowed = [c for c in conditions if c.feature not in constraints.forbidden]
    _check_required(allowed, constraints)
    values = np.array([c.compute(X) for c in allowed], dtype=np.float64).reshape(len(allowed), len(y))
    is_raw = np.array([c.cut is None for c in allowed])
    offsets = np.where(is_raw, values.min(axis=1), 0.0).astype(np.int64)
    levels = np.rint(values - offsets[:, None]).astype(np.int64)
    kept = _find_different(allowed, levels, constraints.named)
    allowed, offsets, levels = [allowed[k] for k in kept], offsets[kept], levels[kept]
    scale = float(weights.sum()) / len(weights)
    single = 1.0 if weights.min() == 1 else scale
    if penalty > 0.0 and penalty * scale != round(penalty * scale):
        factor = 1 << max(0, WEIGHT_BITS - int(weights.sum()).bit_length())
        weights, scale, single = weights * factor, scale * factor, single * factor
    cells = merge_cells(levels, y, weights)
    is_kept = cells.plus != cells.minus
    merged, gains = np.ascontiguousarray(cells.levels[:, is_kept]), (cells.plus - cells.minus)[is_kept]
    lowest = np.array([0 if constraints.signs.get(c.feature) == 1 else -max_points for c in allowed], np.int64)
    highest = np.array([0 if constraints.signs.get(c.feature) == -1 else max_points for c in allowed], np.int64)
    columns = [next((r for r, fs in enumerate(constraints.required) if c.feature in fs), -1) for c in allowed]
    arrays = (merged, merged.max(axis=1, initial=0), gains, lowest, highest, np.array(columns, np.int64))
    terms, negative = min(max_terms, len(allowed)), int(weights[y < 0.0].sum())
    costs = len(constraints.required), round(penalty * scale), negative, scale
    return ScoringProblem(allowed, offsets, arrays, *costs, terms, max_points, cells, single)


def _check_required(conditions: list[Condition], constraints: Constraints) -> None:
    present = {c.feature for c in conditions}
    for name, features in zip(constraints.required_names, constraints.required, strict=True):
        if not present.intersection(features):
            raise ValueError(
                f"'{name}' is required, but it is constant in the training samples: it has no condition"
            )
    if not conditions:
        raise ValueError("all samples are equal: there is no condition that distinguishes them")


def _find_different(conditions: list[Condition], levels: np.ndarray, named: frozenset[int]) -> list[int]:
    """Return the conditions that are not redundant: no earlier one is met by the same samples or all others."""
    known: set[bytes] = set()
    kept = []
    for k, condition in enumerate(conditions):
        row = levels[k]
        own = condition.feature if condition.feature in named else -1
        pair = [f"{own} ".encode() + side.tobytes() for side in (row, row.max() - row)]
        if known.isdisjoint(pair):
            kept.append(k)
            known.add(pair[0])
    return kept


def merge_cells(levels: np.ndarray, y: np.ndarray, weights: np.ndarray) -> MergedCells:
    """Return the distinct columns of `levels` with the weights of both classes."""
    rows, place = np.unique(levels.T.astype(np.int16), axis=0, return_inverse=True)
    sums = np.zeros((2, len(rows)), np.int64)
    np.add.at(sums, ((y < 0.0).astype(np.int64), place.ravel()), weights)
    return MergedCells(np.ascontiguousarray(rows.T, dtype=np.int32), sums[0], sums[1])


def find_threshold(problem: ScoringProblem, terms: np.ndarray, points: np.ndarray) -> int:
    """Return the threshold with the smallest cost, in the middle of the widest range of such thresholds."""
    totals = np.zeros(problem.gains.size, np.int64)
    kernel.compute_totals(problem.levels, terms, points, totals)
    if totals.size == 0:
        return 0
    seen, place = np.unique(totals, return_inverse=True)
    sums = np.zeros(len(seen), np.int64)
    np.add.at(sums, place.ravel(), problem.gains)
    below = np.concatenate([[0], np.cumsum(sums)])
    best = np.flatnonzero(below == below.min())
    # The threshold at place b is above seen[b - 1] and not above seen[b]; there is one beyond each end.
    ranges = [(1 if b in (0, len(seen)) else int(seen[b] - seen[b - 1]), -int(b)) for b in best]
    width, b = max(ranges)
    b = -b
    if b == 0:
        return int(seen[0])
    if b == len(seen):
        return int(seen[-1]) + 1
    return int(seen[b - 1]) + (width + 2) // 2
