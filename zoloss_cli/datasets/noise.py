"""Noise: Nguyen & Sanner's (2013, section 6), extra rows spread over twice the data's range; wrong labels."""

from __future__ import annotations

import numpy as np

STREAM, FLIPS = 0x6E6F697365, 0x666C6970  # keep noise apart from a pool of the same seed


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


def flip_labels(
    y: np.ndarray, classes: int, share: float, last: bool, seed: int, draw: int
) -> tuple[np.ndarray, np.ndarray]:
    """(labels, rows) where floor(share * N) rows, random ones or the last, have any other class."""
    rng = np.random.default_rng([seed, FLIPS, draw])
    order, count = rng.permutation(len(y)), int(share * len(y))
    rows = np.arange(len(y) - count, len(y)) if last else np.sort(order[:count])
    wrong = y.copy()
    wrong[rows] = (y[rows] + rng.integers(1, classes, rows.size)) % classes
    return wrong, rows
