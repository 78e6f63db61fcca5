"""What is installed: collected on each worker and compared with the client, since versions affect numbers."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import zoloss_cli
from zoloss_cli.registry import DATASET_PLUGINS, LEARNERS, METRICS
from zoloss_cli.results.manifest import PACKAGES

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
