"""The interface of executors: places where chunks of tasks run, and futures that return their records."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from zoloss_cli.experiment.plan import Cell
from zoloss_cli.results.manifest import ClusterInfo
from zoloss_cli.results.record import AnyRecord

Note = Callable[[str], object]


class ChunkOutput(NamedTuple):
    """The result of a chunk: the records of its splits, and the host that made them if not this one."""

    records: list[AnyRecord]
    host: str = ""


class ChunkLostError(Exception):
    """A chunk was lost through no fault of its tasks, say with the connection; it must be resubmitted."""


class TaskExecutor(ABC):
    """A place where chunks of tasks run.

    A future from `submit` ends in a `ChunkOutput`, in `concurrent.futures.BrokenExecutor` if a worker died with
    the chunk, in `ChunkLostError`, or in an error that ends the run. The consequences, such as retries and
    blame, are up to the scheduler, not the executor.
    """

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks can currently run at the same time."""

    @abstractmethod
    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Prepare workers for the tasks of these cells: compile kernels, and provide data where tasks run.

        Parameters
        ----------
        cells : sequence of Cell
            The cells to run.
        note : callable
            Takes notes for the user.
        """

    @abstractmethod
    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Submit a chunk; raise BrokenExecutor if workers have died.

        Parameters
        ----------
        cell : Cell
            The cell.
        splits : list of int
            Its splits.
        seconds : float
            Time after which no further task of the chunk starts: its records are then those of the first
            splits.
        """

    def flush(self) -> None:  # noqa: B027 (an executor may send each chunk at once)
        """Send submitted chunks that were held back to be sent together."""

    @abstractmethod
    def recover(self) -> bool:
        """Become usable again after a worker died; return whether every running chunk is lost with it."""

    def check(self) -> None:  # noqa: B027 (an executor may have nothing to look after)
        """Check the workers while nothing has finished; raise an error if nothing ever will."""

    def describe_workers(self) -> str:
        """Return how many workers there are and where, for a progress bar; empty if only on this machine."""
        return ""

    def describe_cluster(self) -> ClusterInfo | None:
        """Return what a manifest says about a cluster; None if only on this machine."""
        return None

    @abstractmethod
    def close(self) -> None:
        """End at once, without waiting for running chunks."""


class ExecutorStarter(Protocol):
    """Start an executor; problems with a cluster are reported then, before anything runs."""

    def __call__(self, note: Note) -> TaskExecutor:
        """Return the executor, which the caller must close."""
