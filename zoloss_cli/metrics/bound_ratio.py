"""Metric `bound_ratio`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class BoundRatio(Metric):
    """What was counted over what the theorem allows."""

    name = "bound_ratio"
    requires = ("counted", "bound")
    direction = None
    decimals = 3
    note = "what was counted over what the theorem allows: above 1 it would be refuted"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.counted) / expect(record.bound)
