"""The bundle that a cluster's workers need for a run: its cells, the files that these read, and versions."""

from __future__ import annotations

import functools
import hashlib
import platform
import socket
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import zoloss_cli
from zoloss_cli.config.models import CsvData, EmbeddedData
from zoloss_cli.data.dataset import describe_change, find_data_path, is_fetched
from zoloss_cli.data.read import SentFile, name_sent_file, read_content
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.registry import DATASET_PLUGINS, LEARNERS, METRICS
from zoloss_cli.results.manifest import MISSING, PACKAGES, find_version

CODE = "the code of zoloss"  # two checkouts of one version may differ
HASH_DIGITS = 12  # in messages
INSTALL = "install the same there, or continue with --allow-versions"


@dataclass(frozen=True)
class RunBundle:
    """The cells of a run by key, and the files that they read.

    The code of learners in files is sent inside their cells. Data sets that come with zoloss or with a package
    are on every host; by the key of a cell, a worker verifies that everything in it is the same there.
    """

    cells: dict[str, Cell]
    files: tuple[SentFile, ...]  # users' tables, and data from UCI
    versions: dict[str, str] | None  # that must be installed; None if they may differ
    name: str = field(default_factory=lambda: f"zoloss-{uuid.uuid4().hex}")


def build_bundle(cells: Sequence[Cell], versions: dict[str, str] | None) -> RunBundle:
    """Return what workers need for these cells; raise DataError if a file changed since they were planned."""
    files: dict[str, SentFile] = {}
    bundled = {}
    for cell in cells:
        bundled[cell.key] = replace(cell)  # without cached properties
        data = cell.data
        if isinstance(data, CsvData) or (isinstance(data, EmbeddedData) and is_fetched(data)):
            file = _read_file(data, cell.identity["data"]["sha256"], files)
            if isinstance(data, CsvData):
                bundled[cell.key] = replace(cell, data=data.model_copy(update={"csv": file.path}))
    return RunBundle(bundled, tuple(files.values()), versions)


def _read_file(data: CsvData | EmbeddedData, sha256: str, files: dict[str, SentFile]) -> SentFile:
    """Return the file of a data set, which is read once."""
    path = find_data_path(data)
    name = name_sent_file(path, sha256)
    if name not in files:
        content = read_content(path)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DataError(describe_change(str(path)))
        files[name] = SentFile(name, content, data.dataset if isinstance(data, EmbeddedData) else "")
    return files[name]


@functools.cache
def collect_versions() -> dict[str, str]:
    """Return the versions of zoloss, Python, the packages that affect numbers, and plug-ins, by name."""
    found = {"zoloss": zoloss_cli.__version__, CODE: hash_code(), "Python": platform.python_version()}
    found |= {name: find_version(name) for name in (*PACKAGES, "distributed")}
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
    return digest.hexdigest()[:HASH_DIGITS]


def list_differences(ours: dict[str, str]) -> list[str]:
    """Return a clause for each package whose version on this worker's host differs from the client's."""
    host, theirs = socket.gethostname(), collect_versions()
    clauses = []
    for name in dict.fromkeys([*ours, *theirs]):
        there, here = theirs.get(name, MISSING), ours.get(name, MISSING)
        if there != here:
            has = f"has no {name}" if there == MISSING else f"has {name} {there}"
            clauses.append(f"{host} {has} and this machine {'none' if here == MISSING else here}")
    return clauses


def explain_differences(differences: Sequence[str]) -> str:
    """Return a line for each version difference, with the remedy."""
    return "\n".join(f"{each}: {INSTALL}" for each in differences)
