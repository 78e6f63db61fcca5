"""Metric `time_to_bound`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class TimeToBound(Metric):
    """Seconds of fitting until the lower bound was proved."""

    name = "time_to_bound"
    requires = ("time_to_bound",)
    direction = None
    comparison = "ratio"
    heading = "seconds to bound"
    note = "seconds to bound: until it was proved"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.time_to_bound)
