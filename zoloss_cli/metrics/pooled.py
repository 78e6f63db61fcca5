"""Measurements of one draw of a data set, combined: several tasks may measure the same draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zoloss_cli.results.record import Measurement, MeasureRecord

if TYPE_CHECKING:
    import numpy as np

SUMMED = {
    *("permutations", "growth", "times", "growth_by_size"),
    *("flipped_growth_by_size", "flipped_times_by_size"),
}
AVERAGED = {"scores", "least_squares"}


class PooledMeasurement:
    """The measurements of one draw by all tasks that measured it; it has the fields of a Measurement.

    Sums over random paths are added and scores averaged, as arrays, on demand; everything else is the same
    in all records of a draw.

    Parameters
    ----------
    records : sequence of MeasureRecord
        The records of the draw.
    """

    complexity: int | None
    principal_points: int | None
    principal_subsets: int | None
    points: list[tuple[int, int, int, list[int]]] | None
    pairs: list[tuple[int, int]] | None
    clusters: list[int] | None
    exact: bool | None
    permutations: int | None
    growth: np.ndarray | None
    times: np.ndarray | None
    least_squares: np.ndarray | None
    growth_by_size: np.ndarray | None
    flipped_growth_by_size: np.ndarray | None
    flipped_times_by_size: np.ndarray | None
    scores: np.ndarray | None

    def __init__(self, records: Sequence[MeasureRecord]):
        self.records = records

    def __getattr__(self, name: str) -> Any:
        if name not in Measurement.__struct_fields__:
            raise AttributeError(f"a measurement has no '{name}'")
        value = getattr(self.records[0].measured, name)
        if value is not None and name in SUMMED | AVERAGED:
            import numpy as np

            value = np.sum([getattr(record.measured, name) for record in self.records], axis=0)
            if name in AVERAGED:
                value = value / len(self.records)
        setattr(self, name, value)
        return value

    def holds(self, name: str) -> bool:
        """Return whether a field was measured, without pooling it."""
        return getattr(self.records[0].measured, name) is not None

    @property
    def fit_time(self) -> float:
        """Return the seconds that all tasks took."""
        return sum(record.fit_time or 0.0 for record in self.records)

    @property
    def flipped(self) -> tuple[int, ...] | None:
        """Return the samples with wrong labels; None if no label is known to be wrong."""
        return tuple(self.records[0].measured.flipped) or None

    @property
    def outlier_scores(self) -> np.ndarray | None:
        """Return how much each sample looks like an outlier: its average contribution, or its score."""
        if self.growth is not None and self.times is not None:
            import numpy as np

            return self.growth / np.maximum(self.times, 1)
        return self.scores

    @property
    def is_flipped(self) -> np.ndarray:
        """Return which samples have wrong labels."""
        import numpy as np

        scores = self.outlier_scores
        if scores is None:
            raise ValueError("the measurement scores no samples")
        return np.isin(np.arange(len(scores)), self.flipped or ())


def pool_by_draw(records: Sequence[MeasureRecord]) -> dict[int, PooledMeasurement]:
    """Return the combined measurements of each draw."""
    by_draw: dict[int, list[MeasureRecord]] = {}
    for record in records:
        by_draw.setdefault(record.split if record.draw is None else record.draw, []).append(record)
    return {draw: PooledMeasurement(several) for draw, several in sorted(by_draw.items())}
