"""Fill missing values from known ones: the median of numbers, the most frequent level of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Gap:
    """The missing values of a column, among the features made from it.

    Attributes
    ----------
    start, stop : int
        The column's features, without the one that marks missing values.
    rows : ndarray of int
        The samples without a value.
    is_text : bool
        Whether the features are indicators of levels.
    """

    start: int
    stop: int
    rows: np.ndarray
    is_text: bool


def refill(X: np.ndarray, gaps: Sequence[Gap], samples: np.ndarray) -> np.ndarray:
    """Return the features with missing values filled from some samples, usually the training samples.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features; the values in gaps are ignored.
    gaps : sequence of Gap
        Where values are missing.
    samples : ndarray of int
        The samples to learn from.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        A copy if there are gaps. If no sample has a value, it is 0.
    """
    if not gaps:
        return X
    filled = np.array(X)
    for gap in gaps:
        is_known = np.ones(len(X), bool)
        is_known[gap.rows] = False
        known = X[samples[is_known[samples]], gap.start : gap.stop]
        filled[gap.rows, gap.start : gap.stop] = compute_fill(known, gap.is_text)
    return filled


def compute_fill(known: np.ndarray, is_text: bool) -> np.ndarray:
    """Return the features that replace a missing value; among equally frequent levels, the first.

    Examples
    --------
    >>> compute_fill(np.array([[1.0], [5.0], [2.0]]), False)
    array([2.])
    >>> compute_fill(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), True)
    array([0., 1.])
    """
    fill = np.zeros(known.shape[1])
    if not len(known):
        return fill
    if is_text:
        fill[np.argmax(known.sum(axis=0))] = 1.0
    else:
        fill[0] = np.median(known[:, 0])
    return fill
