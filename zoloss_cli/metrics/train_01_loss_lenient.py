"""Metric `train_01_loss_lenient`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.results.record import FitRecord


class LenientTrainZeroOneLoss(Metric):
    """Number of training errors if a margin of 0 is right, as Nguyen & Sanner (2013) count."""

    name = "train_01_loss_lenient"
    # Records without a time predate the count of zero margins.
    requires = ("train_errors", "fit_time")
    part = "train"
    comparison = "match"
    note = "a zero margin counts as right, as the authors count"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        errors = record.train_errors_lenient
        return float(record.train_errors if errors is None else errors)
