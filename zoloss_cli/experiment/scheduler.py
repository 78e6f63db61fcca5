"""Tasks mapped over an executor: chunks sized by time, results as they come, workers that die.

Tasks of a cell travel in chunks sized by their measured time, so that scheduling stays below a percent;
results are yielded as they come back, so that nothing finished is lost. What follows from a death, a lost
connection or an interrupt is decided here, the same for processes of this machine and for a cluster.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, field

from zoloss_cli.errors import RunError
from zoloss_cli.experiment.executors.base import ChunkLostError, TaskExecutor
from zoloss_cli.experiment.pending import CHUNK_SECONDS, PendingCell, estimate_seconds
from zoloss_cli.results.record import AnyRecord, FailedRecord

MAX_WORKER_DEATHS = 10  # in a row, without a chunk that comes back
CHUNKS_PER_WORKER = 2  # one to work on and one waiting
CHUNKS_PER_SECOND = 200  # that the client handles with ease: with more workers chunks are longer
MAX_CHUNKS_PER_SECOND = 1000  # that it handles at all, towards the end
MANY_WORKERS = 32  # from here on the longest tasks are first, so that the last ones are short
SHARES_LEFT = 4  # a chunk is at most this fraction of a worker's share of what is left
CHECK_SECONDS = 0.5
ESTIMATE_SECONDS = 0.5  # between two estimates of what is left, which look at every cell
WORKER_DIED = "its worker process died (out of memory?)"


@dataclass
class ChunkResult:
    """The records that came back for a chunk of a cell's splits, and the host if it is not this one."""

    pending: PendingCell
    records: list[AnyRecord] = field(default_factory=list)
    host: str = ""


@dataclass
class Chunk:
    """Splits of a cell that travel together; one that runs alone has nothing beside it to blame."""

    part: PendingCell
    splits: list[int]
    is_alone: bool = False


