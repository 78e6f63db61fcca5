"""Tasks mapped over an executor: chunks sized by time, results as they come, workers that die.

Tasks of a cell travel in chunks sized by their measured time, so that scheduling stays below a percent;
results are yielded as they come back, so that nothing finished is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field

from zoloss_cli.errors import RunError
from zoloss_cli.experiment.executors.process_pool import defer_signals, start_process_pool, stop_process_pool
from zoloss_cli.experiment.pending import PendingCell
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.results.record import AnyRecord, FailedRecord

MAX_WORKER_RESTARTS = 10  # in a row
CHUNKS_PER_WORKER = 2  # one to work on and one waiting
WORKER_DIED = "its worker process died (out of memory?)"


@dataclass
class ChunkResult:
    """The records that came back for a chunk of a cell's splits."""

    pending: PendingCell
    records: list[AnyRecord] = field(default_factory=list)


@dataclass
class Scheduler:
    """Runs what is pending over an executor that it starts, and starts again when a worker dies.

    If a worker dies, the chunks that were under way run again one task at a time, so that the task that kills
    its worker is found, reported as failed, and takes no other with it.
    """

    pending: list[PendingCell]
    jobs: int
    start_executor: Callable[[int], Executor] = start_process_pool
    _queue: deque[PendingCell] = field(init=False)
    _suspects: deque[tuple[PendingCell, list[int]]] = field(default_factory=deque)  # one at a time, alone
    _under_way: dict[Future, tuple[PendingCell, list[int]]] = field(default_factory=dict)
    _isolated: bool = False
    _n_restarts: int = 0

    def __post_init__(self) -> None:
        self._queue = deque(part for part in self.pending if part.splits)

    def run(self) -> Iterator[ChunkResult]:
        """Yield records as chunks finish; closing the iterator stops the workers at once."""
        if not self._queue:
            return  # no server of workers is started for nothing; it would import everything
        executor = self.start_executor(self.jobs)
        try:
            while self._queue or self._suspects or self._under_way:
                try:
                    self._submit_chunks(executor)
                    yield from self._collect_finished()
                except BrokenExecutor:
                    stop_process_pool(executor)
                    yield from self._separate_suspects()
                    executor = self.start_executor(self.jobs)
        finally:
            stop_process_pool(executor)

    def _submit_chunks(self, executor: Executor) -> None:
        """Keep workers busy; a suspect runs with nothing beside it."""
        while (self._suspects and not self._under_way) or (
            self._queue and not self._suspects and len(self._under_way) < self.jobs * CHUNKS_PER_WORKER
        ):
            self._isolated = bool(self._suspects)
            part, splits = self._suspects.popleft() if self._isolated else self._take_next()
            try:
                with defer_signals():
                    self._under_way[executor.submit(run_tasks, part.cell, splits)] = (part, splits)
            except BrokenExecutor:
                self._suspects.extend((part, [k]) for k in splits)
                raise
            if self._isolated:
                break

    def _take_next(self) -> tuple[PendingCell, list[int]]:
        part = self._queue[0]
        splits = part.take_chunk()
        if not part.splits:
            self._queue.popleft()
        return part, splits

    def _collect_finished(self) -> Iterator[ChunkResult]:
        finished, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        for future in finished:
            records = future.result()
            self._n_restarts = 0
            part, _ = self._under_way.pop(future)
            part.add_times([record.wall_time for record in records])
            yield ChunkResult(part, records)

    def _separate_suspects(self) -> Iterator[ChunkResult]:
        """After a worker died: report the task that was alone with it, or run what was under way one by one."""
        self._n_restarts += 1
        if self._n_restarts > MAX_WORKER_RESTARTS:
            raise RunError(
                f"worker processes die as they start ({self._n_restarts} in a row); what is finished is kept"
            ) from None
        under_way, self._under_way = list(self._under_way.values()), {}
        for part, splits in under_way:
            if self._isolated:
                yield ChunkResult(part, [FailedRecord(splits[0], WORKER_DIED)])
            else:
                self._suspects.extend((part, [k]) for k in splits)
