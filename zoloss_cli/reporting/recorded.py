"""What learners recorded during their fits: errors and cost after each epoch or round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zoloss_cli.metrics.base import Sizes
from zoloss_cli.results.record import FitRecord


@dataclass(frozen=True)
class Curves:
    """Errors in percent and costs after each recorded epoch or round, one row per split.

    Attributes
    ----------
    epochs : list of int
        The recorded epochs or rounds.
    values : dict of str to ndarray of shape (n_splits, n_epochs)
        By metric; ``test_error`` only if there are test samples, ``cost`` only for learners that minimize one.
    """

    epochs: list[int]
    values: dict[str, np.ndarray]

    def compute_mean(self, metric: str) -> np.ndarray:
        """Return the mean over splits."""
        return self.values[metric].mean(axis=0)

    def compute_stderr(self, metric: str) -> np.ndarray:
        """Return the standard error of the mean over splits; there is none for one split."""
        values = self.values[metric]
        if len(values) < 2:
            return np.full(values.shape[1], np.nan)
        return values.std(axis=0, ddof=1) / math.sqrt(len(values))


def build_curves(records: Sequence[FitRecord], sizes: Sizes) -> Curves | None:
    """Return what the records hold for each epoch; None if they did not all record the same epochs."""
    epochs = records[0].epochs
    if not epochs or any(record.epochs != epochs for record in records):
        return None
    values = {}
    for metric, name, size in (
        ("train_error", "train_curve", sizes.n_train),
        ("test_error", "test_curve", sizes.n_test),
        ("cost", "cost_curve", 0),
    ):
        recorded = [getattr(record, name) for record in records]
        if all(curve is not None and len(curve) == len(epochs) for curve in recorded):
            curves = np.array(recorded, dtype=float)
            values[metric] = 100.0 * curves / size if size else curves
    return Curves(epochs, values) if values.keys() - {"cost"} else None
