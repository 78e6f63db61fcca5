"""Metric `cost_ratio`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.results.record import FitRecord


class CostRatio(Metric):
    """Geometric mean of the ratio of two learners' costs on the same split (Li 2006, Table 3.1)."""

    name = "cost_ratio"
    requires = ("cost",)
    ratio_of = "cost"
    direction = None
    aggregation = "geometric"
    decimals = 4
    note = "geometric means over splits of two costs' ratio on the same split, with their standard errors"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("a ratio is of two learners' records")
