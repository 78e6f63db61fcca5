"""Measurements of one draw of a data set together: several tasks may measure the same draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from zoloss_cli.results.record import Measurement, MeasureRecord

SUMMED = (
    "permutations",
    "growth",
    "times",
    "growth_by_size",
    "flipped_growth_by_size",
    "flipped_times_by_size",
)
AVERAGED = ("scores", "least_squares")


@dataclass(frozen=True)
class PooledMeasurement:
    """What was measured of one draw, by all tasks that measured it; the fields are those of a Measurement."""

    fit_time: float
    complexity: int | None = None
    principal_points: int | None = None
    principal_subsets: int | None = None
    points: list[tuple[int, int, int, list[int]]] | None = None
    pairs: list[tuple[int, int]] | None = None
    clusters: list[int] | None = None
    exact: bool | None = None
    solves: int | None = None
    permutations: int | None = None
    growth: np.ndarray | None = None
    times: np.ndarray | None = None
    least_squares: np.ndarray | None = None
    growth_by_size: np.ndarray | None = None
    flipped_growth_by_size: np.ndarray | None = None
    flipped_times_by_size: np.ndarray | None = None
    scores: np.ndarray | None = None
    flipped: tuple[int, ...] | None = None  # None where no label is known to be wrong

    @property
    def outlier_scores(self) -> np.ndarray | None:
        """Return how much each sample looks like an outlier: its average contribution, or its score."""
        if self.growth is not None and self.times is not None:
            return self.growth / np.maximum(self.times, 1)
        return self.scores

    @property
    def is_flipped(self) -> np.ndarray:
        """Return which samples have wrong labels."""
        scores = self.outlier_scores
        if scores is None:
            raise ValueError("the measurement scores no samples")
        return np.isin(np.arange(len(scores)), self.flipped or ())


def pool_by_draw(records: Sequence[MeasureRecord]) -> dict[int, PooledMeasurement]:
    """Return the measurements of each draw together.

    Sums over random paths are added and scores averaged; all else is the same in every record of a draw.
    """
    by_draw: dict[int, list[MeasureRecord]] = {}
    for record in records:
        by_draw.setdefault(record.split if record.draw is None else record.draw, []).append(record)
    return {draw: _pool(several) for draw, several in sorted(by_draw.items())}


def _pool(records: list[MeasureRecord]) -> PooledMeasurement:
    measured: list[Measurement] = [record.measured for record in records]
    values: dict = {"fit_time": sum(record.fit_time or 0.0 for record in records)}
    for name in (field.name for field in fields(PooledMeasurement) if field.name != "fit_time"):
        first = getattr(measured[0], name)
        if first is not None and name in (*SUMMED, *AVERAGED):
            total = np.sum([getattr(each, name) for each in measured], axis=0)
            values[name] = total / len(measured) if name in AVERAGED else total
        else:
            values[name] = first
    values["flipped"] = tuple(measured[0].flipped) or None
    return PooledMeasurement(**values)
