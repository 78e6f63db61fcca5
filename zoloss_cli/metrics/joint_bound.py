"""Metric `joint_bound`."""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord


class JointBound(Metric):
    """Number of training errors that no linear rule can go below, from all parts of a proof together."""

    name = "joint_bound"
    requires = ("part_bound", "n_parts")
    direction = None
    aggregation = "min"
    comparison = "match"
    heading = "bound of all parts"
    note = (
        "bound of all parts: the least of all parts of the directions, so that no linear rule has fewer errors"
    )
    shows_stderr = False
    is_joint = True

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return expect(record.part_bound)

    def explain_missing(self, records: Sequence[FitRecord]) -> str:
        """Return why records cannot provide the metric: while parts are missing, there is no bound."""
        if reason := super().explain_missing(records):
            return reason
        n_parts = max(expect(record.n_parts) for record in records)
        done = len({record.split % n_parts for record in records})
        return f"only {done:,} of {n_parts:,} parts of the proof are done" if done < n_parts else ""

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return 0 decimals for whole numbers, however many parts there are."""
        return 0 if value == round(value) else 1
