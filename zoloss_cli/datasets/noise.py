"""Nguyen & Sanner's noise (2013, section 6): extra rows spread over twice the range of the data."""

from __future__ import annotations

import numpy as np

STREAM = 0x6E6F697365  # keeps noise apart from a pool of the same seed


def add_noise(X, y, classes: int, fraction: float, one_class: int | None, seed: int, draw: int = 0):
    """Append floor(fraction * N) rows, uniform in [min - (max-min)/2, max + (max-min)/2] of each feature.

    All get the class `one_class`, or each any class, equally likely. The paper says the former; its Table 2
    fits the latter. Each `draw` of a seed is another one, and draw 0 does not depend on how many there are.
    """
    rng = np.random.default_rng([seed, STREAM, draw] if draw else [seed, STREAM])
    extra = int(fraction * X.shape[0])
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * (high - low)
    rows = rng.uniform(low - half, high + half, (extra, X.shape[1]))
    new = rng.integers(0, classes, extra) if one_class is None else np.full(extra, one_class)
    return np.vstack([X, rows]), np.concatenate([y, new])
