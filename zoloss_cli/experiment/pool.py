"""Executors, which run chunks of tasks somewhere, and the one for processes on this machine."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.context import BaseContext

from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.task import ChunkOutput, run_chunk
from zoloss_cli.experiment.warming import compile_for_cells
from zoloss_cli.kernels.compilation import KEEPS_KERNELS
from zoloss_cli.registry import LEARNERS
from zoloss_cli.results.manifest import ClusterInfo

Note = Callable[[str], object]  # shows a note to the user

LONG_COMPILATION_SECONDS = 5.0


class ChunkLostError(Exception):
    """A chunk was lost through no fault of its tasks, e.g. with the connection; it must be resubmitted."""


class TaskExecutor(ABC):
    """A place where chunks of tasks run.

    A future from `submit` ends in a `ChunkOutput`, in `concurrent.futures.BrokenExecutor` if a worker died with
    the chunk, in `ChunkLostError`, or in an error that ends the run. Retries are up to the scheduler, not the
    executor.
    """

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks can currently run at the same time."""

    @abstractmethod
    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Prepare workers for the tasks of these cells: compile kernels, and provide data where tasks run."""

    @abstractmethod
    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Submit a chunk; raise BrokenExecutor if workers have died.

        After `seconds`, no further task of the chunk starts: its records are then those of the first splits.
        """

    def flush(self) -> None:  # noqa: B027 (an executor may send each chunk at once)
        """Send the submitted chunks that were held back to be sent in a batch."""

    @abstractmethod
    def recover(self) -> bool:
        """Recover from the death of a worker; return whether all running chunks were lost."""

    def check(self) -> None:  # noqa: B027 (an executor may have nothing to check)
        """Check the workers while no chunk has finished; raise an error if none ever will."""

    def describe_workers(self) -> str:
        """Return how many workers there are and where, for a progress bar; empty if only on this machine."""
        return ""

    def describe_cluster(self) -> ClusterInfo | None:
        """Return the manifest's information about a cluster; None if only on this machine."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Stop immediately, without waiting for running chunks."""


ExecutorStarter = Callable[[Note], TaskExecutor]  # which reports problems with a cluster before anything runs


class PoolExecutor(TaskExecutor):
    """Worker processes on this machine; if one dies, the whole pool is replaced."""

    def __init__(self, jobs: int):
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None  # created when there is something to run

    @property
    def n_workers(self) -> int:
        """Return the number of worker processes."""
        return self.jobs

    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Compile kernels for the workers in this process, while the fork server imports zoloss."""
        prepare_server()
        seconds = compile_for_cells(cells)
        if seconds > LONG_COMPILATION_SECONDS:
            kept = " (cached for the next run)" * KEEPS_KERNELS
            note(f"kernels compiled in {seconds:.0f} s{kept}")

    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Submit a chunk to the pool."""
        if self._pool is None:
            self._pool = start_process_pool(self.jobs)
        with defer_signals():
            return self._pool.submit(run_chunk, cell, splits, seconds)

    def recover(self) -> bool:
        """Abandon the broken pool, and everything running in it."""
        self.close()
        return True

    def close(self) -> None:
        """Kill the workers without waiting for their current chunks."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            with contextlib.suppress(OSError, AttributeError):
                process.kill()
        # Without workers, the pool has nothing to wait for but its own bookkeeping.
        pool.shutdown(wait=True, cancel_futures=True)


def start_process_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of workers forked from a clean server, which has imported zoloss once."""
    return ProcessPoolExecutor(jobs, mp_context=prepare_server(), initializer=init_worker)


def prepare_server() -> BaseContext:
    """Return the multiprocessing context; start its fork server, if it has one."""
    context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        # Saves every worker 2 s of imports; those of other packages could fail, and end the server.
        learners = {entry.target.partition(":")[0] for entry in LEARNERS.builtin.values()}
        context.set_forkserver_preload(["zoloss_cli.experiment.task", *sorted(learners)])
        _start_server()
    return context


def init_worker() -> None:
    """Ignore interrupts, which the parent handles, and exit when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _start_server() -> None:
    """Start the fork server with interrupts blocked: during its imports, one would cause a traceback."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # otherwise starting it below would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the server inherits
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Defer interrupts until the block ends: a worker that is being started must be registered first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[tuple] = []
    before = {
        number: signal.signal(number, lambda *call: heard.append(call))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in heard[:1]:
            handler = before[number]
            if callable(handler):
                handler(number, frame)
            elif handler == signal.SIG_DFL:
                signal.raise_signal(number)
