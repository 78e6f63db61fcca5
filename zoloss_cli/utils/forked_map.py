"""Apply a function to items on several cores, in copies of this process."""

from __future__ import annotations

import multiprocessing
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


def count_copies() -> int:
    """Return how many copies of this process may work beside it.

    Copies need no second reading of data and no second import, but copying a process is safe only on Linux,
    and only without other threads of Python, which could hold locks that no copy would ever release.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    return len(os.sched_getaffinity(0)) - 1


def map_in_copies(
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
        How many copies to make; None for as many as `count_copies` allows.

    Returns
    -------
    list
        A result for each item.
    """
    n_copies = min(count_copies() if n_copies is None else n_copies, len(items) - 1)
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
