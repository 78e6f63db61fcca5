"""What each metric is: how its numbers are written, and how they are compared with printed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

BY_Z, BY_MATCH, BY_RATIO = "z", "match", "ratio"


@dataclass(frozen=True)
class Metric:
    """`heading` stands over a column of this metric beside a learner's main one; `note` under the table."""

    compared: str
    heading: str = ""
    note: str = ""
    lower_is_better: bool = True  # so that the best cells of a row are marked
    has_error: bool = True  # shown with ± where there are several runs
    one_number_will_do: bool = False  # where it never changes, a note replaces its column
    average: str = "mean"  # over splits; or "geometric", "median", "largest"
    decimals: int = 2


KNOWN = {
    "train_error": Metric(BY_Z),
    "test_error": Metric(BY_Z),
    "train_01_loss": Metric(BY_MATCH),
    "train_01_loss_lenient": Metric(BY_MATCH, note="a zero margin counts as right, as the authors count"),
    # Times of different machines: they are shown, but none is the best.
    "seconds": Metric(BY_RATIO, "T1", "T1: seconds in all", lower_is_better=False),
    "reached": Metric(BY_RATIO, "T0", "T0: seconds until the result was found", lower_is_better=False),
    "lower_bound": Metric(BY_MATCH, "bound", "bound: no linear rule has fewer errors", has_error=False),
    "iterations": Metric(BY_Z, "#ite", has_error=False, one_number_will_do=True),
    "cost": Metric(BY_Z, decimals=4),
    "cost_ratio": Metric(
        BY_Z,
        note="geometric means over splits of two costs' ratio on the same split, with their standard errors",
        lower_is_better=False,
        average="geometric",
        decimals=4,
    ),
    "bound_ratio": Metric(
        BY_Z,
        note="what was counted over what the theorem allows: above 1 it would be refuted",
        lower_is_better=False,
        decimals=3,
    ),
    "largest_ratio": Metric(BY_Z, "largest", has_error=False, average="largest", decimals=3),
    "complexity": Metric(BY_Z, note="complexity: support vectors", lower_is_better=False, decimals=1),
    "principal_points": Metric(BY_Z, "points", lower_is_better=False, decimals=1),
    "principal_subsets": Metric(BY_Z, "subsets", decimals=1),
    "auc": Metric(
        BY_Z,
        note="area under the ROC curve: how often a wrong label looks more like an outlier than a right one",
        lower_is_better=False,
        decimals=3,
    ),
    "auc_least_squares": Metric(BY_Z, "least squares", decimals=3),
    "median_ratio": Metric(BY_Z, "median", has_error=False, average="median", decimals=4),
}

PERCENT_DECIMALS = 2


def decimals_of(metric: str, value: float, runs: int) -> int:
    """How many decimals a number of ours is written with."""
    if KNOWN[metric].compared == BY_RATIO:
        return _significant(value)
    if KNOWN[metric].compared == BY_MATCH:
        return 0 if runs == 1 else 1
    return 1 if metric == "iterations" else KNOWN[metric].decimals


def _significant(seconds: float) -> int:
    """Decimals for two significant digits below a second, three from there on."""
    if seconds <= 0.0 or not math.isfinite(seconds):
        return PERCENT_DECIMALS
    first = math.floor(math.log10(seconds))
    return 1 - first if first < 0 else max(0, 2 - first)
