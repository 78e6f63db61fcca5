"""Metric `lower_bound`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class LowerBound(Metric):
    """Number of training errors that no linear rule can go below, as proved by the learner."""

    name = "lower_bound"
    requires = ("lower_bound",)
    direction = None
    comparison = "match"
    heading = "bound"
    note = "bound: no linear rule has fewer errors"
    shows_stderr = False

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.lower_bound)
