"""Metric `complexity`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.pooled import PooledMeasurement


class Complexity(Metric):
    """Number of support vectors of the hard-margin SVM (Li 2006, section 1.3.4)."""

    name = "complexity"
    requires = ("complexity",)
    source = "measure"
    direction = None
    decimals = 1
    note = "complexity: support vectors"

    def compute(self, record: PooledMeasurement, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(expect(record.complexity))
