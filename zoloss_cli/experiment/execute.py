"""Where the work runs: units mapped over an executor with the interface of concurrent.futures.

The default is a process pool. Units of a cell travel in chunks sized by their measured time, so that
scheduling stays below a percent; results are stored as they come back, so that nothing finished is lost.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field

from zoloss_cli.errors import RunError
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.task import run_units
from zoloss_cli.registry import LEARNERS

CHUNK_SECONDS = 0.5
LARGEST_CHUNK = 200
MOST_DEATHS = 10
DIED = "its worker process died (out of memory?)"
# Each worker has one chunk to work on and one waiting.
CHUNKS_A_WORKER = 2
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass
class Work:
    """A cell's splits still to run, and what is known of their cost."""

    cell: Cell
    todo: deque[int]
    seconds: float = 0.0
    timed: int = 0

    @property
    def mean(self) -> float | None:
        return self.seconds / self.timed if self.timed else None

    def take(self) -> list[int]:
        size = 1 if not self.timed else max(1, min(LARGEST_CHUNK, int(CHUNK_SECONDS / max(self.mean, 1e-6))))
        return [self.todo.popleft() for _ in range(min(size, len(self.todo)))]


@dataclass
class Outcome:
    """What came back for a chunk."""

    work: Work
    rows: list[dict] = field(default_factory=list)


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """A pool of workers forked from a clean server that has imported the learners once."""
    context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        # Other packages' learners are imported by the units that use them: a broken one ends the server.
        modules = {entry.target.split(":")[0] for entry in LEARNERS.builtin.values()}
        context.set_forkserver_preload(["zoloss_cli.experiment.task", *sorted(modules)])
        _start_server()
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_follow_the_parent)


def _start_server() -> None:
    """Start the server with interrupts held back: while it imports, it would answer one with a traceback."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # or it would be started within, and let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the server inherits
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _undisturbed():
    """Interrupts wait until a worker that is being started is known, and can be ended with the others."""
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
            if callable(before[number]):
                before[number](number, frame)
            elif before[number] == signal.SIG_DFL:
                signal.raise_signal(number)


def _follow_the_parent() -> None:
    """A worker leaves interrupts to its parent, and ends when the parent is gone, however that died."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def one_blas_thread() -> None:
    """Workers are the parallelism; set before numpy is imported anywhere."""
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")


def execute(
    works: list[Work], jobs: int, make_executor: Callable[[int], Executor] = process_pool
) -> Iterator[Outcome]:
    """Run all units and yield rows as chunks finish. Closing the iterator stops the workers at once.

    If a worker dies, the chunks that were under way run again one unit at a time, so that the unit
    that kills its worker is found, reported as failed, and takes no other with it.
    """
    queue = deque(work for work in works if work.todo)
    suspects: deque[tuple[Work, list[int]]] = deque()  # to run one at a time, with nothing beside them
    under_way: dict[Future, tuple[Work, list[int]]] = {}
    pool = make_executor(jobs)
    isolated = False
    deaths = 0  # in a row
    try:
        while queue or suspects or under_way:
            try:
                while (suspects and not under_way) or (
                    queue and not suspects and len(under_way) < jobs * CHUNKS_A_WORKER
                ):
                    isolated = bool(suspects)
                    if isolated:
                        work, splits = suspects.popleft()
                    else:
                        work = queue[0]
                        splits = work.take()
                        if not work.todo:
                            queue.popleft()
                    try:
                        with _undisturbed():
                            under_way[pool.submit(run_units, work.cell, splits)] = (work, splits)
                    except BrokenExecutor:
                        suspects.extend((work, [k]) for k in splits)
                        raise
                    if isolated:
                        break
                finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in finished:
                    rows = future.result()
                    deaths = 0
                    work, _ = under_way.pop(future)
                    for row in rows:
                        work.seconds += row["s"]
                        work.timed += 1
                    yield Outcome(work, rows)
            except BrokenExecutor:
                stop_now(pool)
                deaths += 1
                if deaths > MOST_DEATHS:
                    raise RunError(
                        f"worker processes die as they start ({deaths} in a row); what is finished is kept"
                    ) from None
                for work, splits in under_way.values():
                    if isolated:
                        yield Outcome(work, [{"k": splits[0], "failed": DIED, "s": 0.0}])
                    else:
                        suspects.extend((work, [k]) for k in splits)
                under_way = {}
                pool = make_executor(jobs)
    finally:
        stop_now(pool)


def stop_now(pool: Executor) -> None:
    """End the workers without waiting for the chunks that they are in."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        with contextlib.suppress(OSError, AttributeError):
            process.kill()
    # With its workers gone the pool has nothing to wait for but its own bookkeeping.
    pool.shutdown(wait=True, cancel_futures=True)


class Remaining:
    """Time left, from the cost of what has been timed: the cell itself, else its learner, else all."""

    def __init__(self, works: list[Work], jobs: int):
        self.works, self.jobs = works, jobs

    def seconds(self) -> float | None:
        by_learner: dict[str, list[float]] = {}
        for work in self.works:
            if work.timed:
                total = by_learner.setdefault(work.cell.learner.label, [0.0, 0])
                total[0] += work.seconds
                total[1] += work.timed
        if not by_learner:
            return None
        overall = sum(t for t, _ in by_learner.values()) / sum(n for _, n in by_learner.values())
        left = 0.0
        for work in self.works:
            known = by_learner.get(work.cell.learner.label)
            mean = work.mean if work.timed else (known[0] / known[1] if known else overall)
            left += len(work.todo) * mean
        return left / self.jobs


def compile_kernels(cells: list[Cell]) -> float:
    """Warm every learner up in this process, so that workers find compiled kernels; returns seconds."""
    from zoloss_cli.experiment.fitting import warm_up
    from zoloss_cli.experiment.split_data import warm_up_pruning

    start = time.perf_counter()
    for cell in cells:
        for spec in (cell.learner, *cell.learner.tune):
            with _undisturbed():  # a search would take the interrupt as its own, and end with its best so far
                warm_up(spec)
        if cell.prune is not None:
            warm_up_pruning(cell.prune)
    return time.perf_counter() - start
