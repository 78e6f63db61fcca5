"""Hosts of a cluster under attack: a program that has imported everything, and forks processes onto them.

A host is a name, an address and perhaps a network namespace. Started as `python cluster_host.py FOLDER`, it
reads a JSON list a line, the host, what to start and its arguments, and answers with the id of the process.
"""

import asyncio
import ctypes
import functools
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000
SCHEDULER_PORT = 8786


async def run_scheduler(address: str) -> None:
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


def redirect(*names: str, mode: int = os.O_TRUNC) -> None:
    for number, name in enumerate(names, start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | mode, 0o600), number)


def run_client(folder: str, arguments: list[str]) -> None:
    os.chdir(folder)
    redirect(".out", ".err")
    sys.argv = ["zoloss", *arguments]
    from zoloss_cli.__main__ import main

    main()


def fork(run: Callable[[], int | None]) -> int:
    """Start a function in a process and process group of its own, and return its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        code = run() or 0
    except KeyboardInterrupt:  # after the command's own end
        code = 128 + signal.SIGINT
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # also where nothing can be written
            os._exit(code)
    raise AssertionError("a fork never gets here")


def enter(place: dict[str, str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if place["namespace"]:
        handle = os.open(f"/run/netns/{place['namespace']}", os.O_RDONLY)
        assert libc.setns(handle, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    if libc.unshare(CLONE_NEWUTS) == 0:
        libc.sethostname(place["name"].encode(), len(place["name"]))


def run_plainly(folder: str, arguments: list[str]) -> None:
    """Run a command of zoloss whose tasks run in the process itself, one after another."""
    from concurrent.futures import Future

    from zoloss_cli.experiment.pool import PoolExecutor
    from zoloss_cli.experiment.task import run_chunk

    def submit(self, cell, splits, seconds):
        future: Future = Future()
        future.set_result(run_chunk(cell, splits, seconds))
        return future

    PoolExecutor.submit = submit  # type: ignore[method-assign]
    os.environ["SLOW_SECONDS"] = "0"  # nobody is to hit it
    run_client(folder, arguments)


def start(place: dict[str, str], what: str, arguments: list, folder: str) -> None:
    """Be a scheduler, a worker or a client."""
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    redirect(*[str(Path(folder) / "log")] * 2, mode=os.O_APPEND)
    enter(place)
    if what == "scheduler":
        asyncio.run(run_scheduler(place["address"]))
    elif what == "worker":
        asyncio.run(run_worker(place["address"], *arguments, folder))
    else:
        (run_plainly if what == "plain" else run_client)(*arguments)


def find_exit_code(pid: int) -> int | None:
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return -signal.SIGKILL
    return os.waitstatus_to_exitcode(status) if found else None


def main() -> None:
    folder = sys.argv[1]
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    import distributed  # noqa: F401
    import sklearn.linear_model  # noqa: F401

    from zoloss_cli.api import experiments  # noqa: F401
    from zoloss_cli.cli import _progress  # noqa: F401
    from zoloss_cli.experiment import dask, dask_worker  # noqa: F401
    from zoloss_cli.learners.linear import fld  # noqa: F401

    print("ready", flush=True)
    for line in sys.stdin:
        place, what, *rest = json.loads(line)
        if what == "wait":  # for the end of a process
            print(json.dumps(find_exit_code(rest[0])), flush=True)
        else:
            print(fork(functools.partial(start, place, what, rest, folder)), flush=True)


if __name__ == "__main__":
    main()
