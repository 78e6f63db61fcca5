"""Metric `accuracy`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class Accuracy(Metric):
    """Share of test samples predicted correctly, as scikit-learn's scorer of this name.

    It needs no counts by class, so even the oldest records provide it.
    """

    name = "accuracy"
    requires = ("test_errors",)
    part = "test"
    direction = "higher"
    decimals = 4

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 1.0 - expect(record.test_errors) / sizes.n_test
