"""What is left to run: the pending splits of each cell, their cost, and the time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.shards import WHOLE, Shard
from zoloss_cli.results.cell_file import StoredCell
from zoloss_cli.results.record import FitRecord, Record
from zoloss_cli.results.store import Store

CHUNK_SECONDS = 0.5
MAX_CHUNK_TASKS = 200  # in chunks of half a second; more in longer ones


class SplitRanges:
    """Splits in order, as ranges: ten million of them take no more memory than ten.

    Parameters
    ----------
    ranges : iterable of range
        The splits.
    """

    def __init__(self, ranges: Iterable[range] = ()):
        self._ranges = deque(each for each in ranges if each)
        self._size = sum(map(len, self._ranges))

    @classmethod
    def from_splits(cls, splits: Iterable[int], step: int) -> SplitRanges:
        """Return splits in order; those that are `step` apart form a range."""
        ranges: list[range] = []
        for split in splits:
            if ranges and ranges[-1].stop == split:
                ranges[-1] = range(ranges[-1].start, split + step, step)
            else:
                ranges.append(range(split, split + step, step))
        return cls(ranges)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        for each in self._ranges:
            yield from each

    def extendleft(self, splits: Iterable[int]) -> None:
        """Put splits before the others, one by one."""
        for split in splits:
            self._ranges.appendleft(range(split, split + 1))
            self._size += 1

    def popleft(self) -> int:
        """Remove and return the first split."""
        first = self._ranges[0]
        if len(first) == 1:
            self._ranges.popleft()
        else:
            self._ranges[0] = first[1:]
        self._size -= 1
        return first[0]


@dataclass
class PendingCell:
    """The pending splits of a cell, and what is known about their cost.

    Attributes
    ----------
    cell : Cell
        The cell.
    splits : SplitRanges or deque of int
        Splits without a stored record, in order.
    seconds : float
        Total seconds of all timed tasks of the cell.
    n_timed : int
        Number of timed tasks.
    n_tasks : int
        Number of tasks, done or not; for a shard, only its own.
    """

    cell: Cell
    splits: SplitRanges | deque[int]
    seconds: float = 0.0
    n_timed: int = 0
    n_tasks: int = 0

    @property
    def mean_seconds(self) -> float | None:
        """Return the mean time of a task, or None if none was timed."""
        return self.seconds / self.n_timed if self.n_timed else None

    def take_chunk(self, seconds: float, most: int) -> list[int]:
        """Remove and return at most `most` splits that together take about this long."""
        most = min(round(MAX_CHUNK_TASKS * max(1.0, seconds / CHUNK_SECONDS)), most)
        if (mean := self.mean_seconds) is not None:
            most = min(most, int(seconds / max(mean, 1e-6)))
        size = max(1, most)
        return [self.splits.popleft() for _ in range(min(size, len(self.splits)))]

    def add_times(self, seconds: list[float]) -> None:
        """Update the cost with the times of finished tasks."""
        self.seconds += sum(seconds)
        self.n_timed += len(seconds)


def find_pending(cell: Cell, stored: StoredCell, shard: Shard = WHOLE) -> PendingCell:
    """Return what is left to run of a cell, or of a shard of it."""
    wanted = shard.select_splits(cell)
    splits = SplitRanges([wanted])
    if stored.records:
        left = (k for k in wanted if not _is_done(cell, stored.records.get(k)))
        splits = SplitRanges.from_splits(left, wanted.step)
    pending = PendingCell(cell, splits, n_tasks=len(wanted))
    pending.add_times([record.wall_time for record in stored.records.values()])
    return pending


def _is_done(cell: Cell, record: Record | None) -> bool:
    """Return whether a record holds everything that the config requests."""
    if record is None:
        return False
    if not isinstance(record, FitRecord) or record.test_errors is None:
        return True
    wanted = set(cell.keep)
    if len(record.test_confusion or ()) > 2:
        wanted.discard("test_scores")  # which are for two classes
    return all(getattr(record, name) for name in wanted)


def open_pending(cells: list[Cell], store: Store, fresh: bool, shard: Shard = WHOLE) -> list[PendingCell]:
    """Return what is left to run of each cell; two columns with the same cell share it.

    With `fresh`, stored results are first set aside.
    """
    pending: dict[str, PendingCell] = {}
    for cell in cells:
        if cell.key not in pending:
            if fresh:
                store.set_aside(cell)
            pending[cell.key] = find_pending(cell, store.open_cell(cell), shard)
    return list(pending.values())


def estimate_seconds(pending: list[PendingCell], jobs: int) -> float | None:
    """Estimate the time left from timed tasks: of the cell, or else of its learner, or else of all."""
    by_learner: dict[str, list[float]] = {}
    for part in pending:
        if part.n_timed:
            total = by_learner.setdefault(part.cell.learner.label, [0.0, 0.0])
            total[0] += part.seconds
            total[1] += part.n_timed
    if not by_learner:
        return None
    overall = sum(t for t, _ in by_learner.values()) / sum(n for _, n in by_learner.values())
    left = 0.0
    for part in pending:
        known = by_learner.get(part.cell.learner.label)
        mean = part.mean_seconds
        if mean is None:
            mean = known[0] / known[1] if known else overall
        left += len(part.splits) * mean
    return left / jobs
