"""What happens to freed memory: kept by the process for the next array, or returned at once.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they hold little memory. As a side effect,
glibc maps every array above 128 KiB again, and clears its pages, for each fit: 12 % of the time of Table II.
"""

from __future__ import annotations

import ctypes
import os
import sys

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
