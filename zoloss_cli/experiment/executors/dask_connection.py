"""Clusters that a run starts itself: the class that a config names, and its workers."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import logging
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.config.clusters import ClusterSettings
from zoloss_cli.errors import ClusterError, ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.experiment.executors.base import Note
from zoloss_cli.utils.imports import is_installed
from zoloss_cli.utils.text import format_duration

if TYPE_CHECKING:
    from distributed import Client


def start_cluster(settings: ClusterSettings) -> Any:
    """Start the cluster described by settings, and request its workers.

    Parameters
    ----------
    settings : ClusterSettings
        The class, its arguments, and the number of workers.

    Returns
    -------
    distributed.deploy.Cluster
        The cluster, which the caller must close.
    """
    assert settings.cluster is not None
    kind = load_cluster_class(settings.cluster)
    try:
        cluster = kind(**settings.settings)
    except Exception as error:
        raise ClusterError(
            f"{settings.cluster} cannot be started ({shorten_error(error)}); correct its settings, or what it "
            "needs"
        ) from None
    try:
        _scale_cluster(cluster, settings)
    except BaseException:
        with contextlib.suppress(Exception):
            cluster.close()
        raise
    return cluster


def _scale_cluster(cluster: Any, settings: ClusterSettings) -> None:
    """Request the workers of a cluster; one with named hosts, by ssh, has those of its hosts."""
    can_scale = getattr(cluster, "_supports_scaling", True)
    if settings.workers is None and not can_scale:
        raise ClusterError(f"{settings.cluster} has a fixed number of workers: name it by workers")
    try:
        if settings.workers is None:
            cluster.adapt(minimum=settings.minimum, maximum=settings.maximum)
        elif can_scale:
            cluster.scale(settings.workers)
    except Exception as error:
        raise ClusterError(
            f"{settings.cluster} cannot start workers ({shorten_error(error)}); correct its settings"
        ) from None


def load_cluster_class(name: str) -> Any:
    """Import a cluster class by its dotted name; a function that returns a cluster will do, too."""
    from distributed.deploy.cluster import Cluster

    module, _, attribute = name.rpartition(".")
    package = module.partition(".")[0]
    if not is_installed(package):
        install = package.replace("_", "-")
        raise MissingPackageError(
            f"{name} needs the package {install}, which is not installed: pip install {install}"
        )
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(f"{name} cannot be imported: {shorten_error(error)}") from None
    classes = [
        key
        for key, value in vars(found).items()
        if (issubclass(value, Cluster) if isinstance(value, type) else _is_starter(key, value))
    ]
    kind = getattr(found, attribute, None)
    if attribute not in classes:
        raise ConfigError(f"{module} has no cluster class '{attribute}'{suggest_nearest(attribute, classes)}")
    return kind


def _is_starter(name: str, value: object) -> bool:
    """Return whether a function starts a cluster, as SSHCluster does."""
    return name.endswith("Cluster") and inspect.isfunction(value)


def shorten_error(error: BaseException) -> str:
    """Return the type and message of an error, as a clause."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:200]}..."


CONNECT_SECONDS = 10.0  # until reporting that there is no scheduler
RETRY_SECONDS = 1.0
ALLOW = "install the same there, or go on with --allow-versions"
KEPT = "what is finished is kept, and the same command continues"


class NoSchedulerError(Exception):
    """The program listening at an address is not a Dask scheduler."""


