"""Interruptible waiting, forks, and the threads of numerical libraries."""

from __future__ import annotations

import contextvars
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, ForkProcess
    from multiprocessing.sharedctypes import Synchronized

Item = TypeVar("Item")
Result = TypeVar("Result")

POLL_SECONDS = 0.05

_abandoned: list[threading.Thread] = []


def run_interruptibly(compute: Callable[[], Result], on_poll: Callable[[], object] | None = None) -> Result:
    """Return the result of `compute`, or raise its exception; Ctrl-C interrupts the wait.

    Compiled code handles no signals, so it runs in a daemon thread, while this thread polls.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(compute())
        except BaseException as error:
            errors.append(error)

    # In a copy of this context, since context variables hold settings such as the code policy.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if on_poll is not None:
                on_poll()
    except BaseException:
        _abandoned.append(thread)
        raise
    if errors:
        raise errors[0]
    return results[0]


def has_abandoned_threads() -> bool:
    """Return whether an abandoned computation is still running: Python must not wait for it at exit."""
    return any(thread.is_alive() for thread in _abandoned)


def count_max_forks() -> int:
    """Return how many forks may run beside this process.

    A fork inherits imports and data, but is safe only on Linux, and only without other Python threads, whose
    locks would never be released in the fork.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    return len(os.sched_getaffinity(0)) - 1


def map_in_forks(
    function: Callable[[Item], Result], items: Sequence[Item], n_forks: int | None = None
) -> list[Result]:
    """Return the results of a function for all items, in their order.

    This process and its forks each take the next item until none is left. Side effects in a fork are discarded,
    and items of a fork that dies are computed here, so results never depend on the number of forks.
    """
    n_forks = min(count_max_forks() if n_forks is None else n_forks, len(items) - 1)
    if n_forks < 1:
        return [function(item) for item in items]
    import multiprocessing  # late, since every command imports this module

    context = multiprocessing.get_context("fork")
    counter = context.Value("q", 0)
    forks = [_start_fork(context, function, items, counter) for _ in range(n_forks)]
    try:
        found = _take_items(function, items, counter)
        for _, receiver in forks:
            try:
                found |= receiver.recv()
            except EOFError:
                continue
    finally:
        for process, receiver in forks:
            receiver.close()
            process.kill()
            process.join()
    return [found[i] if i in found else function(item) for i, item in enumerate(items)]


def _start_fork(
    context: ForkContext, function: Callable, items: Sequence, counter: Synchronized
) -> tuple[ForkProcess, Connection]:
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run_fork, args=(function, items, counter, sender), daemon=True)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the fork ignores it
    try:
        with warnings.catch_warnings():
            # Python counts the idle threads of BLAS, too, which BLAS itself prepares for a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    sender.close()
    return process, receiver


def _run_fork(function: Callable, items: Sequence, counter: Synchronized, sender: Connection) -> None:
    """Send the results of the items that a fork takes, or none on an error, which then recurs in the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and kills the fork
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        sender.send(_take_items(function, items, counter))
    except BaseException:
        os._exit(1)


def _take_items(function: Callable, items: Sequence, counter: Synchronized) -> dict[int, Any]:
    found: dict[int, Any] = {}
    while True:
        with counter.get_lock():
            i = counter.value
            counter.value = i + 1
        if i >= len(items):
            return found
        found[i] = function(items[i])


THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def limit_threads() -> None:
    """Limit numerical libraries to one thread per process; call before numpy is imported."""
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
