"""Code that runs on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numba
from distributed import WorkerPlugin
from threadpoolctl import threadpool_limits

from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.read import receive_file
from zoloss_cli.errors import ClusterError, DataError
from zoloss_cli.experiment.fitting import allow_planned_code
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.run_bundle import RunBundle, collect_versions, explain_differences, list_differences
from zoloss_cli.experiment.task import ChunkOutput, run_tasks
from zoloss_cli.experiment.warming import compile_for_cells

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


def receive_bundle(bundle: RunBundle) -> None:
    """Store a bundle and compile kernels; problems are left to the first chunk, which reports to the client."""
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
    with _one_at_a_time, threadpool_limits(1):
        records = run_tasks(cell, _list_while_wanted(name, splits), seconds)
    return ChunkOutput(records, socket.gethostname())


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
