"""Published numbers that no single record provides: improvements between columns, and counts of data sets."""

from __future__ import annotations

from typing import Any

from zoloss_cli.metrics.base import Metric, Sizes
from zoloss_cli.registry import load_metric


class ImprovementPercent(Metric):
    """By how many percent the best of some columns is below the best of others."""

    name = "percent"
    direction = "higher"
    comparison = "match"
    decimals = published_decimals = 1
    heading = "%"

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("an improvement is of two learners' records")

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show."""
        return self.decimals


class DataCount(Metric):
    """Base class of what a table says about its data sets; `exact_if_constant`, since nothing is random."""

    direction = None
    decimals = published_decimals = 0
    exact_if_constant = True

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("a count of a data set is of no record")

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show."""
        return self.decimals


class SampleCount(DataCount):
    """Samples of a data set."""

    name = heading = "samples"


class TrainingSampleCount(DataCount):
    """Training samples of a data set; all samples if it has no predefined test part."""

    name = "training_samples"
    heading = "training samples"


class TestSampleCount(DataCount):
    """Test samples of a data set with a predefined test part."""

    __test__ = False  # not a test class, despite its name
    name = "test_samples"
    heading = "test samples"


class FeatureCount(DataCount):
    """Features of a data set."""

    name = heading = "features"


class ClassCount(DataCount):
    """Classes of a data set."""

    name = heading = "classes"


DERIVED: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        ImprovementPercent(),
        SampleCount(),
        TrainingSampleCount(),
        TestSampleCount(),
        FeatureCount(),
        ClassCount(),
    )
}


def load_compared_metric(name: str) -> Metric:
    """Return a metric of records, or one of those above."""
    return DERIVED.get(name) or load_metric(name)
