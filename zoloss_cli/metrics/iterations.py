"""Metric `iterations`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class Iterations(Metric):
    """Rounds of boosting."""

    name = "iterations"
    requires = ("iterations",)
    direction = None
    decimals, comparison_decimals = 1, 2
    spreads_as_ours = True  # published without an error
    heading = "#ite"
    shows_stderr = False
    collapse_if_constant = True

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.iterations))
