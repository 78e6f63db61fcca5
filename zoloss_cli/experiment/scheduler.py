"""Schedule pending tasks on an executor: form chunks of splits, and retry lost ones.

Few workers take cells in the order of the plan, in chunks that end after about half a second: tasks that a
chunk has not started by then are requeued, so that task times need not be known beforehand. Many workers
would wait for the client, so their chunks are as long as the client's cost per chunk requires, each cell is
timed first, the longest tasks come first, and chunks become shorter towards the end.
"""

from __future__ import annotations

import math
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, field

from zoloss_cli.errors import RunError
from zoloss_cli.experiment.plan import CHUNK_SECONDS, PendingCell, estimate_seconds
from zoloss_cli.experiment.pool import ChunkLostError, TaskExecutor
from zoloss_cli.results.record import AnyRecord, FailedRecord

MANY_WORKERS = 32  # from here on, the longest tasks come first, so that the last ones are short
CLIENT_LOAD = 0.15  # target share of the client's time, while chunks may be long
MAX_CLIENT_LOAD = 0.6  # likewise, towards the end
CLIENT_SECONDS = 0.0007  # of the client for a chunk, until measured
MIN_MEASURED_CHUNKS = 200
SHARES_LEFT = 4  # a chunk takes at most a worker's share of the time left, divided by this
ESTIMATE_SECONDS = 0.2  # between two estimates of the time left, which examine every cell
MAX_UNTIMED_TASKS = 16  # in a chunk for few workers, before any task of its cell was timed
TASKS_PER_TIMED = 32  # a chunk for many workers has at most this many times the tasks timed before


@dataclass
class ChunkPlanner:
    """Choose chunks from the pending tasks."""

    pending: list[PendingCell]
    clock: Callable[[], float] = time.monotonic
    cpu_clock: Callable[[], float] = time.process_time  # of the client
    _queue: deque[PendingCell] = field(init=False)  # the first one always has splits
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
        """Requeue splits that a chunk had no time for, before all others."""
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
        cost = CLIENT_SECONDS  # of a chunk for the client, from its submission to its records
        if self._n_chunks >= MIN_MEASURED_CHUNKS:
            cost = (self.cpu_clock() - self._cpu_start) / self._n_chunks
        busy = n_workers * cost  # load of the client with chunks of one second
        seconds = max(CHUNK_SECONDS, busy / CLIENT_LOAD)
        if self._seconds_left is not None and n_workers > MANY_WORKERS:
            seconds = max(busy / MAX_CLIENT_LOAD, min(seconds, self._seconds_left / n_workers / SHARES_LEFT))
        return seconds


# Tasks of a cell are sent in chunks sized by their measured time, so that scheduling overhead is below 1 %;
# results are yielded as they arrive, so that no finished task is lost. The death of a worker, a lost connection
# or an interrupt is handled here, in the same way for local processes and for a cluster.

MAX_WORKER_DEATHS = 10  # in a row, without a finished chunk
CHUNKS_PER_WORKER = 2  # one running and one waiting
SUBMITS_AT_ONCE = 50  # before checking for finished ones: the sooner times are known, the better
CHECK_SECONDS = 0.5
WORKER_DIED = "its worker process died (out of memory?)"


@dataclass
class ChunkResult:
    """The records of a chunk of a cell's splits, and the host if it is not this one."""

    pending: PendingCell
    records: list[AnyRecord] = field(default_factory=list)
    host: str = ""


@dataclass
class Chunk:
    """Splits of a cell that are sent together, or one that runs alone to isolate what kills its worker."""

    part: PendingCell
    splits: list[int]
    seconds: float = math.inf  # after which no further task starts
    is_alone: bool = False


