"""The executor for many machines: chunks are tasks of a Dask cluster, and their records come back here."""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from typing import Any

from zoloss_cli.config.cluster_spec import ClusterSettings
from zoloss_cli.errors import RunError, ZolossError
from zoloss_cli.experiment.executors.base import ChunkLostError, ChunkOutput, Note, TaskExecutor
from zoloss_cli.experiment.executors.dask_connection import KEPT, Connection
from zoloss_cli.experiment.executors.dask_watch import ANSWER_SECONDS, WorkerWatch
from zoloss_cli.experiment.executors.host_turns import leave_host
from zoloss_cli.experiment.executors.package import RunPackage, build_package
from zoloss_cli.experiment.executors.versions import collect_versions
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.results.manifest import ClusterInfo

BATCH_SECONDS = 0.05  # maximum time over which results are fetched together
CHUNK_WAIT_SECONDS = 0.001  # of that per running chunk: few workers have little to do meanwhile
MAX_FETCHES = 3  # of the same results, while workers that hold them die


@dataclass(frozen=True)
class DaskWorkers:
    """Start the executor of a cluster.

    Attributes
    ----------
    settings : ClusterSettings
        Which cluster.
    allow_versions : bool
        Whether the package versions of workers may differ from those on this machine.
    """

    settings: ClusterSettings
    allow_versions: bool = False

    def __call__(self, note: Note) -> TaskExecutor:
        """Connect, and compare versions with the workers that are present."""
        connection = Connection(self.settings, note, self.allow_versions)
        executor = DaskExecutor(connection, note, self.allow_versions)
        executor.open()
        return executor


