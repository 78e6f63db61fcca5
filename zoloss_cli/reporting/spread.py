"""How much of a number's spread comes from the drawn data, and how much from single splits.

A published number rests on one draw of its noise or pool. Ours are often means over several, which separate the
two sources: a one-way analysis of variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True)
class Spread:
    """Variances between draws and of splits within one.

    Attributes
    ----------
    between, within : float
        The two variances.
    n_draws, n_values : int
        Number of draws and values that they are estimated from.
    """

    between: float
    within: float
    n_draws: int
    n_values: int

    @property
    def stderr(self) -> float:
        """Return the standard error of the mean over all values."""
        return math.sqrt(self.between / self.n_draws + self.within / self.n_values)


def compute_spread(groups: list[list[float]]) -> Spread:
    """Return the spread of values grouped by draw.

    If every draw has only one value, the two cannot be distinguished, and everything counts as between draws.
    """
    n_values = sum(len(group) for group in groups)
    within = fmean(_compute_variance(group) for group in groups)
    if len(groups) < 2:
        return Spread(0.0, within, 1, n_values)
    between = _compute_variance([fmean(g) for g in groups]) - within / min(len(g) for g in groups)
    return Spread(max(0.0, between), within, len(groups), n_values)


def _compute_variance(values: list[float]) -> float:
    # statistics.variance computes in fractions, which takes longer than reading the results.
    mean, n = fmean(values), len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (n - 1) if n > 1 else 0.0
