"""How large a difference is, regardless of the number of splits or data sets: p-values alone do not show it.

On one data set: Cohen's d_z of paired differences (J. Cohen, "Statistical power analysis for the behavioral
sciences", 2nd ed. 1988, section 2.3.5). Across data sets: the matched-pairs rank-biserial correlation, which
belongs to Wilcoxon's test (D. S. Kerby, "The simple difference formula", Comprehensive Psychology 3, 2014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
from scipy import stats

SMALL, MEDIUM, LARGE = 0.2, 0.5, 0.8  # Cohen's words for |d|: lower limits


def compute_paired_d(differences: Sequence[float]) -> float:
    """Return the mean of k >= 2 paired differences, divided by their standard deviation.

    Unlike t, it does not grow with the number of splits, so it needs no correction for overlapping splits.
    Differences that are all equal are infinitely many standard deviations, or none, from zero.
    """
    mean = fmean(differences)
    if max(differences) == min(differences):
        return 0.0 if mean == 0.0 else math.copysign(math.inf, mean)
    return mean / math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (len(differences) - 1))


def compute_rank_biserial(differences: Sequence[float] | np.ndarray) -> float:
    """Return the share of ranks with positive differences minus that with negative ones; zeros are left out."""
    left = np.array([d for d in differences if d != 0.0])
    if left.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(left))
    return float(ranks @ np.sign(left) / ranks.sum())


def name_effect(d: float) -> str:
    """Return Cohen's word for a value of d."""
    size = abs(d)
    return (
        "large" if size >= LARGE else "medium" if size >= MEDIUM else "small" if size >= SMALL else "negligible"
    )
