"""Metric `train_01_loss`."""

from __future__ import annotations

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.results.record import FitRecord


class TrainZeroOneLoss(Metric):
    """Number of training errors; a margin of 0 is an error."""

    name = "train_01_loss"
    requires = ("train_errors",)
    part = "train"
    comparison = "match"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(record.train_errors)