class DaskExecutor(TaskExecutor):
    """A Dask cluster. If a worker dies, Dask gives its chunks to others, so that other chunks continue.

    Parameters
    ----------
    connection : Connection
        The client.
    note : callable
        Takes notes for the user.
    allow_versions : bool
        Whether the package versions of workers may differ from those on this machine.
    """

    def __init__(self, connection: Connection, note: Note, allow_versions: bool):
        self.connection, self.note, self.allow_versions = connection, note, allow_versions
        self._package: RunPackage | None = None
        self._under_way: dict[str, tuple[Any, Future[ChunkOutput]]] = {}
        self._unsent: list[tuple[str, str, list[int], float]] = []
        self._watch = WorkerWatch(connection, note)
        self._differences: list[str] = []
        self._numbers = itertools.count()
        self._id = uuid.uuid4().hex[:12]
        self._is_closed = self._lacks_package = False

    def open(self) -> None:
        """Connect, and compare versions."""
        self.connection.open()
        self._differences += self.connection.differences
        try:
            self._watch.look()
            self._compare_versions()
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._deliver, daemon=True, name="zoloss-records").start()

    # -- workers ------------------------------------------------------------------------------------

    @property
    def n_workers(self) -> int:
        """Return how many workers there are, or will be once there is work."""
        return max(len(self._watch.workers), self.connection.settings.n_wanted, 1)

    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Wait for a first worker, and send what all workers need."""
        versions = None if self.allow_versions else collect_versions()
        self._package = build_package(cells, versions)
        if self.connection.cluster is None:
            while not self._watch.workers:
                self.check()
                time.sleep(0.05)
            self._compare_versions()
        self._send_package()
        dashboard = self.connection.find_dashboard()
        where = f"; dashboard: {dashboard}" if dashboard else ""
        note(f"cluster {self.connection.address}: {self.describe_workers() or 'no worker yet'}{where}")

    def check(self) -> None:
        """Check the connection and the workers now and then."""
        if not self._watch.is_due():
            return
        if not self.connection.is_alive:
            self._restore()
        self._watch.look()
        self._watch.refuse_emptiness()

    def describe_workers(self) -> str:
        """Return how many workers there are, and on how many hosts."""
        return self._watch.description

    def describe_cluster(self) -> ClusterInfo:
        """Return the scheduler and its version, and the allowed differences."""
        import distributed

        return ClusterInfo(self.connection.address, distributed.__version__, tuple(self._differences))

    def _compare_versions(self) -> None:
        from zoloss_cli.experiment.executors.dask_fit import check_workers

        if self._watch.workers and self.connection.client is not None:
            found = check_workers(self.connection.client, self.allow_versions)
            self._differences += [each for each in found if each not in self._differences]

    def _send_package(self) -> None:
        """Send the package to all current and future workers."""
        from zoloss_cli.experiment.executors.dask_worker import PackagePlugin

        if self._package is not None and self.connection.client is not None:
            self.connection.client.register_plugin(PackagePlugin(self._package), name=self._package.name)

    def _restore(self) -> None:
        """Treat all running chunks as lost, and wait for the scheduler."""
        for key in list(self._under_way):
            self._resolve(key, ChunkLostError())
        self._unsent = []
        self._watch.forget()
        self.connection.restore()
        with contextlib.suppress(OSError, RuntimeError):
            self._send_package()

    # -- chunks -------------------------------------------------------------------------------------

    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Accept a chunk, which becomes a Dask task of its own and is sent together with others."""
        self.check()
        key = f"zoloss-{self._id}-{next(self._numbers)}"
        result: Future[ChunkOutput] = Future()
        self._under_way[key] = None, result
        self._unsent.append((key, cell.key, splits, seconds))
        return result

    def flush(self) -> None:
        """Send the submitted chunks."""

        def run_chunk(name: str, key: str, splits: list[int], seconds: float) -> ChunkOutput:
            # A nested function is sent as code: the scheduler, which unpickles it, need not import zoloss with
            # numba and everything else, nor even have it.
            from zoloss_cli.experiment.executors.dask_worker import run_chunk_on_worker

            return run_chunk_on_worker(name, key, splits, seconds)

        unsent, self._unsent = self._unsent, []
        if not unsent:
            return
        keys, *chunks = map(list, zip(*unsent, strict=True))
        try:
            if self._lacks_package:
                self._lacks_package = False
                self._send_package()
            assert self._package is not None, "prepared before"
            assert self.connection.client is not None, "connected before"
            names = [self._package.name] * len(keys)
            sent = self.connection.client.map(run_chunk, names, *chunks, key=keys, pure=False)
        except (OSError, RuntimeError, AttributeError):  # the client has just lost its connection
            self._watch.forget()
            time.sleep(BATCH_SECONDS)
            for key in keys:
                self._resolve(key, ChunkLostError())
            return
        for key, remote in zip(keys, sent, strict=True):
            self._under_way[key] = remote, self._under_way[key][1]

    def recover(self) -> bool:
        """Do nothing: others continue, and a nanny restarts the worker."""
        return False

    def close(self) -> None:
        """Cancel what is running, leave no trace on the cluster, and close a cluster that was started here."""
        if self._is_closed:
            return
        self._is_closed = True
        client = self.connection.client
        if client is not None and self.connection.is_alive:
            with contextlib.suppress(Exception):
                client.cancel([remote for remote, _ in self._under_way.values() if remote], force=True)
            if self._package is not None:
                with contextlib.suppress(Exception):
                    client.unregister_worker_plugin(self._package.name)
        self._under_way.clear()
        self.connection.close()
        leave_host()  # workers on this one may have been killed

    def _deliver(self) -> None:
        """Fetch finished results, in a separate thread.

        Checking all chunks now and then costs less than a call for each of them, and so does one reply for many
        of them; meanwhile, workers have a chunk waiting.
        """
        while not self._is_closed:
            time.sleep(min(BATCH_SECONDS, CHUNK_WAIT_SECONDS * (1 + len(self._under_way))))
            statuses = {key: remote.status for key, (remote, _) in list(self._under_way.items()) if remote}
            finished = [key for key, status in statuses.items() if status == "finished"]
            outputs = self._fetch(finished) if finished else {}
            for key in finished:
                self._resolve(key, outputs.get(key) or ChunkLostError())
            for key, status in statuses.items():
                if status not in ("finished", "pending") and key in self._under_way:
                    self._resolve(key, self._translate_failure(self._under_way[key][0]))

    def _fetch(self, keys: list[str]) -> dict[str, Any]:
        """Return the results of finished tasks, without those lost since then."""
        for _ in range(MAX_FETCHES):
            try:
                ask: Any = self.connection.client.scheduler  # type: ignore[union-attr]
                answer = self.connection.client.sync(ask.gather, keys=keys)  # type: ignore[union-attr]
            except Exception:  # the connection was just lost
                return {}
            if answer["status"] == "OK":
                return answer["data"]
            keys = [key for key in keys if key not in answer["keys"]]
        return {}

    def _resolve(self, key: str, outcome: ChunkOutput | Exception) -> None:
        """Resolve the future of a chunk, once."""
        _, result = self._under_way.pop(key, (None, None))
        if result is None:
            return
        if isinstance(outcome, Exception):
            result.set_exception(outcome)
        else:
            result.set_result(ChunkOutput(*outcome))

    def _translate_failure(self, remote: Any) -> Exception:
        """Return what the failure of a Dask task means for its chunk."""
        from distributed import KilledWorker

        from zoloss_cli.experiment.executors.dask_worker import PackageMissingError

        if remote.status != "error":
            return ChunkLostError()
        try:
            error = remote.exception(timeout=ANSWER_SECONDS)
        except Exception:  # the reason was lost with the connection: the chunk runs again
            return ChunkLostError()
        if isinstance(error, KilledWorker):
            return BrokenExecutor(str(error))
        if isinstance(error, PackageMissingError):
            self._lacks_package = True  # for example, another run with the same content has ended
            return ChunkLostError()
        if isinstance(error, ZolossError):
            return error
        return RunError(
            f"a worker failed ({type(error).__name__}: {' '.join(str(error).split())[:300]}); {KEPT}"
        )
