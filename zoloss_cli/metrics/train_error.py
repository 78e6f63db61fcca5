"""Metric `train_error`."""

from __future__ import annotations

from zoloss_cli.metrics.base import ErrorRate, Sizes
from zoloss_cli.results.record import FitRecord


class TrainError(ErrorRate):
    """Share of training samples with a margin of at most 0, in percent."""

    name = "train_error"
    requires = ("train_errors",)
    part = "train"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * record.train_errors / sizes.n_train
