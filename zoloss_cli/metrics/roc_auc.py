"""Metric `roc_auc`."""

from __future__ import annotations

import numpy as np

from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.metrics.roc import compute_auc
from zoloss_cli.results.record import FitRecord


class RocAuc(Metric):
    """Area under the ROC curve of a learner's scores on test samples; ties count one half.

    Scores are stored only if the config sets ``keep: scores``. It is 1/2 if one class has no test sample.
    """

    name = "roc_auc"
    requires = ("test_scores",)
    part = "test"
    direction = "higher"
    decimals = 3
    heading = "AUC"
    n_classes = 2

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record."""
        negative, positive = expect(record.test_scores)
        if not (negative and positive):
            return 0.5
        labels = np.repeat([False, True], [len(negative), len(positive)])
        return compute_auc(np.array([*negative, *positive]), labels)
