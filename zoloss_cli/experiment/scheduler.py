"""Map tasks over an executor: chunks sized by time, results as they arrive, and workers that die.

Tasks of a cell travel in chunks sized by their measured time, so that scheduling takes less than a percent;
results are yielded as they arrive, so that nothing finished is lost. The response to a death, a lost
connection or an interrupt is decided here, in the same way for local processes and for a cluster.
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
from zoloss_cli.experiment.chunking import ChunkPlanner
from zoloss_cli.experiment.executors.base import ChunkLostError, TaskExecutor
from zoloss_cli.experiment.pending import PendingCell
from zoloss_cli.results.record import AnyRecord, FailedRecord

MAX_WORKER_DEATHS = 10  # in a row, without a chunk coming back
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
    """Splits of a cell that are sent together; if one runs alone, only it can be to blame."""

    part: PendingCell
    splits: list[int]
    seconds: float = math.inf  # after which tasks not started are left to others
    is_alone: bool = False


@dataclass
class Scheduler:
    """Run pending tasks over an executor.

    If a worker dies, the chunks lost with it are rerun one task at a time with nothing else running, so that
    the task that kills its worker is found, reported as failed, and takes no other with it. A chunk lost with
    the connection is resubmitted, without blame.
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
    _is_full: bool = True  # nothing can be submitted before something comes back

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
        """Keep workers busy; a suspect runs with nothing else."""
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
        if len(self._under_way) >= (1 if self._is_isolated() else limit):
            return None
        if self._returned:
            return self._returned.popleft()
        return Chunk(*self._planner.take(self.executor.n_workers)) if self._planner else None

    def _is_isolated(self) -> bool:
        """Return whether the only running chunk is a suspect."""
        return len(self._under_way) == 1 and next(iter(self._under_way.values())).is_alone

    def _collect_finished(self) -> Iterator[ChunkResult]:
        """Collect all finished chunks; wait for one if no other can be submitted first."""
        if not self._under_way:
            return
        try:
            future = self._finished.get_nowait()
        except queue.Empty:
            if not self._is_full:
                return
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
