"""Metrics of scores, such as areas under ROC curves, and ratios of costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

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

    measured: ClassVar[tuple[str, ...]] = ("growth", "scores")  # fields of measurements with the scores
    scores_name: ClassVar[str] = "outlier scores"

    def explain_missing(self, records: Sequence[PooledMeasurement]) -> str:
        """Return why records cannot provide the metric; empty if all can."""
        for record in records:
            if not (isinstance(record, PooledMeasurement) and any(map(record.holds, self.measured))):
                return f"its records hold no {self.scores_name}"
            if not record.flipped:
                return "its records hold no wrong labels"
        return ""

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one draw."""
        return compute_auc(require_field(getattr(record, self.requires[0])), record.is_flipped)


class LeastSquaresAuc(OutlierAuc):
    """Area under the ROC curve of contributions by least squares (Li 2006, equation 1.12)."""

    name = "auc_least_squares"
    requires = ("least_squares", "flipped")
    heading = "least squares"
    note = ""
    measured = ("least_squares",)
    scores_name = "contributions by least squares"


def compute_roc_curve(scores: ArrayLike, is_noisy: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return false positive and false negative rates for decreasing thresholds, from above all scores.

    Samples that score at least the threshold are classified as noisy; ties are classified together.
    """
    scores, is_noisy = _validate(scores, is_noisy)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.concatenate([[0], np.cumsum(is_noisy[order])[ends]])
    called = np.concatenate([[0], ends + 1])
    return (called - hits) / np.sum(~is_noisy), 1.0 - hits / np.sum(is_noisy)


def compute_auc(scores: ArrayLike, is_noisy: ArrayLike) -> float:
    """Return the probability that a noisy sample scores higher than a noiseless one; ties count one half."""
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
    aggregation: ClassVar[Literal["geometric", "median"]] = "geometric"
    decimals = 4
    note = "geometric means over splits of two costs' ratio on the same split, with their standard errors"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Raise TypeError: there is no ratio of one record."""
        raise TypeError("a ratio is of two learners' records")


class MedianRatio(CostRatio):
    """Median of the ratio of two learners' costs on the same split."""

    name = "median_ratio"
    aggregation = "median"
    heading = "median"
    note = ""
    shows_stderr = False
