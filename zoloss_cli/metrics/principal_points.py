"""Metric `principal_points`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.pooled import PooledMeasurement


class PrincipalPoints(Metric):
    """Number of principal points (Li 2006, section 1.4)."""

    name = "principal_points"
    requires = ("principal_points",)
    source = "measure"
    direction = None
    decimals = 1
    heading = "points"

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.principal_points))
