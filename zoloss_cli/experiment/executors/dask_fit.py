"""Whether the workers of a cluster are compatible: the same Dask, zoloss and packages; if not, where."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from zoloss_cli import __version__
from zoloss_cli.errors import ClusterError
from zoloss_cli.experiment.executors.dask_connection import ALLOW
from zoloss_cli.experiment.executors.versions import collect_versions, list_differences

if TYPE_CHECKING:
    from distributed import Client

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
