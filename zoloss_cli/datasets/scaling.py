"""Scaling that is fitted on some rows, mostly the training rows, and applied to others."""

from __future__ import annotations

import numpy as np

from zoloss_cli.errors import DataError


def scale_parts(
    train: np.ndarray, test: np.ndarray, how: str, fit_on: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Both parts scaled by what the training part shows, or the rows `fit_on`; what is constant there is 0.

    'minmax' maps the rows to [-1, 1] as (x - (hi+lo)/2) / ((hi-lo)/2), a form whose rounding
    the published test errors depend on; test values may leave [-1, 1]. 'standard' gives mean 0 and
    variance 1 (ddof = 1).
    """
    if how == "none":
        return train, test
    by = compute_scaling(train if fit_on is None else fit_on, how)
    return apply_scaling(train, *by), apply_scaling(test, *by)


def apply_scaling(X: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The rows reduced by the centre and divided by the spread; 0 where that is 0."""
    constant = spread == 0.0
    return np.where(constant, 0.0, (X - centre) / np.where(constant, 1.0, spread))


def compute_scaling(seen: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """What each feature is reduced by and divided by; a spread of 0 marks a constant feature."""
    if how == "none":
        return np.zeros(seen.shape[1]), np.ones(seen.shape[1])
    low, high = seen.min(axis=0), seen.max(axis=0)
    if how == "minmax":
        centre, half = (high + low) / 2.0, (high - low) / 2.0
    else:
        centre, half = seen.mean(axis=0), seen.std(axis=0, ddof=1)
    return centre, np.where(low == high, 0.0, half)


def compute_finite_scaling(
    seen: np.ndarray, how: str, features: list[str], where: str
) -> tuple[np.ndarray, np.ndarray]:
    """As `compute_scaling`, where both are numbers; values beyond that are the user's to mend."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = compute_scaling(seen, how)
    wild = ~(np.isfinite(centre) & np.isfinite(spread))
    if np.any(wild):
        name = features[int(np.flatnonzero(wild)[0])]
        raise DataError(f"{where}: the values of '{name}' are too large to be scaled; use smaller units")
    return centre, spread
