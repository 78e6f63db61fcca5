"""Pauses of Python's garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
