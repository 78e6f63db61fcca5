"""The workers of a Dask scheduler: how many and where, which are gone, and whether none is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from zoloss_cli.errors import ClusterError
from zoloss_cli.experiment.executors.base import Note
from zoloss_cli.experiment.executors.dask_connection import KEPT, Connection
from zoloss_cli.utils.durations import format_duration

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
