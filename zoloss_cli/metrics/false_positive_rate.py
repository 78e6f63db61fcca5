"""Metric `false_positive_rate`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Sizes, expect
from zoloss_cli.metrics.confusion import TwoClassRate, compute_percentage, count_two_class
from zoloss_cli.results.record import FitRecord


class FalsePositiveRate(TwoClassRate):
    """Share of the negative test samples that are predicted positive, in percent; 0 if there are none."""

    name = "false_positive_rate"
    heading = "FPR"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        tn, fp, _, _ = count_two_class(expect(record.test_confusion))
        return compute_percentage(fp, tn + fp)
