"""Metrics of time and iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoloss_cli.metrics.base import Metric, Sizes, require_field
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from zoloss_cli.metrics.base import PooledMeasurement


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
        return require_field(record.time_to_best)


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
        return require_field(record.time_to_bound)


class Iterations(Metric):
    """Rounds of boosting."""

    name = "iterations"
    requires = ("iterations",)
    direction = None
    decimals, comparison_decimals = 1, 2
    assumes_own_variance = True  # published without an error
    heading = "#ite"
    shows_stderr = False
    collapse_if_constant = True

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(require_field(record.iterations))
