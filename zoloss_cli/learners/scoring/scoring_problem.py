"""The problem that the search for scoring systems works on: conditions, merged samples and integer weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.kernels import scoring as kernel
from zoloss_cli.kernels.line_search import to_fixed_point
from zoloss_cli.learners.scoring.conditions import Condition
from zoloss_cli.learners.scoring.constraints import Constraints

MAX_RATIO = 1e6  # of integer weights to the smallest
RATIO_TOLERANCE = 1e-9
WEIGHT_BITS = 50  # of the sum of all weights, if a penalty must be an integer, too


@dataclass(frozen=True)
class MergedCells:
    """Samples that meet the same conditions, merged.

    Attributes
    ----------
    levels : ndarray of int of shape (n_conditions, n_cells)
        Their levels.
    plus, minus : ndarray of int of shape (n_cells,)
        The weight of each class.
    """

    levels: np.ndarray
    plus: np.ndarray
    minus: np.ndarray


@dataclass(frozen=True)
class ScoringProblem:
    """Merged samples by their conditions, and what a rule may be.

    Attributes
    ----------
    conditions : list of Condition
        The conditions that terms can use.
    offsets : ndarray of int of shape (n_conditions,)
        The smallest value of a feature kept as it is, which its level omits; 0 for others.
    arrays : tuple of ndarray
        The problem of `zoloss_cli.kernels.scoring`.
    n_required : int
        The number of required columns.
    penalty : int
        What a term costs.
    negative : int
        The weight of the negative class: the cost of a rule whose sum of gains is 0.
    scale : float
        The cost of a mean sample weight.
    max_terms, max_points : int
        Limits of a rule.
    cells : MergedCells
        All merged samples, including those whose classes cancel out.
    single : float
        The cost that counts as one sample in fits of weights, so that repeated samples count as a multiple
        weight.
    """

    conditions: list[Condition]
    offsets: np.ndarray
    arrays: tuple[np.ndarray, ...]
    n_required: int
    penalty: int
    negative: int
    scale: float
    max_terms: int
    max_points: int
    cells: MergedCells
    single: float

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
        """The sum of gains that no rule can go below: of equal samples, the lighter class is misclassified."""
        return int(np.minimum(self.gains, 0).sum()) + self.penalty * self.n_required

    def to_loss(self, cost: int) -> float:
        """Return the cost from a kernel in mean sample weights, penalties included."""
        return (self.negative + int(cost)) / self.scale

    def allocate_room(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return arrays for the totals, histograms and sums of kernels."""
        largest = int(self.arrays[1].max(initial=1))
        reach = self.max_points * largest
        width = 2 * (self.max_terms + 2) * reach + 8
        return (
            np.zeros(self.gains.size, np.int64),
            np.zeros((2, width), np.int64),
            np.zeros(2 * self.max_points + 1, np.int64),
        )


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

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples, without a bias column.
    y : ndarray of shape (n_samples,)
        Classes, -1.0 or +1.0.
    weights : ndarray of int of shape (n_samples,)
        Sample weights, above 0.
    conditions : list of Condition
        The conditions of all features.
    constraints : Constraints
        The constraints on the terms.
    limits : tuple of (int, int)
        The maximum number of terms, and the largest points.
    penalty : float
        The cost of a term, in mean sample weights.

    Returns
    -------
    ScoringProblem
        The problem.
    """
    max_terms, max_points = limits
    allowed = [c for c in conditions if c.feature not in constraints.forbidden]
    _check_required(allowed, constraints)
    values = np.array([c.compute(X) for c in allowed], dtype=np.float64).reshape(len(allowed), len(y))
    offsets = np.array(
        [v.min() if c.cut is None else 0.0 for c, v in zip(allowed, values, strict=True)]
    ).astype(np.int64)
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
    required = np.array(
        [next((r for r, fs in enumerate(constraints.required) if c.feature in fs), -1) for c in allowed],
        np.int64,
    )
    arrays = (merged, merged.max(axis=1, initial=0), gains, lowest, highest, required)
    return ScoringProblem(
        allowed,
        offsets,
        arrays,
        len(constraints.required),
        round(penalty * scale),
        int(weights[y < 0.0].sum()),
        scale,
        min(max_terms, len(allowed)),
        max_points,
        cells,
        single,
    )


def _check_required(conditions: list[Condition], constraints: Constraints) -> None:
    present = {c.feature for c in conditions}
    for name, features in zip(constraints.required_names, constraints.required, strict=True):
        if not present.intersection(features):
            raise ValueError(
                f"'{name}' is required, but it is the same in all training samples: it has no condition"
            )
    if not conditions:
        raise ValueError("all samples are equal: there is no condition that tells one from another")


def _find_different(conditions: list[Condition], levels: np.ndarray, named: frozenset[int]) -> list[int]:
    """Return the conditions that no earlier one replaces: those met by the same samples, or by all others."""
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
    """Return the threshold with the smallest cost, in the middle of the widest range of such thresholds.

    Parameters
    ----------
    problem : ScoringProblem
        The problem.
    terms, points : ndarray of int
        The rule.

    Returns
    -------
    int
        The lowest total of levels times points at which samples are positive.
    """
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
