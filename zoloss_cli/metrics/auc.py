"""Metric `auc`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.metrics.pooled import PooledMeasurement
from zoloss_cli.metrics.roc import compute_auc


class OutlierAuc(Metric):
    """Area under the ROC curve of outlier scores against wrong labels (Li 2006, Figure 1.12)."""

    name = "auc"
    requires = ("outlier_scores", "flipped")
    source = "measure"
    direction = "higher"
    decimals = 3
    note = "area under the ROC curve: how often a wrong label looks more like an outlier than a right one"

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one draw."""
        return compute_auc(record.outlier_scores, record.is_flipped)
