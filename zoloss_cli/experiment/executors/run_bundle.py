"""What workers of a cluster need for a run: cells, files, versions, imports, and one compilation per host."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
import pickle
import platform
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import zoloss_cli
from zoloss_cli.config.clusters import parse_scheduler
from zoloss_cli.config.models import CsvData, DataSpec, EmbeddedData
from zoloss_cli.data.csv_files import SentFile, name_sent_file, read_content
from zoloss_cli.data.dataset import describe_change, find_data_path
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.executors.dask_connection import check_dask, find_address, quiet_dask
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.kernels import KEEPS_KERNELS
from zoloss_cli.registry import DATASET_PLUGINS, LEARNERS, METRICS
from zoloss_cli.results.manifest import PACKAGES

LOCK = "warm-up.lock"


@contextlib.contextmanager
def take_turn_on_host(name: str) -> Iterator[bool]:
    """Yield whether this process should compile kernels; the others on a host wait for the first.

    Parameters
    ----------
    name : str
        The name of what is compiled for.
    """
    folder = open_host_folder()
    if folder is None or not KEEPS_KERNELS:
        yield True  # each process compiles for itself
        return
    from filelock import FileLock

    marker = folder / name
    with FileLock(folder / LOCK):
        sweep_markers(folder)  # nobody is writing one at the moment
        if not marker.exists():
            yield True
            marker.write_text(str(os.getpid()), encoding="ascii")
            return
    yield False


def leave_host(name: str = "") -> None:
    """Remove the marker of what has ended, and those of killed workers."""
    folder = name_host_folder()
    if not _is_safe(folder):
        return
    if name:
        (folder / name).unlink(missing_ok=True)
    from filelock import FileLock, Timeout

    with contextlib.suppress(OSError, Timeout), FileLock(folder / LOCK, timeout=0):
        sweep_markers(folder)  # unless another process is taking its turn, and does so


def sweep_markers(folder: Path) -> None:
    """Remove the markers of dead processes: the next one compiles or finds kernels itself."""
    with contextlib.suppress(OSError):
        for marker in folder.iterdir():
            if marker.name != LOCK and not _is_alive(marker):
                marker.unlink(missing_ok=True)


def _is_alive(marker: Path) -> bool:
    """Return whether the process that wrote a marker is alive."""
    try:
        os.kill(int(marker.read_text(encoding="ascii")), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def open_host_folder() -> Path | None:
    """Return a folder shared by all workers of this user on this host, to which nobody else can write."""
    folder = name_host_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder if _is_safe(folder) else None


def name_host_folder() -> Path:
    """Return the path of that folder."""
    return Path(tempfile.gettempdir()) / f"zoloss-{os.getuid()}"


def _is_safe(folder: Path) -> bool:
    try:
        return folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    except OSError:
        return False


@dataclass(frozen=True)
class RunPackage:
    """The cells of a run by key, and the files that they read.

    The code of learners in files travels inside their cells. Data sets that come with zoloss or with a package
    are on every host; by its key, a worker verifies that everything in a cell is the same there.

    Attributes
    ----------
    cells : dict of str to Cell
        The cells.
    files : tuple of SentFile
        Users' tables, and data from UCI.
    versions : dict of str to str or None
        The versions that must be installed; None if they may differ.
    """

    cells: dict[str, Cell]
    files: tuple[SentFile, ...]
    versions: dict[str, str] | None

    @cached_property
    def name(self) -> str:
        """The name by which workers know it: a hash of its content."""
        content = pickle.dumps((self.cells, [file.path for file in self.files], self.versions))
        return f"zoloss-{hashlib.sha256(content).hexdigest()[:32]}"


def build_package(cells: Sequence[Cell], versions: dict[str, str] | None) -> RunPackage:
    """Return what workers need for the tasks of these cells.

    Parameters
    ----------
    cells : sequence of Cell
        The cells to run, planned here.
    versions : dict or None
        The versions that must be installed on workers.

    Raises
    ------
    DataError
        If a file changed since the cells were planned.
    """
    files: dict[DataSpec, SentFile] = {}
    packed = {cell.key: _pack_cell(cell, files) for cell in cells}
    return RunPackage(packed, _list_once(files.values()), versions)


def _list_once(files: Iterable[SentFile]) -> tuple[SentFile, ...]:
    return tuple({file.path: file for file in files}.values())


def _pack_cell(cell: Cell, files: dict[DataSpec, SentFile]) -> Cell:
    """Return the cell with the path of its file at the destination."""
    data = cell.data
    is_own = isinstance(data, CsvData)
    if not is_own and not (isinstance(data, EmbeddedData) and data.source == "uci"):
        return replace(cell)  # without what was computed here
    assert isinstance(data, CsvData | EmbeddedData)
    if data not in files:
        files[data] = _read_file(data, cell.identity["data"]["sha256"])
    if isinstance(data, CsvData):
        return replace(cell, data=data.model_copy(update={"csv": files[data].path}))
    return replace(cell)


def _read_file(data: CsvData | EmbeddedData, sha256: str) -> SentFile:
    path = find_data_path(data)
    content = read_content(path)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(describe_change(str(path)))
    return SentFile(
        name_sent_file(path, sha256), content, data.dataset if isinstance(data, EmbeddedData) else ""
    )


MISSING = "missing"
CODE = "the code of zoloss"  # two checkouts of one version may differ
DIGITS = 12  # of a hash, in messages


@functools.cache
def collect_versions() -> dict[str, str]:
    """Return the versions of zoloss, Python, the packages that affect numbers, and plug-ins, by name."""
    found = {"zoloss": zoloss_cli.__version__, CODE: hash_code(), "Python": platform.python_version()}
    for name in (*PACKAGES, "distributed"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = MISSING
    for registry in (LEARNERS, DATASET_PLUGINS, METRICS):
        for plugin in registry.plugins:
            package, _, number = plugin.package.partition(" ")
            found[package] = number
    return found


def hash_code() -> str:
    """Return a hash of the package's own modules."""
    top, digest = Path(zoloss_cli.__file__).parent, hashlib.sha256()
    for path in sorted(top.rglob("*.py")):
        digest.update(path.relative_to(top).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:DIGITS]


