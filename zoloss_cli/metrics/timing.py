"""Metrics of time and iterations."""

from __future__ import annotations

from zoloss_cli.metrics.base import FieldMetric


class FitTime(FieldMetric):
    """Seconds of fitting or of measuring."""

    name = "fit_time"
    requires = ("fit_time",)
    source = "any"
    direction = None  # times of different machines are not comparable
    comparison = "ratio"
    heading = "T1"
    note = "T1: total seconds"


class TimeToBest(FieldMetric):
    """Seconds of fitting until the result was found."""

    name = "time_to_best"
    requires = ("time_to_best",)
    direction = None
    comparison = "ratio"
    heading = "T0"
    note = "T0: seconds until the result was found"


class TimeToBound(FieldMetric):
    """Seconds of fitting until the lower bound was proved."""

    name = "time_to_bound"
    requires = ("time_to_bound",)
    direction = None
    comparison = "ratio"
    heading = "seconds to bound"
    note = "seconds to bound: until it was proved"


class Iterations(FieldMetric):
    """Rounds of boosting."""

    name = "iterations"
    requires = ("iterations",)
    direction = None
    decimals, comparison_decimals = 1, 2
    assumes_own_variance = True  # published without an error
    heading = "#ite"
    shows_stderr = False
    collapse_if_constant = True
