"""Scaling that is fitted to some samples, usually the training samples, and applied to others."""

from __future__ import annotations

import numpy as np

from zoloss_cli.errors import DataError


def scale_parts(
    train: np.ndarray, test: np.ndarray, how: str, fit_on: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scale the training and the test part by statistics of the training part.

    Parameters
    ----------
    train, test : ndarray
        The samples of both parts.
    how : {'minmax', 'standard', 'none'}
        See Notes.
    fit_on : ndarray or None
        The samples to fit the scaling to, if not the training part.

    Returns
    -------
    train : ndarray
        The scaled training samples.
    test : ndarray
        The scaled test samples; a feature that is constant in the fitted samples becomes 0.

    Notes
    -----
    'minmax' maps the samples to [-1, 1] as (x - (hi+lo)/2) / ((hi-lo)/2), a form on whose rounding the
    published test errors depend; test values may leave [-1, 1]. 'standard' gives mean 0 and variance 1 (ddof =
    1).
    """
    if how == "none":
        return train, test
    centre, spread = compute_scaling(train if fit_on is None else fit_on, how)
    return apply_scaling(train, centre, spread), apply_scaling(test, centre, spread)


def apply_scaling(X: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the samples minus the centre, divided by the spread; 0 where the spread is 0."""
    constant = spread == 0.0
    return np.where(constant, 0.0, (X - centre) / np.where(constant, 1.0, spread))


def compute_scaling(X: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre and the spread of each feature; a spread of 0 marks a constant feature."""
    if how == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    low, high = X.min(axis=0), X.max(axis=0)
    if how == "minmax":
        centre, half = (high + low) / 2.0, (high - low) / 2.0
    else:
        centre, half = X.mean(axis=0), X.std(axis=0, ddof=1)
    return centre, np.where(low == high, 0.0, half)


def compute_finite_scaling(
    X: np.ndarray, how: str, features: list[str], where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Do the same as `compute_scaling`; a DataError names a feature whose values are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = compute_scaling(X, how)
    is_infinite = ~(np.isfinite(centre) & np.isfinite(spread))
    if np.any(is_infinite):
        name = features[int(np.flatnonzero(is_infinite)[0])]
        raise DataError(f"{where}: the values of '{name}' are too large to be scaled; use smaller units")
    return centre, spread
