"""Compile kernels once per host: the first worker compiles, and leaves a marker while it lives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numba
from distributed import WorkerPlugin
from numba.np.ufunc import parallel

from zoloss_cli.data.csv_files import receive_file
from zoloss_cli.data.dataset import load_data
from zoloss_cli.errors import ClusterError, DataError
from zoloss_cli.experiment.executors.base import ChunkOutput
from zoloss_cli.experiment.executors.pool import compile_for_cells
from zoloss_cli.experiment.executors.run_bundle import (
    RunPackage,
    collect_versions,
    leave_host,
    list_differences,
    take_turn_on_host,
)
from zoloss_cli.experiment.fitting import allow_planned_code
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.registry import make_learner
from zoloss_cli.utils.processes import keep_freed_memory, limit_threads, release_freed_memory

_packages: dict[str, RunPackage] = {}
_one_at_a_time = threading.Lock()  # for workers with several threads: fits share warnings, caches and kernels


class PackageMissingError(Exception):
    """A worker does not have the package of a chunk: it was not sent, or its run has ended."""


class PackagePlugin(WorkerPlugin):
    """Give every worker, including later ones, the package of a run before its first chunk.

    Parameters
    ----------
    package : RunPackage
        The package.
    """

    def __init__(self, package: RunPackage):
        self.package = package
        self.name = package.name

    async def setup(self, worker: Any) -> None:
        """Receive the package, in a thread: a worker that compiles must keep answering its scheduler."""
        await asyncio.to_thread(receive_package, self.package)

    def teardown(self, worker: Any) -> None:
        """Forget the package; its chunks end after their current task."""
        _packages.pop(self.name, None)
        leave_host(self.name)
        if not _packages:  # others use the cluster, too
            release_freed_memory()


def receive_package(package: RunPackage) -> None:
    """Keep a package, limit threads, keep freed memory, and compile kernels unless this host already has.

    Problems are not reported here but by the first chunk, which the client hears about.
    """
    limit_worker_threads()
    keep_freed_memory()
    for file in package.files:
        receive_file(file)
    _packages[package.name] = package
    if package.versions is not None and package.versions != collect_versions():
        return
    load_learners(package)
    with take_turn_on_host(package.name) as is_first:
        if is_first:
            warm_up_package(package)


def load_learners(package: RunPackage) -> None:
    """Import what the cells of a package need: all workers of a host at the same time, before one compiles."""
    for spec in {cell.learner.source: cell.learner for cell in package.cells.values()}.values():
        with allow_planned_code(spec), contextlib.suppress(Exception):  # a task will report what is wrong
            make_learner(spec.source, spec.parameters)


def warm_up_package(package: RunPackage) -> None:
    """Compile what the cells of a package need."""
    with _one_at_a_time:
        for cell in package.cells.values():
            with allow_planned_code(cell.learner):
                compile_for_cells([cell])


def limit_worker_threads() -> None:
    """Limit numerical libraries to one thread, including those already loaded."""
    if parallel._is_initialized:  # by other code: numba refuses another number from now on
        numba.set_num_threads(1)
        os.environ.setdefault("NUMBA_NUM_THREADS", str(parallel.NUM_THREADS))
    limit_threads()
    if not parallel._is_initialized:
        numba.config.reload_config()
        parallel.NUM_THREADS = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def run_chunk_on_worker(name: str, key: str, splits: list[int], seconds: float) -> ChunkOutput:
    """Return the records of a chunk.

    Parameters
    ----------
    name : str
        The package's name.
    key : str
        The cell's key.
    splits : list of int
        The splits.
    seconds : float
        Time after which no further task starts.

    Raises
    ------
    PackageMissingError
        If this worker does not have the package, or no longer has it.
    ClusterError
        If something here differs from where the run was planned.
    """
    cell = _find_cell(name, key)
    with _one_at_a_time:
        records = run_tasks(cell, _list_while_wanted(name, splits), seconds)
    return ChunkOutput(records, socket.gethostname())


def _list_while_wanted(name: str, splits: list[int]) -> Iterator[int]:
    """Yield splits as long as the run of a package continues."""
    for split in splits:
        if name not in _packages:
            raise PackageMissingError(name)
        yield split


def _find_cell(name: str, key: str) -> Cell:
    """Return a cell of a package, if this worker would produce the same numbers as the client."""
    package = _packages.get(name)
    if package is None:
        raise PackageMissingError(name)
    host, cell = socket.gethostname(), package.cells[key]
    if package.versions is not None and (
        differences := list_differences(host, collect_versions(), package.versions)
    ):
        raise ClusterError(explain_differences(differences))
    try:
        is_same = cell.key == key
        load_data(cell.data)  # cached for the tasks
    except (DataError, OSError) as error:  # an installed file, since others were sent
        raise ClusterError(f"{host}: {error}; install the same zoloss and the same plug-ins there") from None
    if not is_same:
        raise ClusterError(
            f"{host}: {cell.learner.label} on {cell.data.name} is not what was planned here: data or an "
            "algorithm differ; install the same zoloss and the same plug-ins there"
        )
    return cell


def explain_differences(differences: list[str]) -> str:
    """Return a line for each difference of versions, with what to do."""
    remedy = "install the same there, or go on with --allow-versions"
    return "\n".join(f"{each}: {remedy}" for each in differences)
