"""Metric `error_counts`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class ErrorCounts(Metric):
    """How often the pocket algorithm counted its training errors."""

    name = "error_counts"
    requires = ("error_counts",)
    direction = None
    decimals = 1
    spreads_as_ours = True  # published without an error

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.error_counts))
