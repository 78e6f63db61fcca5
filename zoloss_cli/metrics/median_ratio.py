"""Metric `median_ratio`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.results.record import FitRecord


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
