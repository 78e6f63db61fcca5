"""Processes and memory: forks, threads of numerical libraries, freed memory, and garbage collection."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, ForkProcess
    from multiprocessing.sharedctypes import Synchronized

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_max_forks() -> int:
    """Return how many copies of this process may work beside it.

    Copies need no second reading of data and no second import, but copying a process is safe only on Linux,
    and only without other threads of Python, which could hold locks that no copy would ever release.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    return len(os.sched_getaffinity(0)) - 1


def map_in_forks(
    function: Callable[[Item], Result], items: Sequence[Item], n_copies: int | None = None
) -> list[Result]:
    """Return the results of a function for all items, in their order.

    This process and its copies each take the next item until none is left. Items of a copy that ends early are
    computed here, so the results never depend on the number of copies.

    Parameters
    ----------
    function : callable
        A function of one item. Only its result counts: whatever else it changes is lost in a copy.
    items : sequence
        The items.
    n_copies : int or None, default=None
        How many copies to make; None for as many as `count_max_forks` allows.

    Returns
    -------
    list
        A result for each item.
    """
    n_copies = min(count_max_forks() if n_copies is None else n_copies, len(items) - 1)
    if n_copies < 1:
        return [function(item) for item in items]
    context = multiprocessing.get_context("fork")
    counter = context.Value("q", 0)
    copies = [_start_copy(context, function, items, counter) for _ in range(n_copies)]
    try:
        found = _take_items(function, items, counter)
        for _, receiver in copies:
            try:
                found |= receiver.recv()
            except EOFError:
                continue
    finally:
        for process, receiver in copies:
            receiver.close()
            process.kill()
            process.join()
    return [found[i] if i in found else function(item) for i, item in enumerate(items)]


def _start_copy(
    context: ForkContext, function: Callable, items: Sequence, counter: Synchronized
) -> tuple[ForkProcess, Connection]:
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(function, items, counter, sender), daemon=True)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the copy ignores it
    try:
        with warnings.catch_warnings():
            # Python counts the idle threads of BLAS, too, which BLAS itself prepares for a copy.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    sender.close()
    return process, receiver


def _work(function: Callable, items: Sequence, counter: Synchronized, sender: Connection) -> None:
    """Send the results of the items that a copy takes; where one fails, send none, as it then fails here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process it was copied from hears it and ends the copy
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
    """Limit every process to one thread; call before numpy is imported."""
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


# Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they hold little memory. As a side effect,
# glibc maps every array above 128 KiB again, and clears its pages, for each fit: 12 % of the time of Table II.

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # constants from glibc's malloc.h
KEPT_BYTES = 128 << 20  # at the top of the heap, before it shrinks
MAPPED_BYTES = 32 << 20  # the largest that glibc allows, which it reaches by itself if it may adapt
DEFAULT_BYTES = 128 << 10  # of both, if nothing else is set


def keep_freed_memory() -> bool:
    """Let this process keep freed memory, and return whether its allocator can (glibc's can)."""
    return _set_thresholds(KEPT_BYTES, MAPPED_BYTES)


def release_freed_memory() -> bool:
    """Return to the thresholds that this process was started with, and release free memory."""
    started_with = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    trim = int(started_with) if started_with.isdecimal() else DEFAULT_BYTES
    return _set_thresholds(trim, DEFAULT_BYTES) and bool(ctypes.CDLL(None).malloc_trim(0) >= 0)


def _set_thresholds(trim: int, mapped: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):  # musl
        return False
    return bool(library.mallopt(TRIM_THRESHOLD, trim)) and bool(library.mallopt(MMAP_THRESHOLD, mapped))


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Do not look for garbage while so much is made that looking through it takes long.

    Nor right after, which would be the same search put off: what was made counts as old, as if it had been
    looked through, and is searched when Python next searches all there is.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # what others, or Python 3.12, set aside stays there
                gc.freeze()
                gc.unfreeze()
            gc.enable()
