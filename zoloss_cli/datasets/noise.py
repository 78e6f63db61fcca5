"""Noise: samples over twice the range of the data (Nguyen & Sanner 2013, section 6), and flipped labels."""

from __future__ import annotations

import numpy as np

NOISE_STREAM, FLIP_STREAM = 0x6E6F697365, 0x666C6970  # separate noise from a pool with the same seed


def add_noise(
    X: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    fraction: float,
    one_class: int | None,
    seed: int,
    draw: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Append floor(fraction * N) samples, uniform in [min - (max-min)/2, max + (max-min)/2] of each feature.

    Parameters
    ----------
    X, y : ndarray
        The samples and their class indices.
    n_classes : int
        The number of classes.
    fraction : float
        The number of samples to add, as a share of N.
    one_class : int or None
        The class of all of them, or None for random, equally likely classes.
    seed, draw : int
        Draws of a seed differ, and draw 0 does not depend on how many there are.

    Returns
    -------
    X : ndarray
        The samples, with the added ones last.
    y : ndarray
        Their class indices.

    Notes
    -----
    The paper says that all noise has one class, but its Table 2 fits random classes.
    """
    rng = np.random.default_rng([seed, NOISE_STREAM, draw] if draw else [seed, NOISE_STREAM])
    extra = int(fraction * X.shape[0])
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * (high - low)
    samples = rng.uniform(low - half, high + half, (extra, X.shape[1]))
    labels = rng.integers(0, n_classes, extra) if one_class is None else np.full(extra, one_class)
    return np.vstack([X, samples]), np.concatenate([y, labels])


def flip_labels(
    y: np.ndarray, n_classes: int, share: float, is_last: bool, seed: int, draw: int
) -> tuple[np.ndarray, np.ndarray]:
    """Give floor(share * N) samples another class at random.

    Parameters
    ----------
    y : ndarray
        The class indices.
    n_classes : int
        The number of classes.
    share : float
        The number of samples to change, as a share of N.
    is_last : bool
        Whether to change the last samples instead of random ones.
    seed, draw : int
        The source of all random choices.

    Returns
    -------
    y : ndarray
        The class indices after the change.
    flipped : ndarray
        The changed samples, in order.
    """
    rng = np.random.default_rng([seed, FLIP_STREAM, draw])
    order, count = rng.permutation(len(y)), int(share * len(y))
    flipped = np.arange(len(y) - count, len(y)) if is_last else np.sort(order[:count])
    wrong = y.copy()
    wrong[flipped] = (y[flipped] + rng.integers(1, n_classes, flipped.size)) % n_classes
    return wrong, flipped
