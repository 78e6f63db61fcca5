"""What learners recorded on their way: errors and cost by epoch, and a search's way down."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curves:
    """What was measured after each recorded epoch or round, one row a split: errors in %, the cost as it is.

    `test_error` is there only where rows test, and `cost` only of learners that minimize one.
    """

    epochs: list[int]
    values: dict[str, np.ndarray]

    def mean(self, metric: str) -> np.ndarray:
        return self.values[metric].mean(axis=0)

    def stderr(self, metric: str) -> np.ndarray:
        """The standard error of the mean over splits; of one split there is none."""
        values = self.values[metric]
        if len(values) < 2:
            return np.full(values.shape[1], np.nan)
        return values.std(axis=0, ddof=1) / math.sqrt(len(values))


def read_curves(rows: list[dict], n_train: int, n_test: int) -> Curves | None:
    """What the rows recorded; nothing if they did not all record the same epochs."""
    epochs = rows[0].get("epochs")
    if not epochs or any(row.get("epochs") != epochs for row in rows):
        return None
    values = {}
    for metric, key, size in (
        ("train_error", "train_curve", n_train),
        ("test_error", "test_curve", n_test),
        ("cost", "cost_curve", None),
    ):
        try:
            recorded = np.array([row[key] for row in rows], dtype=float)
        except (KeyError, TypeError, ValueError):  # no test rows, no cost, or damaged ones
            continue
        if recorded.shape == (len(rows), len(epochs)):
            values[metric] = recorded if size is None else 100.0 * recorded / size
    return Curves(epochs, values) if values.keys() - {"cost"} else None


def read_trace(row: dict) -> list[tuple[float, float]] | None:
    """(seconds, errors) whenever a search found fewer errors; nothing where that was not stored."""
    try:
        points = [(float(seconds), float(errors)) for seconds, errors in row["trace"]]
    except (KeyError, TypeError, ValueError):
        return None
    return points if points and all(map(math.isfinite, itertools.chain(*points))) else None
