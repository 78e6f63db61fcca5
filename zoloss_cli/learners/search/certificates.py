"""Proofs in exact arithmetic that some samples cannot all be classified correctly.

Samples are integers here. A feature whose values lie on a grid up to rounding, as all standardized counts
and codes do, is replaced by that grid; any other by the exact value of its floating-point numbers, times a
power of two. Neither changes what a hyperplane can separate.
"""

from __future__ import annotations

import math

import numpy as np

MAX_STEP_DIVISOR = 60  # the step of a grid is at least the smallest difference divided by this
GRID_TOLERANCE = 1e-13  # of the range: how far standardizing may move values off a grid
MAX_GRID_STEPS = 10**8


def convert_to_integers(raw: np.ndarray) -> list[list[int]]:
    """Return the samples (sign, sign * x) as integers, feature by feature.

    Parameters
    ----------
    raw : ndarray of shape (n_samples, n_features + 1)
        Signed samples; the first column is the sign.

    Returns
    -------
    list of list of int
        The same samples, with each feature scaled and shifted by its own numbers.
    """
    signs = [int(s) for s in np.sign(raw[:, 0])]
    columns = [_scale_to_integers(raw[:, j] / raw[:, 0]) for j in range(1, raw.shape[1])]
    return [[s, *(s * column[i] for column in columns)] for i, s in enumerate(signs)]


def _scale_to_integers(values: np.ndarray) -> list[int]:
    """Return the values of a feature as multiples of their grid step, or exactly as they are."""
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) > 1:
        steps = (levels - levels[0]) / np.min(np.diff(levels))
        for divisor in range(1, MAX_STEP_DIVISOR + 1):
            fine = steps * divisor
            if fine[-1] > MAX_GRID_STEPS:
                break
            if np.max(np.abs(fine - np.round(fine))) < GRID_TOLERANCE * (1.0 + fine[-1]):
                return [round(float(fine[p])) for p in place]
    ratios = [float(v).as_integer_ratio() for v in levels]
    common = math.lcm(*(d for _, d in ratios))
    whole = [a * (common // d) for a, d in ratios]
    return [whole[p] for p in place]


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
