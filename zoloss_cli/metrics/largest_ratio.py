"""Metric `largest_ratio`."""

from __future__ import annotations

from zoloss_cli.metrics.bound_ratio import BoundRatio


class LargestRatio(BoundRatio):
    """Largest ratio, over all splits, of what was counted to what the theorem allows."""

    name = "largest_ratio"
    aggregation = "max"
    heading = "largest"
    note = ""
    shows_stderr = False
