"""Metric `auc_least_squares`."""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.pooled import PooledMeasurement


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
        from zoloss_cli.metrics.roc import compute_auc

        return compute_auc(expect(record.least_squares), record.is_flipped)
