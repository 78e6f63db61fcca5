"""Code that runs on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numba
from distributed import WorkerPlugin
from threadpoolctl import ThreadpoolController

from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.read import receive_file
from zoloss_cli.errors import ClusterError, DataError
from zoloss_cli.experiment.fitting import allow_planned_code
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.run_bundle import RunBundle, collect_versions, explain_differences, list_differences
from zoloss_cli.experiment.task import ChunkOutput, run_tasks
from zoloss_cli.experiment.warming import compile_for_cells

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # options of glibc's mallopt
KEPT_BYTES, DASK_KEPT_BYTES = 128 << 20, 64 << 10
_bundles: dict[str, RunBundle] = {}
_one_at_a_time = threading.Lock()  # for workers with several threads: fits share warnings, caches and kernels


class BundleMissingError(Exception):
    """A worker does not have the bundle of a chunk: it was not sent, or its run has ended."""


class BundlePlugin(WorkerPlugin):
    """Give every worker, including later ones, the bundle of a run before its first chunk."""

    idempotent = True  # registered again after a reconnect, it is ignored by a scheduler that has it

    def __init__(self, bundle: RunBundle):
        self.bundle = bundle
        self.name = bundle.name

    async def setup(self, worker: Any) -> None:
        """Receive the bundle in a thread, so that a compiling worker keeps answering its scheduler."""
        await asyncio.to_thread(receive_bundle, self.bundle)

    def teardown(self, worker: Any) -> None:
        """Drop the bundle; its chunks end after their current task."""
        _bundles.pop(self.name, None)
        if not _bundles:
            keep_freed_bytes(DASK_KEPT_BYTES)


def keep_freed_bytes(count: int) -> None:
    """Let glibc keep this many freed bytes in the process.

    With Dask's setting, arrays are returned to the system and cleared again in each fit, which takes 8 % of the
    time of Table II (`tests/bench/test_cluster_speed.py`).
    """
    with contextlib.suppress(AttributeError, OSError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(TRIM_THRESHOLD, count)
        libc.mallopt(MMAP_THRESHOLD, min(count, 32 << 20))  # the largest that glibc allows
        libc.malloc_trim(0)


def receive_bundle(bundle: RunBundle) -> None:
    """Store a bundle and compile kernels; problems are left to the first chunk, which reports to the client."""
    keep_freed_bytes(KEPT_BYTES)
    for file in bundle.files:
        receive_file(file)
    _bundles[bundle.name] = bundle
    if bundle.versions is None or bundle.versions == collect_versions():
        with _one_at_a_time:
            for cell in bundle.cells.values():
                with allow_planned_code(cell.learner):
                    compile_for_cells([cell])


def run_chunk_on_worker(name: str, key: str, splits: list[int], seconds: float) -> ChunkOutput:
    """Return the records of a chunk, given by the name of its bundle and the key of its cell.

    Raise BundleMissingError if this worker does not have the bundle, and ClusterError if its data, algorithms
    or versions differ from the client's.
    """
    cell = _find_cell(name, key)
    numba.set_num_threads(1)  # first, since it loads a threading library, which is then limited, too
    with _one_at_a_time, _find_thread_pools(name).limit(limits=1):
        records = run_tasks(cell, _list_while_wanted(name, splits), seconds)
    return ChunkOutput(records, socket.gethostname())


@functools.lru_cache(maxsize=1)
def _find_thread_pools(name: str) -> ThreadpoolController:
    """Return the thread pools of all libraries that are loaded at the first chunk of a bundle."""
    return ThreadpoolController()


def _list_while_wanted(name: str, splits: list[int]) -> Iterator[int]:
    """Yield splits as long as the run of a bundle continues."""
    for split in splits:
        if name not in _bundles:
            raise BundleMissingError(name)
        yield split


def _find_cell(name: str, key: str) -> Cell:
    """Return a cell of a bundle, if this worker would produce the same numbers as the client."""
    bundle = _bundles.get(name)
    if bundle is None:
        raise BundleMissingError(name)
    cell, where = bundle.cells[key], socket.gethostname()
    remedy = "install the same zoloss and the same plug-ins there"
    if bundle.versions is not None and (differences := list_differences(bundle.versions)):
        raise ClusterError(explain_differences(differences))
    try:
        is_same = cell.key == key
        load_data(cell.data)  # cached for the tasks
    except (DataError, OSError) as error:  # an installed file, since others were sent
        raise ClusterError(f"{where}: {error}; {remedy}") from None
    if not is_same:
        raise ClusterError(
            f"{where}: {cell.learner.label} on {cell.data.name} is not what was planned here: data or an "
            f"algorithm differ; {remedy}"
        )
    return cell
