"""Run tasks on the workers of a Dask cluster, which the run connects to or starts."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import json
import logging
import math
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoloss_cli import __version__
from zoloss_cli.config.models import ClusterSettings
from zoloss_cli.errors import (
    ClusterError,
    ConfigError,
    MissingPackageError,
    RunError,
    ZolossError,
    suggest_nearest,
)
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.pool import ChunkLostError, Note, TaskExecutor
from zoloss_cli.experiment.run_bundle import (
    RunBundle,
    build_bundle,
    collect_versions,
    explain_differences,
    list_differences,
)
from zoloss_cli.experiment.task import ChunkOutput
from zoloss_cli.results.manifest import ClusterInfo
from zoloss_cli.utils.imports import is_installed
from zoloss_cli.utils.text import format_duration

CONNECT_SECONDS = 10.0  # until reporting that there is no scheduler
REFRESH_SECONDS = 2.0  # between two checks of the workers
POLL_SECONDS = 0.05
SECONDS_PER_CHUNK = 0.001  # between two fetches, at most POLL_SECONDS: few workers have little to do meanwhile
KEPT = "finished tasks are kept, and the same command continues"


@dataclass(frozen=True)
class DaskWorkers:
    """The workers of a cluster, on which a run can start an executor."""

    settings: ClusterSettings
    allow_versions: bool = False  # whether package versions may differ from those on this machine

    def __call__(self, note: Note) -> TaskExecutor:
        """Connect, and compare versions with the workers that are present."""
        return DaskExecutor(self.settings, self.allow_versions, note)


class DaskExecutor(TaskExecutor):
    """A Dask cluster. If a worker dies, Dask reassigns its chunks, and other chunks continue."""

    def __init__(self, settings: ClusterSettings, allow_versions: bool, note: Note):
        self.settings, self.allow_versions, self.note = settings, allow_versions, note
        self.address = settings.cluster or ""
        self.workers: dict[str, int] = {}  # the number of threads by address
        self.differences: list[str] = []  # in versions, if they are allowed
        self._client: Any = None
        self._cluster: Any = None
        self._bundle: RunBundle | None = None
        self._is_bundle_sent = False
        self._unsent: list[tuple[Future[ChunkOutput], tuple[str, list[int], float]]] = []
        self._sent: dict[str, tuple[Future[ChunkOutput], Any]] = {}  # with the Dask future of the same chunk
        self._next_update = self._empty_since = 0.0
        try:
            self._connect()
            self._update_workers()
            self._compare_versions()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        if not is_installed("distributed"):
            raise MissingPackageError(
                "a run on a cluster needs the package distributed, which is not installed: "
                'pip install "zoloss[dask]"'
            )
        import distributed

        for name in ("distributed", "distributed.client"):  # lost connections and workers are reported here
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.filterwarnings("ignore", module="distributed")
        if self.settings.scheduler is None:
            logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)  # its scheduler may be in this process
            self._cluster = start_cluster(self.settings)
            self._client = distributed.Client(self._cluster, set_as_default=False)
            return
        self.address = find_address(self.settings.scheduler)
        if (found := ask_version(self.address)) != distributed.__version__:
            where = f"the scheduler at {self.address} has distributed {found}"
            self.differences.append(f"{where} and this machine {distributed.__version__}")
            self._refuse_differences()
        # The timeout also applies to reconnecting, which the client does by itself.
        wait = self.settings.wait
        self._client = distributed.Client(self.address, timeout=wait, set_as_default=False)

    # -- workers ------------------------------------------------------------------------------------

    @property
    def n_workers(self) -> int:
        """Return how many workers there are, or will be once there is work."""
        return max(len(self.workers), self.settings.n_wanted, 1)

    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Wait for a first worker, and send what all workers need."""
        self._bundle = build_bundle(cells, None if self.allow_versions else collect_versions())
        if not self.workers and self._cluster is None:
            while not self.workers:
                self.check()
                time.sleep(POLL_SECONDS)
            self._compare_versions()
        self._send_bundle()
        asyncio.run_coroutine_threadsafe(self._deliver(self._client), self._client.loop.asyncio_loop)
        has_dashboard = "dashboard" in self._client.scheduler_info().get("services", {})
        dashboard = f"; dashboard: {self._client.dashboard_link}" if has_dashboard else ""
        note(f"cluster {self.address}: {self.describe_workers() or 'no worker yet'}{dashboard}")

    def check(self) -> None:
        """Wait for a lost scheduler, and look for workers periodically."""
        if self._client.status != "running":
            self._wait_for_scheduler()
        if time.monotonic() >= self._next_update:
            self._update_workers()
            self._refuse_emptiness()

    def describe_workers(self) -> str:
        """Return how many workers there are, and on how many hosts; empty if there are none."""
        count, n_hosts = len(self.workers), len(set(map(_find_host, self.workers)))
        return f"{count:,} worker{'s' * (count > 1)} on {n_hosts:,} host{'s' * (n_hosts > 1)}" if count else ""

    def describe_cluster(self) -> ClusterInfo:
        """Return the scheduler and its version, and the allowed differences."""
        import distributed

        return ClusterInfo(self.address, distributed.__version__, tuple(self.differences))

    def _update_workers(self) -> None:
        """Ask the scheduler for its workers, and report which are gone."""
        self._next_update = time.monotonic() + REFRESH_SECONDS
        try:
            found = self._client.nthreads()
        except (OSError, RuntimeError, AttributeError):
            return  # `check` is about to find that the connection is lost
        if self._cluster is None and (gone := [address for address in self.workers if address not in found]):
            subject = "1 worker is" if len(gone) == 1 else f"{len(gone):,} workers are"
            hosts = ", ".join(sorted(set(map(_find_host, gone))))
            self.note(f"{subject} gone ({hosts}), {len(found):,} left; unfinished tasks are rescheduled")
        for address, n_threads in found.items():
            if n_threads > 1 and address not in self.workers:
                self.note(
                    f"the worker {address} has {n_threads} threads, of which one is used: start workers with "
                    "--nworkers N --nthreads 1"
                )
                break
        self.workers = found

    def _refuse_emptiness(self) -> None:
        """Raise ClusterError if a scheduler has had no worker for too long; own workers may be queued."""
        if self.workers or self._cluster is not None:
            self._empty_since = 0.0
            return
        limit, now = format_duration(self.settings.wait), time.monotonic()
        if not self._empty_since:
            self._empty_since = now
            self.note(f"the scheduler at {self.address} has no worker; waiting up to {limit} for one")
        elif now - self._empty_since > self.settings.wait:
            raise ClusterError(
                f"the scheduler at {self.address} has had no worker for {limit}; start one with "
                f"`dask worker {self.address} --nthreads 1`: {KEPT}"
            )

    def _wait_for_scheduler(self) -> None:
        """Wait while the client tries to reconnect; a restarted scheduler needs the bundle."""
        limit = format_duration(self.settings.wait)
        self.note(f"lost the connection to the scheduler at {self.address}; waiting up to {limit} for it")
        while self._client.status == "connecting":
            time.sleep(POLL_SECONDS)
        if self._client.status != "running":
            raise ClusterError(
                f"the scheduler at {self.address} is gone and did not come back within {limit}; start it "
                f"again, or run with another --scheduler: {KEPT}"
            )
        self.note(f"reconnected to the scheduler at {self.address}")
        self.workers, self._is_bundle_sent = {}, False

    def _compare_versions(self) -> None:
        """Raise ClusterError if a current worker has other versions, or no zoloss."""
        from distributed.comm import CommClosedError

        answers = self._client.run(list_differences, collect_versions(), on_error="return")
        absent: list[str] = []
        for address, answer in answers.items():
            if isinstance(answer, list):
                self.differences += [each for each in answer if each not in self.differences]
            elif not isinstance(answer, CommClosedError | ConnectionError):  # else it has just died
                absent.append(
                    f"the worker at {address} has no zoloss {__version__} that it can import "
                    f"({shorten_error(answer)}); install it there, into the Python that `dask worker` runs in: "
                    f'pip install "zoloss[dask]=={__version__}"'
                )
        if absent:
            raise ClusterError("\n".join(absent))
        self._refuse_differences()

    def _refuse_differences(self) -> None:
        if self.differences and not self.allow_versions:
            raise ClusterError(explain_differences(self.differences))

    def _send_bundle(self) -> None:
        """Send the bundle to all current and future workers."""
        from zoloss_cli.experiment.dask_worker import BundlePlugin

        assert self._bundle is not None, "prepared before"
        self._client.register_plugin(BundlePlugin(self._bundle))
        self._is_bundle_sent = True

    # -- chunks -------------------------------------------------------------------------------------

    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Accept a chunk, which becomes a Dask task of its own and is sent in a batch with others."""
        self.check()
        future: Future[ChunkOutput] = Future()
        self._unsent.append((future, (cell.key, splits, seconds)))
        return future

    def flush(self) -> None:
        """Send the submitted chunks in a batch, for half the CPU time (`tests/bench/test_cluster_speed.py`)."""

        def run_chunk(name: str, key: str, splits: list[int], seconds: float) -> ChunkOutput:
            # A nested function is pickled by value, so that a scheduler without zoloss can unpickle it.
            from zoloss_cli.experiment.dask_worker import run_chunk_on_worker

            return run_chunk_on_worker(name, key, splits, seconds)

        unsent, self._unsent = self._unsent, []
        if not unsent:
            return
        try:
            if not self._is_bundle_sent:
                self._send_bundle()
            assert self._bundle is not None, "prepared before"
            keys, splits, seconds = map(list, zip(*(chunk for _, chunk in unsent), strict=True))
            names = [self._bundle.name] * len(unsent)
            remotes = self._client.map(run_chunk, names, keys, splits, seconds, pure=False)
        except (OSError, RuntimeError, AttributeError):  # the client has just lost its connection
            time.sleep(POLL_SECONDS)
            for future, _ in unsent:
                future.set_exception(ChunkLostError())
            return
        self._sent |= {
            remote.key: (future, remote) for (future, _), remote in zip(unsent, remotes, strict=True)
        }

    async def _deliver(self, client: Any) -> None:
        """Resolve the futures of ended Dask tasks.

        Fetching the results of many at once takes the client a fifth of the time of one by one
        (`tests/bench/test_cluster_speed.py`).
        """
        while self._client is client:
            await asyncio.sleep(min(POLL_SECONDS, SECONDS_PER_CHUNK * (1 + len(self._sent))))
            ended = {key: sent for key, sent in list(self._sent.items()) if sent[1].status != "pending"}
            finished = [key for key, (_, remote) in ended.items() if remote.status == "finished"]
            answer: dict[str, Any] = {}
            with contextlib.suppress(Exception):  # if the connection is lost, so are the futures
                answer = await client.scheduler.gather(keys=finished) if finished else {}
            outputs, lost = answer.get("data", {}), answer.get("keys", ())
            for key, (future, remote) in ended.items():
                if key in outputs:
                    future.set_result(ChunkOutput(*outputs[key]))
                elif key in lost or key not in finished:
                    future.set_exception(await self._find_error(remote))
                else:
                    continue
                del self._sent[key]

    async def _find_error(self, remote: Any) -> Exception:
        """Return why a Dask task has no result, as an error that `TaskExecutor.submit` allows."""
        if remote.status == "error":
            try:
                await remote
            except Exception as error:
                return self._translate_error(error)
        return ChunkLostError()

    def _translate_error(self, error: Exception) -> Exception:
        from distributed import KilledWorker

        from zoloss_cli.experiment.dask_worker import BundleMissingError

        if isinstance(error, KilledWorker):
            return BrokenExecutor(str(error))
        if isinstance(error, BundleMissingError):  # the scheduler was restarted, unnoticed by the client
            self._is_bundle_sent = False
            return ChunkLostError()
        if isinstance(error, ZolossError):
            return error
        return RunError(
            f"a worker failed ({type(error).__name__}: {' '.join(str(error).split())[:300]}); {KEPT}"
        )

    def recover(self) -> bool:
        """Do nothing: other chunks continue, and a nanny restarts the worker."""
        return False

    def close(self) -> None:
        """Clean up on the cluster, except for running tasks, and close it if it was started here."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                if client.status == "running" and self._bundle is not None:
                    client.unregister_worker_plugin(self._bundle.name)
            with contextlib.suppress(Exception):
                client.close(timeout=2)  # Dask drops what no client waits for
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            with contextlib.suppress(Exception):
                cluster.close()


