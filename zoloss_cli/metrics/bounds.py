"""Metrics of bounds, proofs and complexity."""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.metrics.base import FieldMetric, Metric, Sizes, require_field
from zoloss_cli.results.record import FitRecord


class LowerBound(FieldMetric):
    """Lower bound on the training errors of any linear rule, as proved by the learner."""

    name = "lower_bound"
    requires = ("lower_bound",)
    direction = None
    comparison = "match"
    heading = "bound"
    note = "bound: no linear rule has fewer errors"
    shows_stderr = False


class JointBound(FieldMetric):
    """Lower bound on the training errors of any linear rule, from all parts of a proof together."""

    name = "joint_bound"
    requires = ("part_bound", "n_parts")
    direction = None
    aggregation = "min"
    comparison = "match"
    heading = "bound of all parts"
    note = "bound of all parts: the minimum over all parts of the directions; no linear rule has fewer errors"
    shows_stderr = False
    is_joint = True

    def explain_missing(self, records: Sequence[FitRecord]) -> str:
        """Return why records cannot provide the metric: while parts are missing, there is no bound."""
        if reason := super().explain_missing(records):
            return reason
        n_parts = max(require_field(record.n_parts) for record in records)
        done = len({record.split % n_parts for record in records})
        return f"only {done:,} of {n_parts:,} parts of the proof are done" if done < n_parts else ""

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return 0 decimals for whole numbers, however many parts there are."""
        return 0 if value == round(value) else 1


class BoundRatio(Metric):
    """Ratio of what was counted to the bound of the theorem."""

    name = "bound_ratio"
    requires = ("counted", "bound")
    direction = None
    decimals = 3
    note = "what was counted over the bound of the theorem, which a ratio above 1 would refute"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return require_field(record.counted) / require_field(record.bound)


class LargestRatio(BoundRatio):
    """Largest ratio, over all splits, of what was counted to the bound of the theorem."""

    name = "largest_ratio"
    aggregation = "max"
    heading = "largest"
    note = ""
    shows_stderr = False


class SuccessBound(FieldMetric):
    """Lower bound of a theorem on the probability that `success_share` measures, in percent."""

    name = "success_bound"
    requires = ("success_bound",)
    scale = 100.0
    direction = None
    decimals = 4
    heading = "bound"
    shows_stderr = False


class SuccessShare(FieldMetric):
    """Share of epochs of RCD that found as few errors as the best weights have, in percent."""

    name = "success_share"
    requires = ("success_share",)
    scale = 100.0
    direction = None
    note = "share of epochs with as few errors as the best weights; a share below the bound would refute it"


class Cones(FieldMetric):
    """Number of cones of directions searched for the last bound, over all splits together."""

    name = "cones"
    requires = ("n_cones",)
    direction = None
    aggregation = "sum"
    decimals = 0
    heading = "cones"
    note = "cones: searched for the last bound, of all splits together"
    shows_stderr = False


class Complexity(FieldMetric):
    """Number of support vectors of the hard-margin SVM (Li 2006, section 1.3.4)."""

    name = "complexity"
    requires = ("complexity",)
    source = "measure"
    direction = None
    decimals = 1
    note = "complexity: support vectors"


class PrincipalPoints(FieldMetric):
    """Number of principal points (Li 2006, section 1.4)."""

    name = "principal_points"
    requires = ("principal_points",)
    source = "measure"
    direction = None
    decimals = 1
    heading = "points"


class PrincipalSubsets(FieldMetric):
    """Number of principal subsets (Li 2006, section 1.4)."""

    name = "principal_subsets"
    requires = ("principal_subsets",)
    source = "measure"
    direction = None
    decimals = 1
    heading = "subsets"
