"""A host of a cluster under attack: a program that has imported everything and forks schedulers, workers and clients.

It may live in a network namespace. Started as `python cluster_host.py NAME ADDRESS FOLDER`, it reads a JSON list a
line, what to start and its arguments, and answers each with the id of the process.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

for folder in (Path(__file__).resolve().parents[2], Path(__file__).resolve().parents[1]):
    sys.path.insert(0, str(folder))
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

CLONE_NEWUTS = 0x04000000
SCHEDULER_PORT = 8786


async def run_scheduler(address: str) -> None:
    """Schedule until killed."""
    from distributed import Scheduler

    async with Scheduler(host=address, port=SCHEDULER_PORT, dashboard=False) as scheduler:
        await scheduler.finished()


async def run_worker(address: str, scheduler: str, folder: str) -> None:
    """Work until killed, or until the scheduler is gone."""
    from distributed import Worker

    async with Worker(
        scheduler, host=address, nthreads=1, local_directory=folder, death_timeout=30, dashboard=False
    ) as worker:
        await worker.finished()


def run_client(folder: str, arguments: list[str]) -> None:
    """Run a command of zoloss with its output in files."""
    os.chdir(folder)
    for number, name in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = ["zoloss", *arguments]
    from zoloss_cli.__main__ import main

    main()


def fork(run: Callable[[], object], folder: str) -> int:
    """Start a process of its own, and return its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log = os.open(Path(folder) / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(log, number)
        run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise AssertionError("a fork never gets here")


def main() -> None:
    """Answer until the input ends."""
    name, address, folder = sys.argv[1:]
    if ctypes.CDLL(None).unshare(CLONE_NEWUTS) == 0:
        ctypes.CDLL(None).sethostname(name.encode(), len(name))
    import distributed  # noqa: F401

    from torture.fuzzing import import_everything
    from zoloss_cli.experiment.executors import dask_cluster, dask_fit, dask_worker  # noqa: F401

    import_everything()
    print("ready", flush=True)
    for line in sys.stdin:
        what, *rest = json.loads(line)
        runs: dict[str, Callable[[], object]] = {
            "scheduler": lambda: asyncio.run(run_scheduler(address)),
            "worker": lambda: asyncio.run(run_worker(address, rest[0], folder)),
            "client": lambda: run_client(rest[0], rest[1]),
            "wait": lambda: None,
        }
        if what == "wait":  # for the end of a process
            pid, status = os.waitpid(rest[0], os.WNOHANG)
            print(json.dumps(os.waitstatus_to_exitcode(status) if pid else None), flush=True)
        else:
            print(fork(runs[what], folder), flush=True)


if __name__ == "__main__":
    main()