@dataclass
class Scheduler:
    """Runs what is pending over an executor.

    If a worker dies, the chunks that were lost with it run again one task at a time with nothing beside, so
    that the task that kills its worker is found, reported as failed, and takes no other with it. A chunk that
    was lost with the connection is submitted again, and nothing is blamed.
    """

    pending: list[PendingCell]
    executor: TaskExecutor
    clock: Callable[[], float] = time.monotonic
    _queue: deque[PendingCell] = field(init=False)
    _suspects: deque[Chunk] = field(default_factory=deque)  # one at a time, alone
    _returned: deque[Chunk] = field(default_factory=deque)
    _under_way: dict[Future, Chunk] = field(default_factory=dict)
    _finished: queue.SimpleQueue[Future] = field(default_factory=queue.SimpleQueue)
    _n_deaths: int = 0
    _seconds_left: float | None = None  # of one worker that did all
    _estimated_at: float = float("-inf")

    def __post_init__(self) -> None:
        self._queue = deque(part for part in self.pending if part.splits)

    def run(self) -> Iterator[ChunkResult]:
        """Yield records as chunks finish."""
        while self._queue or self._suspects or self._returned or self._under_way:
            self._estimate()
            yield from self._submit_chunks()
            self.executor.flush()
            yield from self._collect_finished()

    def estimate_left(self) -> float | None:
        """Estimate the seconds that are left; None while no task was timed."""
        if not self._queue:
            return 0.0
        return None if self._seconds_left is None else self._seconds_left / max(self.executor.n_workers, 1)

    def _submit_chunks(self) -> Iterator[ChunkResult]:
        """Keep workers busy; a suspect runs with nothing beside it."""
        limit = self.executor.n_workers * CHUNKS_PER_WORKER
        while (chunk := self._take_chunk(limit)) is not None:
            try:
                future = self.executor.submit(chunk.part.cell, chunk.splits)
            except BrokenExecutor:
                yield from self._handle_death([chunk])
                return
            except ChunkLostError:
                self._returned.append(chunk)
                return
            except BaseException:
                self._returned.append(chunk)
                raise
            self._under_way[future] = chunk
            future.add_done_callback(self._finished.put)

    def _take_chunk(self, limit: int) -> Chunk | None:
        """Return what to submit next, if anything may run beside what is under way."""
        if self._suspects:
            return None if self._under_way else self._suspects.popleft()
        if len(self._under_way) >= (1 if self._is_isolated() else limit):
            return None
        if self._returned:
            return self._returned.popleft()
        return self._take_next() if self._queue else None

    def _is_isolated(self) -> bool:
        """Return whether the one chunk under way is a suspect."""
        return len(self._under_way) == 1 and next(iter(self._under_way.values())).is_alone

    def _take_next(self) -> Chunk:
        part = self._queue[0]
        splits = part.take_chunk(self._find_chunk_seconds())
        if not part.splits:
            self._queue.popleft()
        elif part.mean_seconds is None and self.executor.n_workers > MANY_WORKERS:
            self._queue.rotate(-1)  # to learn soon what is long
        return Chunk(part, splits)

    def _find_chunk_seconds(self) -> float:
        """Return how long a chunk may take: more for many workers, less towards the end."""
        n_workers = self.executor.n_workers
        seconds = max(CHUNK_SECONDS, n_workers / CHUNKS_PER_SECOND)
        if self._seconds_left is not None and n_workers > MANY_WORKERS:
            least = n_workers / MAX_CHUNKS_PER_SECOND
            seconds = max(least, min(seconds, self._seconds_left / n_workers / SHARES_LEFT))
        return seconds

    def _estimate(self) -> None:
        """Look at what is left, from time to time; for many workers put the longest tasks first."""
        now = self.clock()
        if now - self._estimated_at < ESTIMATE_SECONDS:
            return
        began = time.perf_counter()
        self._seconds_left = estimate_seconds(self.pending, 1)
        if self.executor.n_workers > MANY_WORKERS:
            in_order = sorted(self._queue, key=lambda part: -(part.mean_seconds or float("inf")))
            self._queue = deque(in_order)
        cost = time.perf_counter() - began
        self._estimated_at = now + 20 * cost  # a twentieth of the time at most, however many cells there are

    def _collect_finished(self) -> Iterator[ChunkResult]:
        """Wait for a chunk, and take all that have finished."""
        if not self._under_way:
            return
        try:
            future = self._finished.get_nowait()
        except queue.Empty:
            self.executor.check()
            try:
                future = self._finished.get(timeout=CHECK_SECONDS)
            except queue.Empty:
                return
        while True:
            yield from self._collect(future)
            try:
                future = self._finished.get_nowait()
            except queue.Empty:
                return

    def _collect(self, future: Future) -> Iterator[ChunkResult]:
        chunk = self._under_way.pop(future, None)
        if chunk is None:
            return  # of a pool that broke
        try:
            output = future.result()
        except BrokenExecutor:
            yield from self._handle_death([chunk])
            return
        except ChunkLostError:
            self._returned.append(chunk)
            return
        self._n_deaths = 0
        chunk.part.add_times([record.wall_time for record in output.records])
        yield ChunkResult(chunk.part, output.records, output.host)

    def _handle_death(self, lost: list[Chunk]) -> Iterator[ChunkResult]:
        """After a worker died: report the task that was alone with it, or run what was lost one by one."""
        self._n_deaths += 1
        if self._n_deaths > MAX_WORKER_DEATHS:
            raise RunError(
                f"worker processes die as they start ({self._n_deaths} in a row); what is finished is kept"
            ) from None
        if self.executor.recover():
            lost = [*lost, *self._under_way.values()]
            self._under_way.clear()
        for chunk in lost:
            if chunk.is_alone:
                yield ChunkResult(chunk.part, [FailedRecord(chunk.splits[0], WORKER_DIED)])
            else:
                self._suspects.extend(Chunk(chunk.part, [k], is_alone=True) for k in chunk.splits)
