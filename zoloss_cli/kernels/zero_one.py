"""The 0/1 loss: every reported loss is recounted here from scores."""

from __future__ import annotations

import numpy as np


def find_strict_errors(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return which samples are errors in training: y * score <= 0, so that a zero margin is an error.

    `scores` has samples along its last axis, and `signs` holds their labels as -1 and +1.

    Li & Lin (2007), eq. (4) and Table I: the 0/1 loss is [rho <= 0].
    """
    return signs * scores <= 0.0


def find_lenient_errors(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return which samples are errors if a zero margin counts as correct: y * score < 0.

    Nguyen & Sanner (2013) count like this in their eq. (10), contrary to their own eq. (4). A hyperplane such
    as "this binary feature is 1" passes through most samples of a discrete data set, all of which then count
    as correct. No learner minimizes this.
    """
    return signs * scores < 0.0


def predict_signs(scores: np.ndarray) -> np.ndarray:
    """Return predictions as -1 and +1: a score of exactly 0 predicts +1."""
    return np.where(scores >= 0.0, 1.0, -1.0)


def find_prediction_errors(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return which samples are test errors: those whose predicted sign differs from their label."""
    return predict_signs(scores) != signs
