"""Proofs in exact arithmetic that some rows cannot all be right.

Rows are integers here. A feature whose values lie on a grid up to rounding, as all standardized counts
and codes do, is taken as that grid; any other as the exact value of its floating-point numbers, times a
power of two. Neither changes what a hyperplane can separate.
"""

from __future__ import annotations

import math

import numpy as np

FINEST = 60  # a grid's step is at least the smallest difference divided by this
ROUNDING = 1e-13  # of the range: what standardizing may have left of a grid
LONGEST = 10**8


def convert_to_integers(raw: np.ndarray) -> list[list[int]]:
    """The rows (sign, sign * x) as integers, feature by feature. The first column is the sign."""
    signs = [int(s) for s in np.sign(raw[:, 0])]
    columns = [_integers(raw[:, j] / raw[:, 0]) for j in range(1, raw.shape[1])]
    return [[s, *(s * column[i] for column in columns)] for i, s in enumerate(signs)]


def _integers(values: np.ndarray) -> list[int]:
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) > 1:
        steps = (levels - levels[0]) / np.min(np.diff(levels))
        for parts in range(1, FINEST + 1):
            fine = steps * parts
            if fine[-1] > LONGEST:
                break
            if np.max(np.abs(fine - np.round(fine))) < ROUNDING * (1.0 + fine[-1]):
                return [round(float(fine[p])) for p in place]
    ratios = [float(v).as_integer_ratio() for v in levels]
    common = math.lcm(*(d for _, d in ratios))
    whole = [a * (common // d) for a, d in ratios]
    return [whole[p] for p in place]


def _eliminate(matrix: list[list[int]]) -> tuple[list[list[int]], list[int]]:
    """Echelon form without fractions (Bareiss), and the columns of the pivots."""
    rows = [list(r) for r in matrix]
    pivots, previous, at = [], 1, 0
    for column in range(len(rows[0]) if rows else 0):
        chosen = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if chosen is None:
            continue
        rows[at], rows[chosen] = rows[chosen], rows[at]
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


def compute_exact_rank(rows: list[list[int]]) -> int:
    return len(_eliminate(rows)[1])


def find_farkas_weights(rows: list[list[int]]) -> list[int] | None:
    """Positive integers, one a row, whose mixture of the rows is 0: then no w is right on all of them.

    None unless the rows have one mixture of 0 up to scale, and it is positive.
    """
    count = len(rows)
    echelon, pivots = _eliminate([list(column) for column in zip(*rows, strict=True)])
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
    if any(sum(w * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(len(rows[0]))):
        return None
    divisor = math.gcd(*weights)
    return [w // divisor for w in weights]