class Connection:
    """A Dask client that connects, and reconnects.

    Parameters
    ----------
    settings : ClusterSettings
        Which scheduler, or which cluster to start.
    note : callable
        Takes notes for the user.
    allow_versions : bool
        Whether the scheduler's version of Dask may differ from that on this machine.

    Attributes
    ----------
    differences : list of str
        The difference in versions, if there is one and it is allowed.
    """

    def __init__(self, settings: ClusterSettings, note: Note, allow_versions: bool = False):
        self.settings, self.note, self.allow_versions = settings, note, allow_versions
        self.differences: list[str] = []
        self.cluster: Any = None
        self.client: Client | None = None
        self.address = settings.scheduler or settings.cluster or ""

    def open(self) -> None:
        """Connect, after starting a cluster if necessary."""
        check_dask()
        quiet_dask()
        if self.settings.cluster is not None:
            self.cluster = start_cluster(self.settings)
        try:
            self.client = self._connect(CONNECT_SECONDS)
        except OSError as error:
            self.close()
            raise ClusterError(self._explain_absence(error)) from None
        except NoSchedulerError:
            self.close()
            raise ClusterError(
                f"what listens at {self.address} does not answer as a Dask scheduler does; check the port: "
                "`dask scheduler` shows it"
            ) from None
        except ClusterError:
            raise
        except Exception as error:
            self.close()
            raise ClusterError(
                f"the scheduler at {self.address} does not answer as Dask's ({shorten_error(error)}); check "
                "the address, and that the same version of distributed is installed there"
            ) from None

    @property
    def is_alive(self) -> bool:
        """Whether the scheduler can be reached."""
        return self.client is not None and self.client.status == "running"

    def restore(self) -> None:
        """Reconnect to a lost scheduler as soon as it is back.

        Raises
        ------
        ClusterError
            If it is not back within the limit.
        """
        began = time.monotonic()
        limit = self.settings.wait
        self.note(
            f"lost the connection to the scheduler at {self.address}; waiting up to {format_duration(limit)} "
            "for it"
        )
        self._drop_client()
        while time.monotonic() - began < limit:
            with contextlib.suppress(Exception):
                self.client = self._connect(min(CONNECT_SECONDS, limit))
                self.note(f"connected again to the scheduler at {self.address}")
                return
            time.sleep(RETRY_SECONDS)
        raise ClusterError(
            f"the scheduler at {self.address} is gone and did not come back within {format_duration(limit)}; "
            f"start it again, or run with another --scheduler: {KEPT}"
        )

    def find_dashboard(self) -> str:
        """Return the address of the scheduler's dashboard; empty if it has none."""
        try:
            assert self.client is not None
            has_one = "dashboard" in self.client.scheduler_info()["services"]
            return str(self.client.dashboard_link) if has_one else ""
        except (OSError, KeyError, AssertionError):
            return ""

    def close(self) -> None:
        """Disconnect from the scheduler, and close a cluster that was started here."""
        self._drop_client()
        cluster, self.cluster = self.cluster, None
        if cluster is not None:
            with contextlib.suppress(Exception):
                cluster.close()

    def _connect(self, seconds: float) -> Client:
        from distributed import Client

        if self.cluster is not None:
            return Client(self.cluster, timeout=seconds, set_as_default=False)
        assert self.settings.scheduler is not None
        self.address = find_address(self.settings.scheduler)
        found = ask_version(self.address, seconds)
        self.differences = compare_dask(found, self.address, self.allow_versions)

        class QuietClient(Client):
            """A client that reports nothing when it ends without ever having been connected."""

            def __del__(self) -> None:
                if self.status == "running":
                    super().__del__()

        return QuietClient(self.address, timeout=seconds, set_as_default=False)

    def _drop_client(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=2)

    def _explain_absence(self, error: OSError) -> str:
        reason = "" if "Timed out" in str(error) else f" ({shorten_error(error)})"
        return (
            f"there is no scheduler at {self.address}{reason}; start one with `dask scheduler`, or name "
            "another address or scheduler file by --scheduler"
        )


def ask_version(address: str, seconds: float) -> str:
    """Return a scheduler's version of Dask.

    This is asked before there is a client, which would wait forever for another program that listens there, and
    would fail in many ways with another version.

    Raises
    ------
    OSError
        If nothing listens there.
    NoSchedulerError
        If the program listening there is not a Dask scheduler.
    """
    from distributed import rpc
    from distributed.security import Security

    async def ask() -> Any:
        keys = Security().get_connection_args("client")
        async with rpc(address, timeout=seconds, connection_args=keys) as scheduler:
            return await scheduler.versions()

    async def ask_for_a_while() -> Any:
        try:
            return await asyncio.wait_for(ask(), seconds + 1)
        except TimeoutError:
            return None

    with ThreadPoolExecutor(1) as pool:  # a notebook already has an event loop in this thread
        answer = pool.submit(asyncio.run, ask_for_a_while()).result()
    try:
        return str(answer["packages"]["distributed"])
    except (KeyError, TypeError):
        raise NoSchedulerError from None


def compare_dask(found: str, address: str, allow_versions: bool) -> list[str]:
    """Return the difference between a scheduler's version of Dask and ours, if it is allowed.

    Raises
    ------
    ClusterError
        If there is one that is not allowed.
    """
    import distributed

    if found == distributed.__version__:
        return []
    difference = (
        f"the scheduler at {address} has distributed {found} and this machine {distributed.__version__}"
    )
    if not allow_versions:
        raise ClusterError(f"{difference}: {ALLOW}")
    return [difference]


def check_dask() -> None:
    """Raise MissingPackageError if Dask is not installed."""
    if not is_installed("distributed"):
        raise MissingPackageError(
            "a run on a cluster needs the package distributed, which is not installed: "
            'pip install "zoloss[dask]"'
        )


def quiet_dask() -> None:
    """Silence Dask's messages about lost connections, workers and versions: we report these."""
    from distributed.versions import VersionMismatchWarning

    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    for name in ("client", "core", "scheduler", "worker", "nanny", "comm", "utils", "deploy", "batched"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", category=VersionMismatchWarning)
    warnings.filterwarnings("ignore", module="distributed")


def find_address(scheduler: str) -> str:
    """Return the address that a text refers to: an address, or a scheduler file that holds one."""
    if "://" in scheduler:
        return scheduler
    path = Path(scheduler)
    if path.is_file():
        import json

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
        f"'{scheduler}' is neither an address such as tcp://host:8786 nor a scheduler file that is there"
    )
