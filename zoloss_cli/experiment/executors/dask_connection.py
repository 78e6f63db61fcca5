"""A connection to a Dask scheduler that waits if the connection is lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.config.cluster_spec import ClusterSettings
from zoloss_cli.errors import ClusterError, MissingPackageError
from zoloss_cli.experiment.executors.base import Note
from zoloss_cli.experiment.executors.cluster_classes import shorten_error, start_cluster
from zoloss_cli.utils.durations import format_duration
from zoloss_cli.utils.optional_imports import is_installed

if TYPE_CHECKING:
    from distributed import Client

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
