"""Which splits are sent together, and which cell comes next.

Few workers take cells in the order of the plan, in chunks that end after about half a second: tasks that a
chunk has not started by then come back, so that the times of tasks need not be known beforehand. Many workers
would wait for the client, so their chunks are as long as the client's cost per chunk requires, each cell is
timed first, the longest tasks come first, and chunks become shorter towards the end.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from zoloss_cli.experiment.pending import CHUNK_SECONDS, PendingCell, estimate_seconds

MANY_WORKERS = 32  # from here on, the longest tasks come first, so that the last ones are short
CLIENT_LOAD = 0.15  # of the client's time, while chunks may be long
MAX_CLIENT_LOAD = 0.6  # likewise, towards the end
CLIENT_SECONDS = 0.0007  # of the client's time for a chunk, until it is measured
MIN_MEASURED_CHUNKS = 200
SHARES_LEFT = 4  # a chunk is at most one part in this many of a worker's share of the rest
ESTIMATE_SECONDS = 0.2  # between two estimates of the time left, which examine every cell
MAX_UNTIMED_TASKS = 16  # in a chunk for few workers, before any task of its cell was timed
TASKS_PER_TIMED = 32  # a chunk for many workers has at most this many times the tasks timed before


@dataclass
class ChunkPlanner:
    """Choose chunks from the pending tasks.

    Attributes
    ----------
    pending : list of PendingCell
        The cells to run.
    clock : callable
        Seconds.
    cpu_clock : callable
        Seconds of the client's own CPU time.
    """

    pending: list[PendingCell]
    clock: Callable[[], float] = time.monotonic
    cpu_clock: Callable[[], float] = time.process_time
    _queue: deque[PendingCell] = field(init=False)  # the first of which has splits
    _unprobed: deque[PendingCell] = field(init=False)
    _seconds_left: float | None = None  # for a single worker
    _estimated_at: float = float("-inf")
    _n_chunks: int = 0
    _cpu_start: float = field(init=False)

    def __post_init__(self) -> None:
        self._queue = deque(part for part in self.pending if part.splits)
        self._unprobed = deque(part for part in self._queue if not part.n_timed)
        self._cpu_start = self.cpu_clock()

    def __bool__(self) -> bool:
        return bool(self._queue)

    def estimate_left(self, n_workers: int) -> float | None:
        """Estimate the seconds left; None if no task was timed yet."""
        if not self._queue:
            return 0.0
        return None if self._seconds_left is None else self._seconds_left / max(n_workers, 1)

    def update(self, n_workers: int) -> None:
        """Re-estimate the time left now and then; for many workers, put the longest tasks first."""
        now = self.clock()
        if now - self._estimated_at < ESTIMATE_SECONDS:
            return
        began = time.perf_counter()
        self._seconds_left = estimate_seconds(self.pending, 1)
        if n_workers > MANY_WORKERS:
            self._queue = deque(sorted(self._queue, key=lambda part: -(part.mean_seconds or 0.0)))
            self._drop_empty()
        cost = time.perf_counter() - began
        self._estimated_at = now + 20 * cost  # at most a twentieth of the time, however many cells there are

    def take(self, n_workers: int) -> tuple[PendingCell, list[int], float]:
        """Remove and return the next chunk: a cell, some of its splits, and the seconds it may take."""
        self._n_chunks += 1
        seconds = self._find_seconds(n_workers)
        if n_workers <= MANY_WORKERS:
            part = self._queue[0]
            share = math.ceil(part.n_tasks / n_workers)
            splits = part.take_chunk(seconds, share if part.n_timed else min(share, MAX_UNTIMED_TASKS))
        else:
            part = self._find_unprobed() or self._queue[0]
            splits = part.take_chunk(seconds, TASKS_PER_TIMED * part.n_timed)
            if not part.n_timed and part is self._queue[0]:
                self._queue.rotate(-1)  # nothing else is known: take each cell in turn
            seconds = math.inf  # sized by known times
        self._drop_empty()
        return part, splits, seconds

    def give_back(self, part: PendingCell, splits: list[int]) -> None:
        """Take back splits that a chunk had no time for; they come next."""
        if splits:
            part.splits.extendleft(reversed(splits))
            if all(part is not each for each in self._queue):
                self._queue.appendleft(part)

    def _find_unprobed(self) -> PendingCell | None:
        """Return a cell with no task running or timed."""
        while self._unprobed:
            part = self._unprobed.popleft()
            if part.splits and not part.n_timed:
                return part
        return None

    def _drop_empty(self) -> None:
        while self._queue and not self._queue[0].splits:
            self._queue.popleft()

    def _find_seconds(self, n_workers: int) -> float:
        """Return how long a chunk may take: longer for many workers, shorter towards the end."""
        busy = n_workers * self._measure_client_seconds()  # of the client per second, with chunks of one second
        seconds = max(CHUNK_SECONDS, busy / CLIENT_LOAD)
        if self._seconds_left is not None and n_workers > MANY_WORKERS:
            seconds = max(busy / MAX_CLIENT_LOAD, min(seconds, self._seconds_left / n_workers / SHARES_LEFT))
        return seconds

    def _measure_client_seconds(self) -> float:
        """Return the client's cost of a chunk, from its submission to its records."""
        if self._n_chunks < MIN_MEASURED_CHUNKS:
            return CLIENT_SECONDS
        return (self.cpu_clock() - self._cpu_start) / self._n_chunks
