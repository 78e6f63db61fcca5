"""Rows that hold the same example, and weights that leave an example at exactly 0."""

from __future__ import annotations

import numpy as np


def merge_rows(X, y, phi) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Equal rows as one: (rows y x, weights, signs y, the weight that is lost whatever w is).

    Where both labels occur, the lighter one is always wrong and the heavier one's surplus remains.
    """
    rows, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    net = np.bincount(place, y * phi, len(rows))
    both = np.bincount(place, phi, len(rows))
    kept = np.abs(net) > 1e-12 * both
    signs = np.sign(net[kept])
    lost = float(np.sum(both - np.abs(net)) / 2)
    return rows[kept] * signs[:, None], np.abs(net[kept]), signs, lost


def off_the_rows(X: np.ndarray, w: np.ndarray, rng) -> np.ndarray:
    """w moved so little that no row changes sides, until none is at exactly 0.

    A search does not see rows that were merged away, but at 0 they count as errors for both classes.
    """
    lengths = np.sqrt(np.sum(X**2, axis=1))
    for _ in range(20):
        margins = np.abs(X @ w)
        away = margins > 1e-12 * lengths * np.sqrt(w @ w)
        if np.all(away):
            break
        direction = rng.standard_normal(len(w))
        rates = np.abs(X @ direction)
        moving = away & (rates > 0.0)
        farthest = np.min(margins[moving] / rates[moving]) if np.any(moving) else 1.0
        w = w + 0.5 * farthest * direction
    return w
