"""Metric `test_error`."""

from __future__ import annotations

from zoloss_cli.metrics.base import ErrorRate, Sizes, expect
from zoloss_cli.results.record import FitRecord


class TestError(ErrorRate):
    """Share of test samples that are predicted wrongly, in percent."""

    name = "test_error"
    requires = ("test_errors",)
    part = "test"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * expect(record.test_errors) / sizes.n_test