def _find_host(address: str) -> str:
    return address.partition("://")[2].rpartition(":")[0] or address


# -- schedulers and clusters ------------------------------------------------------------------------


def find_address(scheduler: str) -> str:
    """Return a scheduler's address, from an address or a scheduler file."""
    if "://" in scheduler:
        return scheduler
    path = Path(scheduler)
    if path.is_file():
        try:
            return str(json.loads(path.read_text(encoding="utf-8"))["address"])
        except (OSError, ValueError, KeyError, TypeError):
            raise ClusterError(
                f"{path} is not a scheduler file; `dask scheduler --scheduler-file {path.name}` writes one"
            ) from None
    host, _, port = scheduler.rpartition(":")
    if host and port.isdecimal():
        return f"tcp://{scheduler}"
    raise ClusterError(
        f"'{scheduler}' is neither an address such as tcp://host:8786 nor an existing scheduler file"
    )


def ask_version(address: str) -> str:
    """Return a scheduler's version of Dask; raise ClusterError if there is no scheduler.

    Called before there is a client, which would hang if another program listens there, and would fail in
    obscure ways with another version.
    """
    from distributed import rpc
    from distributed.security import Security

    async def ask() -> Any:
        keys = Security().get_connection_args("client")
        async with rpc(address, timeout=CONNECT_SECONDS, connection_args=keys) as scheduler:
            return await asyncio.wait_for(scheduler.versions(), CONNECT_SECONDS + 1)

    try:
        with ThreadPoolExecutor(1) as pool:  # a notebook already has an event loop in this thread
            return str(pool.submit(asyncio.run, ask()).result()["packages"]["distributed"])
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise ClusterError(
                f"there is no scheduler at {address} ({shorten_error(error)}); start one with "
                "`dask scheduler`, or name another address or scheduler file by --scheduler"
            ) from None
        raise ClusterError(
            f"the program at {address} does not answer like a Dask scheduler ({shorten_error(error)}); "
            "check the port, which `dask scheduler` shows, and that it has the same version of distributed"
        ) from None


