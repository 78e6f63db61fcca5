"""Metric `time_to_best`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class TimeToBest(Metric):
    """Seconds of fitting until the result was found."""

    name = "time_to_best"
    requires = ("time_to_best",)
    direction = None
    comparison = "ratio"
    heading = "T0"
    note = "T0: seconds until the result was found"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.time_to_best)
