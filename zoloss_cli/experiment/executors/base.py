"""What every executor is: a place where chunks of tasks run, and futures that their records come back in."""

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
    """What comes back for a chunk: the records of its splits, and the host that made them if not this one."""

    records: list[AnyRecord]
    host: str = ""


class ChunkLostError(Exception):
    """A chunk was lost by no fault of its tasks, with the connection say; it has to be submitted again."""


class TaskExecutor(ABC):
    """Where chunks of tasks run.

    A future of `submit` ends in a `ChunkOutput`, in `concurrent.futures.BrokenExecutor` if a worker died with
    the chunk, in `ChunkLostError`, or in an error that ends the run. What follows from these, retries and
    blame, is the scheduler's and not the executor's.
    """

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks can run at the same time, now."""

    @abstractmethod
    def prepare(self, cells: Sequence[Cell], note: Note) -> None:
        """Make workers ready for the tasks of these cells: kernels are compiled, and data are where they run.

        Parameters
        ----------
        cells : sequence of Cell
            What is to run.
        note : callable
            Takes what a person should know.
        """

    @abstractmethod
    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future[ChunkOutput]:
        """Hand over a chunk; raise BrokenExecutor if workers have died.

        Parameters
        ----------
        cell : Cell
            The cell.
        splits : list of int
            Its splits.
        seconds : float
            After which no other task of the chunk begins: its records are then those of the first splits.
        """

    def flush(self) -> None:  # noqa: B027 (an executor may send each chunk at once)
        """Send what was submitted, if that was left until there is more of it."""

    @abstractmethod
    def recover(self) -> bool:
        """Be usable again after a worker died; return whether every chunk under way is lost with it."""

    def check(self) -> None:  # noqa: B027 (an executor may have nothing to look after)
        """Look after the workers, while nothing has finished; raise an error if nothing ever will."""

    def describe_workers(self) -> str:
        """Return how many workers there are and where, for a progress bar; empty on this machine alone."""
        return ""

    def describe_cluster(self) -> ClusterInfo | None:
        """Return what a manifest says of a cluster; None on this machine alone."""
        return None

    @abstractmethod
    def close(self) -> None:
        """End at once, without waiting for chunks under way."""


class ExecutorStarter(Protocol):
    """Starts an executor; what is wrong with a cluster is said then, before anything runs."""

    def __call__(self, note: Note) -> TaskExecutor:
        """Return the executor, which whoever asked for it closes."""
