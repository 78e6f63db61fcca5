"""ROC curves: how well scores separate samples with wrong labels from the others (Li 2006, Figure 1.12)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.errors import ConfigError


def compute_roc_curve(scores: ArrayLike, is_noisy: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the error rates of calling samples noisy if they score at least a threshold, for each threshold.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The larger the score, the more a sample looks noisy.
    is_noisy : array-like of bool of shape (n_samples,)
        Which samples are noisy.

    Returns
    -------
    false_positive_rates : ndarray of shape (n_thresholds + 1,)
        As the threshold falls from above all scores to the lowest one. Samples with equal scores are
        called noisy together.
    false_negative_rates : ndarray of shape (n_thresholds + 1,)
        At the same thresholds.
    """
    scores, is_noisy = _validate(scores, is_noisy)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.concatenate([[0], np.cumsum(is_noisy[order])[ends]])
    called = np.concatenate([[0], ends + 1])
    return (called - hits) / np.sum(~is_noisy), 1.0 - hits / np.sum(is_noisy)


def compute_auc(scores: ArrayLike, is_noisy: ArrayLike) -> float:
    """Return the area under the ROC curve.

    It is the probability that a noisy sample scores higher than a noiseless one; ties count half.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The larger the score, the more a sample looks noisy.
    is_noisy : array-like of bool of shape (n_samples,)
        Which samples are noisy.

    Returns
    -------
    float
        Between 0 and 1; 0.5 is chance.
    """
    false_positive, false_negative = compute_roc_curve(scores, is_noisy)
    true_positive = 1.0 - false_negative
    return float(np.sum(np.diff(false_positive) * (true_positive[1:] + true_positive[:-1]) / 2.0))


def _validate(scores: ArrayLike, is_noisy: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    scores, is_noisy = np.asarray(scores, dtype=np.float64), np.asarray(is_noisy, dtype=bool)
    if scores.shape != is_noisy.shape or scores.ndim != 1 or np.any(np.isnan(scores)):
        raise ConfigError("scores and is_noisy must have the same length, and no score may be NaN")
    if np.all(is_noisy) or not np.any(is_noisy):
        raise ConfigError("a ROC curve needs both noisy and noiseless samples")
    return scores, is_noisy
