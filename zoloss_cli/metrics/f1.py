"""Metric `f1`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Sizes, expect
from zoloss_cli.metrics.confusion import TwoClassRate, compute_percentage, count_two_class
from zoloss_cli.results.record import FitRecord


class F1(TwoClassRate):
    """Harmonic mean of precision and recall of the positive class on test samples, in percent.

    It is 0 if no sample is positive and none is predicted to be, as in scikit-learn.
    """

    name = "f1"
    direction = "higher"
    heading = "F1"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        _, fp, fn, tp = count_two_class(expect(record.test_confusion))
        return compute_percentage(2 * tp, 2 * tp + fp + fn)
