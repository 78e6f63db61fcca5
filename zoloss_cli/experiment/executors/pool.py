"""Kernels that the tasks of a run need, compiled before the first of them."""

from __future__ import annotations

import contextlib
import functools
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing.context import BaseContext

from zoloss_cli.experiment.executors.base import ChunkOutput, Note, TaskExecutor
from zoloss_cli.experiment.fitting import warm_up_pruning
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.task import run_chunk
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation, compile_kernels
from zoloss_cli.kernels import KEEPS_KERNELS
from zoloss_cli.registry import LEARNERS
from zoloss_cli.utils.interrupt import run_interruptibly


def compile_for_cells(cells: Sequence[Cell]) -> float:
    """Compile what the tasks of cells need in this process, and return the seconds taken."""
    seconds = compile_kernels([cell.learner for cell in cells])
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        for how in {cell.prune for cell in cells if cell.prune is not None}:
            if threading.current_thread() is threading.main_thread():
                run_interruptibly(functools.partial(warm_up_pruning, how))
            else:
                warm_up_pruning(how)
    return seconds


LONG_COMPILATION_SECONDS = 5.0


class PoolExecutor(TaskExecutor):
    """Processes on this machine; a worker that dies breaks the pool, and a new one is started.

    Parameters
    ----------
    jobs : int
        Number of worker processes.
    """

    def __init__(self, jobs: int):
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None  # created when there is something to run

    @property
    def n_workers(self) -> int:
        """Return the number of worker processes."""
        return self.jobs

    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Compile kernels in this process, so that workers find them; workers import meanwhile."""
        prepare_server()
        seconds = compile_for_cells(cells)
        if seconds > LONG_COMPILATION_SECONDS:
            kept = " (kept for the next run)" * KEEPS_KERNELS
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
        """End the workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            stop_process_pool(pool)


def start_process_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of workers forked from a clean server that has imported the learners once."""
    return ProcessPoolExecutor(jobs, mp_context=prepare_server(), initializer=init_worker)


def prepare_server() -> BaseContext:
    """Return the context for starting processes; if they are forked from a server, start that."""
    context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        # Other packages' learners are imported by the tasks that use them: a broken one would end the server.
        modules = {entry.target.split(":")[0] for entry in LEARNERS.builtin.values()}
        context.set_forkserver_preload(["zoloss_cli.experiment.task", *sorted(modules)])
        _start_server()
    return context


def stop_process_pool(pool: Executor) -> None:
    """End the workers without waiting for their current chunks."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        with contextlib.suppress(OSError, AttributeError):
            process.kill()
    # Without workers, the pool has nothing to wait for but its own bookkeeping.
    pool.shutdown(wait=True, cancel_futures=True)


def init_worker() -> None:
    """Leave interrupts to the parent, and end when the parent is gone, however it died."""
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

    resource_tracker.ensure_running()  # otherwise it would be started within, and unblock interrupts
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
