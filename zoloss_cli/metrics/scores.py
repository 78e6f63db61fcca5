"""Metrics of scores, such as areas under ROC curves, and ratios of costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.errors import ConfigError
from zoloss_cli.metrics.base import Metric, PooledMeasurement, Sizes, require_field
from zoloss_cli.results.record import FitRecord


class OutlierAuc(Metric):
    """Area under the ROC curve of outlier scores against wrong labels (Li 2006, Figure 1.12)."""

    name = "auc"
    requires = ("outlier_scores", "flipped")
    source = "measure"
    direction = "higher"
    decimals = 3
    note = "area under the ROC curve: how often a wrong label looks more like an outlier than a right one"

    def explain_missing(self, records: Sequence[PooledMeasurement]) -> str:
        """Return why records cannot provide the metric; empty if all can."""
        for record in records:
            measured = isinstance(record, PooledMeasurement)
            if not measured or not (record.holds("growth") or record.holds("scores")):
                return "its records hold no outlier scores"
            if not record.flipped:
                return "its records know of no wrong labels"
        return ""

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one draw."""
        return compute_auc(require_field(record.outlier_scores), record.is_flipped)


class LeastSquaresAuc(Metric):
    """Area under the ROC curve of contributions by least squares (Li 2006, equation 1.12)."""

    name = "auc_least_squares"
    requires = ("least_squares", "flipped")
    source = "measure"
    direction = "higher"
    decimals = 3
    heading = "least squares"

    def explain_missing(self, records: Sequence[PooledMeasurement]) -> str:
        """Return why records cannot provide the metric; empty if all can."""
        for record in records:
            if not (isinstance(record, PooledMeasurement) and record.holds("least_squares")):
                return "its records hold no contributions by least squares"
            if not record.flipped:
                return "its records know of no wrong labels"
        return ""

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one draw."""
        return compute_auc(require_field(record.least_squares), record.is_flipped)


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


class RocAuc(Metric):
    """Area under the ROC curve of a learner's scores on test samples; ties count one half.

    Scores are stored only if the config sets ``keep: scores``. It is 1/2 if one class has no test sample.
    """

    name = "roc_auc"
    requires = ("test_scores",)
    part = "test"
    direction = "higher"
    decimals = 3
    heading = "AUC"
    n_classes = 2

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        negative, positive = require_field(record.test_scores)
        if not (negative and positive):
            return 0.5
        labels = np.repeat([False, True], [len(negative), len(positive)])
        return compute_auc(np.array([*negative, *positive]), labels)


class CostRatio(Metric):
    """Geometric mean of the ratio of two learners' costs on the same split (Li 2006, Table 3.1)."""

    name = "cost_ratio"
    requires = ("cost",)
    ratio_of = "cost"
    direction = None
    aggregation = "geometric"
    decimals = 4
    note = "geometric means over splits of two costs' ratio on the same split, with their standard errors"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("a ratio is of two learners' records")


class MedianRatio(Metric):
    """Median of the ratio of two learners' costs on the same split."""

    name = "median_ratio"
    requires = ("cost",)
    ratio_of = "cost"
    direction = None
    aggregation = "median"
    decimals = 4
    heading = "median"
    shows_stderr = False

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("a ratio is of two learners' records")
