"""Let the workers of a scheduler load what learners need while the client still reads its config.

A fresh worker takes one to two seconds for scikit-learn and numba: about as long as the client takes for the
same and for its plan.
"""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

from zoloss_cli.config.cluster_spec import parse_scheduler
from zoloss_cli.experiment.executors.dask_connection import check_dask, find_address, quiet_dask

GREETING_SECONDS = 1.0  # for a scheduler that does not answer: the run waits longer and reports it
# Text, since a worker may have another Python; a thread, since a worker must keep answering while it imports.
LOAD = """
import threading
def load():
    try:
        from zoloss_cli.experiment.executors import preload
        preload.import_learners()
    except Exception:  # the run says what a worker lacks
        pass
threading.Thread(target=load, daemon=True, name="zoloss-imports").start()
"""


def begin_worker_imports(scheduler: str) -> None:
    """Let the workers of a scheduler start importing; problems are left to the run, which asks again.

    Parameters
    ----------
    scheduler : str
        Its address, or its scheduler file.
    """
    with contextlib.suppress(Exception):
        check_dask()
        quiet_dask()
        address = find_address(parse_scheduler(scheduler).scheduler or "")
        with ThreadPoolExecutor(1) as pool:  # a notebook already has an event loop in this thread
            pool.submit(asyncio.run, _tell_workers(address)).result()


async def _tell_workers(address: str) -> None:
    from distributed import rpc
    from distributed.protocol.pickle import dumps
    from distributed.security import Security

    keys = Security().get_connection_args("client")
    message = {"op": "run", "function": dumps(exec), "args": dumps((LOAD, {})), "kwargs": dumps({})}
    async with asyncio.timeout(GREETING_SECONDS):
        async with rpc(address, timeout=GREETING_SECONDS, connection_args=keys) as to_scheduler:
            await to_scheduler.broadcast(msg=message, on_error="return_pickle")
