"""Nguyen & Sanner's noise (2013, section 4): extra rows spread over twice the range of the data."""

from __future__ import annotations

import numpy as np


def add_noise(X, y, classes: int, fraction: float, labels: str, seed: int):
    """Append floor(fraction * N) rows, uniform in [min - (max-min)/2, max + (max-min)/2] of each feature.

    `labels` is 'random' (each class equally likely) or 'one-class' (all get the class of the data's
    first row). The paper says the latter; its Table 2 fits the former.
    """
    rng = np.random.default_rng([seed, 0x6E6F697365])
    extra = int(fraction * X.shape[0])
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * (high - low)
    rows = rng.uniform(low - half, high + half, (extra, X.shape[1]))
    new = rng.integers(0, classes, extra) if labels == "random" else np.full(extra, y[0])
    return np.vstack([X, rows]), np.concatenate([y, new])
