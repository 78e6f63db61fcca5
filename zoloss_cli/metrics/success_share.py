"""Metric `success_share`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class SuccessShare(Metric):
    """Share of epochs of RCD that found as few errors as the best weights have, in percent."""

    name = "success_share"
    requires = ("success_share",)
    direction = None
    note = "share of epochs with as few errors as the best weights: below the bound it would be refuted"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * expect(record.success_share)
