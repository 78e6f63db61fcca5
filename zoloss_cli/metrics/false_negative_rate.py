"""Metric `false_negative_rate`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Sizes, expect
from zoloss_cli.metrics.confusion import TwoClassRate, compute_percentage, count_two_class
from zoloss_cli.results.record import FitRecord


class FalseNegativeRate(TwoClassRate):
    """Share of the positive test samples that are predicted negative, in percent; 0 if there are none."""

    name = "false_negative_rate"
    heading = "FNR"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        _, _, fn, tp = count_two_class(expect(record.test_confusion))
        return compute_percentage(fn, fn + tp)
