"""Metric `principal_subsets`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.pooled import PooledMeasurement


class PrincipalSubsets(Metric):
    """Number of principal subsets (Li 2006, section 1.4)."""

    name = "principal_subsets"
    requires = ("principal_subsets",)
    source = "measure"
    direction = None
    decimals = 1
    heading = "subsets"

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.principal_subsets))
