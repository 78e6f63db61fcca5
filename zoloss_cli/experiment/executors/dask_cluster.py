"""The workers of a Dask scheduler: how many and where, which are gone, and whether none is left."""

from __future__ import annotations

import contextlib
import itertools
import math
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zoloss_cli import __version__
from zoloss_cli.config.clusters import ClusterSettings
from zoloss_cli.errors import ClusterError, RunError, ZolossError
from zoloss_cli.experiment.executors.base import ChunkLostError, ChunkOutput, Note, TaskExecutor
from zoloss_cli.experiment.executors.dask_connection import ALLOW, KEPT, Connection
from zoloss_cli.experiment.executors.run_bundle import (
    RunPackage,
    build_package,
    collect_versions,
    leave_host,
    list_differences,
)
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.results.manifest import ClusterInfo
from zoloss_cli.utils.text import format_duration

if TYPE_CHECKING:
    from distributed import Client

REFRESH_SECONDS = 2.0  # between two checks of the workers
ANSWER_SECONDS = 10.0  # for the scheduler to answer


class WorkerWatch:
    """What is known about the workers of a connection.

    Parameters
    ----------
    connection : Connection
        The client.
    note : callable
        Takes notes for the user.

    Attributes
    ----------
    workers : dict of str to int
        The threads of each worker, by its address.
    description : str
        How many there are, and on how many hosts.
    """

    def __init__(self, connection: Connection, note: Note):
        self.connection, self.note = connection, note
        self.workers: dict[str, int] = {}
        self.description = ""
        self._last = ""  # a worker that was there
        self._next_look = self._empty_since = 0.0

    def is_due(self) -> bool:
        """Return whether it is time to check again."""
        return time.monotonic() >= self._next_look

    def forget(self) -> None:
        """Forget everything: the connection was lost."""
        self.workers, self._next_look = {}, 0.0

    def look(self) -> None:
        """Ask the scheduler for its workers, and report which are gone."""
        client, before = self.connection.client, self.workers
        self._next_look = time.monotonic() + REFRESH_SECONDS
        if client is None:
            return
        try:
            ask: Any = client.scheduler
            found = client.sync(ask.ncores, workers=None, callback_timeout=ANSWER_SECONDS)
        except (OSError, TimeoutError, RuntimeError):
            return  # it is busy, or the connection is about to be found lost
        self.workers = dict(found)
        self.description = _count_hosts(found)
        self._last = next(iter(found), self._last)
        if self.connection.cluster is None:
            self._tell_gone([address for address in before if address not in found])
        threads = [address for address, count in found.items() if count > 1 and address not in before]
        if threads:
            self.note(
                f"the worker {threads[0]} has {found[threads[0]]} threads, of which one works: start workers "
                "with --nworkers N --nthreads 1"
            )

    def _tell_gone(self, gone: list[str]) -> None:
        if gone:
            hosts = ", ".join(sorted(set(map(_find_host, gone))))
            is_one, left = len(gone) == 1, len(self.workers)
            subject = "1 worker is" if is_one else f"{len(gone):,} workers are"
            what = f"what {'it' if is_one else 'they'} had {'runs elsewhere' if left else 'waits for another'}"
            self.note(f"{subject} gone ({hosts}), {left:,} left; {what}")

    def refuse_emptiness(self) -> None:
        """Raise ClusterError if a scheduler has had no worker for too long; one of ours may be queued."""
        if self.workers or self.connection.cluster is not None:
            self._empty_since = 0.0
            return
        limit, now = self.connection.settings.wait, time.monotonic()
        address = self.connection.address
        if not self._empty_since:
            self._empty_since = now
            self.note(
                f"the scheduler at {address} has no worker; waiting up to {format_duration(limit)} for one"
            )
        elif now - self._empty_since > limit:
            last = f" (the last one was {self._last})" if self._last else ""
            raise ClusterError(
                f"the scheduler at {address} has had no worker for {format_duration(limit)}{last}; start one "
                f"with `dask worker {address} --nthreads 1`: {KEPT}"
            )


def _count_hosts(workers: Iterable[str]) -> str:
    """Return how many workers there are, and on how many hosts; empty if there are none."""
    hosts = Counter(map(_find_host, workers))
    count = hosts.total()
    if not count:
        return ""
    return f"{count:,} worker{'s' * (count > 1)} on {len(hosts):,} host{'s' * (len(hosts) > 1)}"


def _find_host(address: str) -> str:
    return address.partition("://")[2].rpartition(":")[0] or address


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


# Runs on workers that may not have zoloss at all, and so is text.
PROBE = "__import__('socket').gethostname()"


def check_workers(client: Client, allow_versions: bool) -> list[str]:
    """Compare what is installed on every current worker with what is installed here.

    Returns
    -------
    list of str
        The differences, if there are any and they are allowed.

    Raises
    ------
    ClusterError
        One line per difference, each with its host; also if a worker has no zoloss.
    """
    from distributed.comm import CommClosedError

    answers = client.run(collect_versions, on_error="return")
    # A worker that dies meanwhile does not answer; every worker compares again with its first chunk.
    gone = CommClosedError, ConnectionError
    found = {address: each for address, each in answers.items() if not isinstance(each, gone)}
    ours = collect_versions()
    differences: dict[str, None] = {}
    absent: dict[str, None] = {}
    fits = (isinstance(each, dict) and not list_differences("", each, ours) for each in found.values())
    hosts = {} if all(fits) else client.run(eval, PROBE, on_error="return")
    for address, versions in found.items():
        host = name_host(hosts.get(address), address)
        if isinstance(versions, dict):
            differences.update(dict.fromkeys(list_differences(host, versions, ours)))
        else:
            absent[explain_absence(host, versions)] = None
    if absent:
        raise ClusterError("\n".join(absent))
    if differences and not allow_versions:
        raise ClusterError("\n".join(f"{each}: {ALLOW}" for each in differences))
    return list(differences)


def name_host(name: Any, address: str) -> str:
    """Return the name of a worker's host for messages."""
    if isinstance(name, str) and name != socket.gethostname():
        return name
    return f"{name} ({address})" if isinstance(name, str) else address


def explain_absence(host: str, error: object) -> str:
    """Return the sentence about a worker on which zoloss cannot be imported."""
    text = " ".join(str(error).split())
    if "zoloss" in text:
        return (
            f"the worker on {host} has no zoloss {__version__} that it can import; install it there, into the "
            f'Python that `dask worker` runs in: pip install "zoloss[dask]=={__version__}"'
        )
    return f"the worker on {host} cannot load zoloss ({text[:200]}); install the same packages as here there"
