"""Metric `success_bound`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class SuccessBound(Metric):
    """Lower bound of a theorem on the probability that `success_share` measures, in percent."""

    name = "success_bound"
    requires = ("success_bound",)
    direction = None
    decimals = 4
    heading = "bound"
    shows_stderr = False

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * expect(record.success_bound)
