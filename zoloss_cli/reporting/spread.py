"""How much of a number's spread comes from the data that were drawn, and how much from single runs.

A printed number rests on one draw of its noise or pool. Ours are often means over several, which tell
the two sources apart: a one-way analysis of variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, variance


@dataclass(frozen=True)
class Spread:
    """Variances between draws and of runs within one, as estimated from so many draws and runs."""

    between: float
    within: float
    draws: int
    runs: int

    @property
    def stderr(self) -> float:
        """The standard error of the mean over all runs."""
        return math.sqrt(self.between / self.draws + self.within / self.runs)


def spread_of(groups: list[list[float]]) -> Spread:
    """The spread of values that are grouped by draw.

    Where every draw has one run only, the two cannot be told apart, and all of it counts as between draws.
    """
    runs = sum(len(group) for group in groups)
    within = fmean(variance(g) if len(g) > 1 else 0.0 for g in groups)
    if len(groups) < 2:
        return Spread(0.0, within, 1, runs)
    between = variance([fmean(g) for g in groups]) - within / min(len(g) for g in groups)
    return Spread(max(0.0, between), within, len(groups), runs)