def list_differences(host: str, theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """Return a clause for each package whose version differs on a host.

    Parameters
    ----------
    host : str
        The host's name.
    theirs, ours : dict of str to str
        The versions installed there and here.

    Examples
    --------
    >>> list_differences("node7", {"numpy": "1.26.4"}, {"numpy": "2.1.0", "mine": "1.0"})
    ['node7 has numpy 1.26.4 and this machine 2.1.0', 'node7 has no mine and this machine 1.0']
    """
    names = [*ours, *(name for name in theirs if name not in ours)]
    clauses = []
    for name in names:
        there, here = theirs.get(name, MISSING), ours.get(name, MISSING)
        if there != here:
            has = f"has no {name}" if there == MISSING else f"has {name} {there}"
            clauses.append(f"{host} {has} and this machine {'none' if here == MISSING else here}")
    return clauses


# A fresh worker takes one to two seconds for scikit-learn and numba: about as long as the client takes for the
# same and for its plan.

CONNECT_TIMEOUT_SECONDS = 1.0  # for a scheduler that does not answer: the run waits longer and reports it
# Text, since a worker may have another Python; a thread, since a worker must keep answering while it imports.
LOAD = """
import threading
def load():
    try:
        from zoloss_cli.experiment.executors import preload
        preload.import_learners()
    except Exception:  # the run says what a worker lacks
        pass
threading.Thread(target=load, daemon=True, name="zoloss-imports").start()
"""


def begin_worker_imports(scheduler: str) -> None:
    """Let the workers of a scheduler start importing; problems are left to the run, which asks again.

    Parameters
    ----------
    scheduler : str
        Its address, or its scheduler file.
    """
    with contextlib.suppress(Exception):
        check_dask()
        quiet_dask()
        address = find_address(parse_scheduler(scheduler).scheduler or "")
        with ThreadPoolExecutor(1) as pool:  # a notebook already has an event loop in this thread
            pool.submit(asyncio.run, _tell_workers(address)).result()


async def _tell_workers(address: str) -> None:
    from distributed import rpc
    from distributed.protocol.pickle import dumps
    from distributed.security import Security

    keys = Security().get_connection_args("client")
    message = {"op": "run", "function": dumps(exec), "args": dumps((LOAD, {})), "kwargs": dumps({})}
    async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
        async with rpc(address, timeout=CONNECT_TIMEOUT_SECONDS, connection_args=keys) as to_scheduler:
            await to_scheduler.broadcast(msg=message, on_error="return_pickle")
