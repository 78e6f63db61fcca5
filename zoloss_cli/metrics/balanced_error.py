"""Metric `balanced_error`."""

from __future__ import annotations

from zoloss_cli.metrics.base import ErrorRate, Sizes, expect
from zoloss_cli.results.record import FitRecord


class BalancedError(ErrorRate):
    """Mean over classes of the share of test samples predicted wrongly, in percent."""

    name = "balanced_error"
    requires = ("test_confusion",)
    part = "test"
    heading = "balanced"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        shares = [1.0 - row[k] / sum(row) for k, row in enumerate(expect(record.test_confusion)) if sum(row)]
        return 100.0 * sum(shares) / len(shares)
