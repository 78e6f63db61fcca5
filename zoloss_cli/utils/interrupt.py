"""Wait for compiled code so that Ctrl-C ends the wait."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.05

Result = TypeVar("Result")
_abandoned: list[threading.Thread] = []


def run_interruptibly(compute: Callable[[], Result], on_poll: Callable[[], object] | None = None) -> Result:
    """Return the result of `compute`, or raise what it raises, and let Ctrl-C end the wait.

    Compiled code handles no signals. `compute` therefore runs in a daemon thread, while this thread waits in
    steps of `POLL_SECONDS`, between which KeyboardInterrupt can be raised.

    Parameters
    ----------
    compute : callable
        The function to run, without arguments.
    on_poll : callable, optional
        Called in this thread after each step of the wait, including the last.

    Returns
    -------
    object
        The result of `compute`.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(compute())
        except BaseException as error:
            errors.append(error)

    # In a copy of this context: what is allowed or watched here also is there.
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