@dataclass
class Scheduler:
    """Run pending tasks on an executor.

    If a worker dies, the chunks lost with it are rerun one task at a time with nothing else running, to isolate
    the task that kills its worker and report it as failed. A chunk lost with the connection is resubmitted.
    """

    pending: list[PendingCell]
    executor: TaskExecutor
    clock: Callable[[], float] = time.monotonic
    cpu_clock: Callable[[], float] = time.process_time
    _planner: ChunkPlanner = field(init=False)
    _suspects: deque[Chunk] = field(default_factory=deque)  # one at a time, alone
    _returned: deque[Chunk] = field(default_factory=deque)
    _under_way: dict[Future, Chunk] = field(default_factory=dict)
    _finished: queue.SimpleQueue[Future] = field(default_factory=queue.SimpleQueue)
    _n_deaths: int = 0
    _is_full: bool = True  # nothing can be submitted until a chunk finishes

    def __post_init__(self) -> None:
        self._planner = ChunkPlanner(self.pending, self.clock, self.cpu_clock)

    def run(self) -> Iterator[ChunkResult]:
        """Yield records as chunks finish."""
        while self._planner or self._suspects or self._returned or self._under_way:
            self._planner.update(self.executor.n_workers)
            yield from self._submit_chunks()
            self.executor.flush()
            yield from self._collect_finished()

    def estimate_left(self) -> float | None:
        """Estimate the seconds left; None if no task was timed yet."""
        return self._planner.estimate_left(self.executor.n_workers)

    def _submit_chunks(self) -> Iterator[ChunkResult]:
        """Keep workers busy; a suspect runs alone."""
        limit = self.executor.n_workers * CHUNKS_PER_WORKER
        self._is_full = True  # unless there is room after submitting all of these
        for _ in range(SUBMITS_AT_ONCE):
            if (chunk := self._take_chunk(limit)) is None:
                return
            try:
                future = self.executor.submit(chunk.part.cell, chunk.splits, chunk.seconds)
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
        self._is_full = False

    def _take_chunk(self, limit: int) -> Chunk | None:
        """Return what to submit next, if anything may run along with the current chunks."""
        if self._suspects:
            return None if self._under_way else self._suspects.popleft()
        is_suspect_alone = len(self._under_way) == 1 and next(iter(self._under_way.values())).is_alone
        if len(self._under_way) >= (1 if is_suspect_alone else limit):
            return None
        if self._returned:
            return self._returned.popleft()
        return Chunk(*self._planner.take(self.executor.n_workers)) if self._planner else None

    def _collect_finished(self) -> Iterator[ChunkResult]:
        """Collect all finished chunks; wait for one if no other can be submitted first."""
        if not self._under_way:
            return
        if self._is_full and self._finished.empty():
            self.executor.check()
            try:
                future = self._finished.get(timeout=CHECK_SECONDS)
            except queue.Empty:
                return
            yield from self._collect(future)
        while not self._finished.empty():
            yield from self._collect(self._finished.get())

    def _collect(self, future: Future) -> Iterator[ChunkResult]:
        chunk = self._under_way.pop(future, None)
        if chunk is None:
            return  # from a broken pool
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
        done = {record.split for record in output.records}
        self._planner.give_back(chunk.part, [split for split in chunk.splits if split not in done])
        yield ChunkResult(chunk.part, output.records, output.host)

    def _handle_death(self, lost: list[Chunk]) -> Iterator[ChunkResult]:
        """After a worker died, report the task that was alone with it, or rerun what was lost one by one."""
        self._n_deaths += 1
        if self._n_deaths > MAX_WORKER_DEATHS:
            raise RunError(
                f"worker processes die as they start ({self._n_deaths} in a row); finished tasks are kept"
            ) from None
        if self.executor.recover():
            lost = [*lost, *self._under_way.values()]
            self._under_way.clear()
        for chunk in lost:
            if chunk.is_alone:
                yield ChunkResult(chunk.part, [FailedRecord(chunk.splits[0], WORKER_DIED)])
            else:
                self._suspects.extend(Chunk(chunk.part, [k], is_alone=True) for k in chunk.splits)
