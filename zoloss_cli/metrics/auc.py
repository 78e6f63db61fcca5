"""Metric `auc`."""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.pooled import PooledMeasurement


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
        from zoloss_cli.metrics.roc import compute_auc

        return compute_auc(expect(record.outlier_scores), record.is_flipped)
