"""The default executor: a pool of processes that ends with its parent and leaves interrupts to it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor

from zoloss_cli.registry import LEARNERS

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def limit_threads() -> None:
    """Give every process one thread, since workers are the parallelism; call before numpy is imported."""
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


def start_process_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of workers forked from a clean server that has imported the learners once."""
    context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        # Other packages' learners are imported by the tasks that use them: a broken one ends the server.
        modules = {entry.target.split(":")[0] for entry in LEARNERS.builtin.values()}
        context.set_forkserver_preload(["zoloss_cli.experiment.task", *sorted(modules)])
        _start_server()
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=init_worker)


def stop_process_pool(pool: Executor) -> None:
    """End the workers without waiting for the chunks that they are in."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        with contextlib.suppress(OSError, AttributeError):
            process.kill()
    # With its workers gone the pool has nothing to wait for but its own bookkeeping.
    pool.shutdown(wait=True, cancel_futures=True)


def init_worker() -> None:
    """Leave interrupts to the parent, and end when the parent is gone, however that died."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _start_server() -> None:
    """Start the fork server with interrupts blocked: while it imports, it would answer one with a traceback."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # or it would be started within, and let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the server inherits
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Let interrupts wait until the block ends: a worker that is being started must be known first."""
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
