"""The one place where errors are counted. Every reported loss is recounted here from scores."""

from __future__ import annotations

import numpy as np


def strict_mistakes(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Which examples count as errors in training: y * score <= 0, so a zero margin is an error.

    Li & Lin (2007), eq. (4) and Table I: the 0/1 loss is [rho <= 0].
    """
    return signs * scores <= 0.0


def lenient_mistakes(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Which examples count as errors when a zero margin is right: y * score < 0.

    This is how Nguyen & Sanner (2013) count, by their eq. (10), against their own eq. (4). A plane such as
    "this binary feature is 1" passes through most points of a discrete data set, and all of them are right
    then. It is never what we minimize.
    """
    return signs * scores < 0.0


def predicted_signs(scores: np.ndarray) -> np.ndarray:
    """Predictions as -1 and +1: a score of exactly 0 predicts +1."""
    return np.where(scores >= 0.0, 1.0, -1.0)


def prediction_mistakes(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Which examples are predicted wrongly."""
    return predicted_signs(scores) != signs


def wrong_classes(learner, X: np.ndarray, y: np.ndarray) -> int:
    """How many rows the learner predicts to be of another class."""
    return int(np.sum(learner.predict(X) != y))
