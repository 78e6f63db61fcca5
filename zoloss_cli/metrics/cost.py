"""Metric `cost`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class Cost(Metric):
    """Value of the cost that boosting minimizes."""

    name = "cost"
    requires = ("cost",)
    decimals = 4

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.cost)
