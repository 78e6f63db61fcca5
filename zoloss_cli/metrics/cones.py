"""Metric `cones`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class Cones(Metric):
    """Number of cones of directions searched for the last bound, over all splits together."""

    name = "cones"
    requires = ("n_cones",)
    direction = None
    aggregation = "sum"
    decimals = 0
    heading = "cones"
    note = "cones: searched for the last bound, of all splits together"
    shows_stderr = False

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.n_cones))