def start_cluster(settings: ClusterSettings) -> Any:
    """Start the cluster that settings describe, and request its workers; the caller must close it."""
    name = settings.cluster or ""
    kind = load_cluster_class(name)
    cluster = None
    try:
        cluster = kind(**settings.settings)
        can_scale = getattr(cluster, "_supports_scaling", True)  # one with named hosts, by ssh, cannot
        if settings.workers is None and can_scale:
            cluster.adapt(minimum=settings.minimum, maximum=settings.maximum)
        elif settings.workers is None:
            raise ClusterError(f"{name} has a fixed number of workers: set it by workers")
        elif can_scale:
            cluster.scale(settings.workers)
    except BaseException as error:
        if cluster is not None:
            cluster.close()
        if isinstance(error, ZolossError) or not isinstance(error, Exception):
            raise
        raise ClusterError(
            f"{name} cannot be started ({shorten_error(error)}); check its settings and requirements"
        ) from None
    return cluster


def load_cluster_class(name: str) -> Any:
    """Import a cluster class, or a function that returns a cluster, such as SSHCluster, by its dotted name."""
    from distributed.deploy.cluster import Cluster

    module, _, attribute = name.rpartition(".")
    package = module.partition(".")[0]
    if not is_installed(package):
        install = package.replace("_", "-")
        raise MissingPackageError(
            f"{name} needs the package {install}, which is not installed: pip install {install}"
        )
    try:
        found = vars(importlib.import_module(module))
    except ImportError as error:
        raise ConfigError(f"{name} cannot be imported: {shorten_error(error)}") from None
    kinds = {
        key: value
        for key, value in found.items()
        if Cluster in getattr(value, "__mro__", ()) or (key.endswith("Cluster") and inspect.isfunction(value))
    }
    if attribute not in kinds:
        raise ConfigError(f"{module} has no cluster class '{attribute}'{suggest_nearest(attribute, kinds)}")
    return kinds[attribute]


def shorten_error(error: BaseException) -> str:
    """Return the type and message of an error, as a clause."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:200]}..."
