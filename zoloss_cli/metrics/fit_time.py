"""Metric `fit_time`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from zoloss_cli.metrics.pooled import PooledMeasurement


class FitTime(Metric):
    """Seconds of fitting or of measuring."""

    name = "fit_time"
    requires = ("fit_time",)
    source = "any"
    direction = None  # times from different machines are shown, but none is best
    comparison = "ratio"
    heading = "T1"
    note = "T1: seconds in all"

    def compute(self, record: FitRecord | PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(record.fit_time or 0.0)
