"""One thread per process for numerical libraries, since workers are the parallelism."""

from __future__ import annotations

import os

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def limit_threads() -> None:
    """Limit every process to one thread; call before numpy is imported."""
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
