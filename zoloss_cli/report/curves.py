"""What learners recorded on their way: errors by epoch, and a search's way down."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curves:
    """Errors in % after each recorded epoch, one row a split; `test_error` only where rows test."""

    epochs: list[int]
    errors: dict[str, np.ndarray]

    def mean(self, metric: str) -> np.ndarray:
        return self.errors[metric].mean(axis=0)

    def stderr(self, metric: str) -> np.ndarray:
        """The standard error of the mean over splits; of one split there is none."""
        errors = self.errors[metric]
        if len(errors) < 2:
            return np.full(errors.shape[1], np.nan)
        return errors.std(axis=0, ddof=1) / math.sqrt(len(errors))


def read_curves(rows: list[dict], n_train: int, n_test: int) -> Curves | None:
    """What the rows recorded; nothing if they did not all record the same epochs."""
    epochs = rows[0].get("epochs")
    if not epochs or any(row.get("epochs") != epochs for row in rows):
        return None
    errors = {}
    for metric, key, n in (("train_error", "train_curve", n_train), ("test_error", "test_curve", n_test)):
        try:
            counts = np.array([row[key] for row in rows], dtype=float)
        except (KeyError, TypeError, ValueError):  # no test rows, or damaged ones
            continue
        if counts.shape == (len(rows), len(epochs)):
            errors[metric] = 100.0 * counts / n
    return Curves(epochs, errors) if errors else None


def read_trace(row: dict) -> list[tuple[float, float]] | None:
    """(seconds, errors) whenever a search found fewer errors; nothing where that was not stored."""
    try:
        points = [(float(seconds), float(errors)) for seconds, errors in row["trace"]]
    except (KeyError, TypeError, ValueError):
        return None
    return points if points and all(map(math.isfinite, itertools.chain(*points))) else None
