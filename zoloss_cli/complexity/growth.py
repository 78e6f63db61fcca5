"""Mean contributions to the complexity, and the categories of samples based on them (Li 2006, section 1.5.3).

Only NumPy is imported here, so that reports can use it without loading the solvers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TYPICAL_THRESHOLD, NOISY_THRESHOLD = 2.0 / 3.0, 1.0  # as in the thesis


def compute_mean_growth(growth: ArrayLike, times: ArrayLike) -> np.ndarray:
    """Return the mean growth of the complexity, by sample or by subset size.

    Parameters
    ----------
    growth : array-like
        Total growth of the complexity.
    times : array-like
        How often it could grow, of the same shape.

    Returns
    -------
    ndarray
        The ratio growth / times, NaN where `times` is 0.
    """
    growth, times = np.asarray(growth), np.asarray(times)
    return np.divide(growth, times, out=np.full(times.shape, np.nan), where=times > 0)


def categorize_contributions(
    contributions: ArrayLike, typical: float = TYPICAL_THRESHOLD, noisy: float = NOISY_THRESHOLD
) -> np.ndarray:
    """Return 'typical' below the first threshold, 'noisy' above the second, and 'critical' between."""
    contributions = np.asarray(contributions)
    return np.where(contributions < typical, "typical", np.where(contributions > noisy, "noisy", "critical"))
