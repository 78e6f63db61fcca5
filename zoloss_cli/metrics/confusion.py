"""Rates from two-class confusion counts, shared by the metrics based on them."""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.metrics.base import ErrorRate
from zoloss_cli.results.record import Confusion, FitRecord

NO_SAMPLES = 0.0


class TwoClassRate(ErrorRate):
    """Base class of metrics on test samples of two classes; the last class is positive."""

    requires = ("test_confusion",)
    part = "test"
    n_classes = 2

    def explain_missing(self, records: Sequence[FitRecord]) -> str:
        """Return why records cannot provide the metric; empty if all can."""
        reason = super().explain_missing(records)
        return reason or ("" if len(records[0].test_confusion or ()) == 2 else "it is for two classes")


def count_two_class(confusion: Confusion) -> tuple[int, int, int, int]:
    """Return true negatives, false positives, false negatives and true positives."""
    (tn, fp), (fn, tp) = confusion
    return tn, fp, fn, tp


def compute_percentage(count: int, total: int) -> float:
    """Return a share in percent; 0 if there are no samples."""
    return 100.0 * count / total if total else NO_SAMPLES
