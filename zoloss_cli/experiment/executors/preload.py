"""What a worker can load at its start, with ``dask worker --preload``, instead of in its first run.

Dask imports this module by name and calls `dask_setup`.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from zoloss_cli.experiment.executors import dask_worker
from zoloss_cli.registry import LEARNERS


def dask_setup(worker: Any) -> None:
    """Limit numerical libraries to one thread, and import the learners.

    Parameters
    ----------
    worker : distributed.Worker
        The worker, which has not started to work.
    """
    import_learners()


def import_learners() -> None:
    """Limit numerical libraries to one thread, and import the learners."""
    dask_worker.limit_worker_threads()
    for module in sorted({entry.target.split(":")[0] for entry in LEARNERS.builtin.values()}):
        with contextlib.suppress(ImportError):  # an optional package is missing: the learner reports it
            importlib.import_module(module)
