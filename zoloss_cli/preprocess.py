"""Scaling that is fitted on the training rows and applied to both parts."""

from __future__ import annotations

import numpy as np


def scale(train: np.ndarray, test: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Both parts scaled by what the training part shows; a feature that is constant there becomes 0.

    'minmax' maps the training part to [-1, 1] as (x - (hi+lo)/2) / ((hi-lo)/2), a form whose rounding
    the published test errors depend on; test values may leave [-1, 1]. 'standard' gives mean 0 and
    variance 1 (ddof = 1).
    """
    if how == "none":
        return train, test
    if how == "minmax":
        low, high = train.min(axis=0), train.max(axis=0)
        centre, half = (high + low) / 2.0, (high - low) / 2.0
    else:
        centre = train.mean(axis=0)
        half = train.std(axis=0, ddof=1)
        half[train.min(axis=0) == train.max(axis=0)] = 0.0
    constant = half == 0.0
    half = np.where(constant, 1.0, half)
    return tuple(np.where(constant, 0.0, (part - centre) / half) for part in (train, test))
