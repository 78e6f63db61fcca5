"""Metric `auc_least_squares`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.metrics.pooled import PooledMeasurement
from zoloss_cli.metrics.roc import compute_auc


class LeastSquaresAuc(Metric):
    """Area under the ROC curve of contributions by least squares (Li 2006, equation 1.12)."""

    name = "auc_least_squares"
    requires = ("least_squares", "flipped")
    source = "measure"
    direction = "higher"
    decimals = 3
    heading = "least squares"

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one draw."""
        return compute_auc(record.least_squares, record.is_flipped)
