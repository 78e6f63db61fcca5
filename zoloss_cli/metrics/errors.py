"""Metrics of errors: shares and counts, on training and test samples and for each class."""

from __future__ import annotations

from zoloss_cli.metrics.base import ErrorRate, FieldMetric, Metric, Sizes, require_field
from zoloss_cli.results.record import Confusion, FitRecord


class TestError(ErrorRate):
    """Share of misclassified test samples, in percent."""

    name = "test_error"
    requires = ("test_errors",)
    part = "test"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * require_field(record.test_errors) / sizes.n_test


class TrainError(ErrorRate):
    """Share of training samples with a margin of at most 0, in percent."""

    name = "train_error"
    requires = ("train_errors",)
    part = "train"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 100.0 * record.train_errors / sizes.n_train


class TrainZeroOneLoss(FieldMetric):
    """Number of training errors; a margin of 0 is an error."""

    name = "train_01_loss"
    requires = ("train_errors",)
    part = "train"
    comparison = "match"


class LenientTrainZeroOneLoss(Metric):
    """Number of training errors if a margin of 0 counts as correct, as in Nguyen & Sanner (2013)."""

    name = "train_01_loss_lenient"
    # Records without a time predate the count of zero margins.
    requires = ("train_errors", "fit_time")
    part = "train"
    comparison = "match"
    note = "a margin of 0 counts as correct, as in the paper"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        errors = record.train_errors_lenient
        return float(record.train_errors if errors is None else errors)


class Accuracy(Metric):
    """Share of test samples predicted correctly, as scikit-learn's scorer of this name.

    It needs no counts by class, so that even the oldest records provide it.
    """

    name = "accuracy"
    requires = ("test_errors",)
    part = "test"
    direction = "higher"
    decimals = 4

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        return 1.0 - require_field(record.test_errors) / sizes.n_test


class BalancedError(ErrorRate):
    """Mean over classes of the share of misclassified test samples, in percent."""

    name = "balanced_error"
    requires = ("test_confusion",)
    part = "test"
    heading = "balanced"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        shares = [
            1.0 - row[k] / sum(row) for k, row in enumerate(require_field(record.test_confusion)) if sum(row)
        ]
        return 100.0 * sum(shares) / len(shares)


class TwoClassRate(ErrorRate):
    """Base class of metrics on test samples of two classes; the last class is positive."""

    requires = ("test_confusion",)
    part = "test"
    n_classes = 2


def count_two_class(confusion: Confusion) -> tuple[int, int, int, int]:
    """Return true negatives, false positives, false negatives and true positives."""
    (tn, fp), (fn, tp) = confusion
    return tn, fp, fn, tp


def compute_percentage(count: int, total: int) -> float:
    """Return a share in percent; 0 if there are no samples."""
    return 100.0 * count / total if total else 0.0


class ErrorCounts(FieldMetric):
    """How often the pocket algorithm counted its training errors."""

    name = "error_counts"
    requires = ("error_counts",)
    direction = None
    decimals = 1
    assumes_own_variance = True  # published without an error


class F1(TwoClassRate):
    """Harmonic mean of precision and recall of the positive class on test samples, in percent.

    It is 0 if no sample is positive and none is predicted to be, as in scikit-learn.
    """

    name = "f1"
    direction = "higher"
    heading = "F1"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        _, fp, fn, tp = count_two_class(require_field(record.test_confusion))
        return compute_percentage(2 * tp, 2 * tp + fp + fn)


class FalseNegativeRate(TwoClassRate):
    """Share of the positive test samples that are predicted negative, in percent; 0 if there are none."""

    name = "false_negative_rate"
    heading = "FNR"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        _, _, fn, tp = count_two_class(require_field(record.test_confusion))
        return compute_percentage(fn, fn + tp)


class FalsePositiveRate(TwoClassRate):
    """Share of the negative test samples that are predicted positive, in percent; 0 if there are none."""

    name = "false_positive_rate"
    heading = "FPR"

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        tn, fp, _, _ = count_two_class(require_field(record.test_confusion))
        return compute_percentage(fp, tn + fp)


class Cost(FieldMetric):
    """Value of the cost that boosting minimizes."""

    name = "cost"
    requires = ("cost",)
    decimals = 4
