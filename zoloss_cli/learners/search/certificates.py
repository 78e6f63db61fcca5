"""Proofs in exact arithmetic that some samples, given as integers, cannot all be classified correctly."""

from __future__ import annotations

import math


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


def compute_exact_rank(samples: list[list[int]]) -> int:
    """Return the rank of samples of integers."""
    return len(_eliminate(samples)[1])


def find_independent_columns(samples: list[list[int]]) -> list[int]:
    """Return the columns of samples of integers that do not depend on earlier columns."""
    return _eliminate(samples)[1]


def find_farkas_weights(samples: list[list[int]]) -> list[int] | None:
    """Find positive integer weights with which the samples sum to 0: then no w is right on all of them.

    Parameters
    ----------
    samples : list of list of int
        Signed samples.

    Returns
    -------
    list of int or None
        One weight per sample; None unless the samples have a unique such sum up to scale, with positive
        weights.
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
