"""Problems that several tests share."""

from __future__ import annotations

import numpy as np

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.datasets import load
from zoloss_cli.preprocess import scale


def whole(name):
    """A data set as Nguyen & Sanner (2013) use it: mean 0 and variance 1 over all rows."""
    data = load(EmbeddedData(name=name, dataset=name, positive="1" if name == "cmc" else None))
    return scale(data.X, data.X[:2], "standard")[0], data.y


def signed(X, y):
    rows, signs = np.column_stack([np.ones(len(y)), X]), np.where(y == 1, 1.0, -1.0)
    return np.ascontiguousarray(rows * signs[:, None])


def strict_errors(learner, X, y):
    return int(np.sum(np.where(y == 1, 1, -1) * learner.decision_function(X) <= 0))
