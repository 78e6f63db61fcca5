"""A cluster of simulated workers: the scheduler of real runs, measured task times, and a virtual clock."""

import heapq
import itertools
import math
import resource
import tempfile
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from places import REFERENCE, TOP

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import Cell, PendingCell, SplitQueue, open_pending, plan
from zoloss_cli.experiment.pool import TaskExecutor
from zoloss_cli.experiment.scheduler import Scheduler
from zoloss_cli.experiment.task import ChunkOutput
from zoloss_cli.results.record import FitRecord
from zoloss_cli.results.store import Store

TABLES = ("table2", "table3", "table4")


class SimulatedExecutor(TaskExecutor):
    """Workers that take chunks in the order in which they come, each for as long as its tasks were measured.

    `times` has the seconds of each split by the cell's key; splits beyond take them again. For each chunk, the
    client takes `client_seconds`.
    """

    def __init__(self, n_workers: int, times: dict[str, list[float]], client_seconds: float):
        self.size, self.times, self.client_seconds = n_workers, times, client_seconds
        self.now = self.spent = 0.0
        self.idle = n_workers
        self.waiting: deque[tuple[Future, float, list[FitRecord]]] = deque()
        self.working: list[tuple[float, int, Future, float, list[FitRecord]]] = []
        self.numbers = itertools.count()
        self.chunks: list[tuple[float, float]] = []  # when each began and ended

    @property
    def n_workers(self) -> int:
        return self.size

    def prepare(self, cells, note) -> None: ...

    def submit(self, cell: Cell, splits: list[int], seconds: float = math.inf) -> Future:
        self.spent += self.client_seconds
        self._pass_time(self.now + self.client_seconds)
        times, records, busy = self.times[cell.key], list[FitRecord](), 0.0
        for k in splits:
            if busy > seconds:
                break
            records.append(FitRecord(k, train_errors=0, wall_time=times[k % len(times)]))
            busy += records[-1].wall_time
        future: Future = Future()
        self.waiting.append((future, busy, records))
        self._start_waiting()
        return future

    def _start_waiting(self) -> None:
        while self.idle and self.waiting:
            future, seconds, records = self.waiting.popleft()
            self.idle -= 1
            end = self.now + seconds
            heapq.heappush(self.working, (end, next(self.numbers), future, self.now, records))

    def _pass_time(self, until: float) -> None:
        """Let chunks end until a moment; their workers take what is waiting."""
        while self.working and self.working[0][0] <= until:
            end, _, future, start, records = heapq.heappop(self.working)
            self.now = end
            self.idle += 1
            self.chunks.append((start, end))
            self._start_waiting()
            future.set_result(ChunkOutput(records, "simulated"))
        self.now = until

    def check(self) -> None:
        self._pass_time(self.working[0][0])

    def recover(self) -> bool:
        return False

    def close(self) -> None: ...


@dataclass
class Simulation:
    """How a simulated run went: when each chunk began and ended, in the order of their ends."""

    chunks: list[tuple[float, float]]

    @property
    def seconds(self) -> float:
        return self.chunks[-1][1]

    @property
    def work(self) -> float:
        return sum(end - start for start, end in self.chunks)

    def find_time_of(self, share: float) -> float:
        done, wanted = itertools.accumulate(end - start for start, end in self.chunks), share * self.work
        return next(end for (_, end), now in zip(self.chunks, done, strict=True) if now >= wanted)

    def compute_mean_busy(self, until: float) -> float:
        return sum(max(0.0, min(end, until) - start) for start, end in self.chunks) / until


def load_measured_times() -> tuple[list[Cell], dict[str, list[float]]]:
    store, times, cells = Store(REFERENCE), {}, {}
    for table in TABLES:
        for cell in plan(load_config(TOP / "configs" / f"{table}.yaml")):
            stored = store.read(cell.filename, cell.key)
            times[cell.key] = [record.wall_time for record in stored.records.values()]
            cells[cell.key] = cell
    return list(cells.values()), times


def simulate(
    cells: list[Cell], times: dict[str, list[float]], n_workers: int, n_splits: int, client_seconds: float
) -> Simulation:
    executor = SimulatedExecutor(n_workers, times, client_seconds)
    pending = [PendingCell(cell, SplitQueue(range(n_splits)), n_tasks=n_splits) for cell in cells]
    scheduler = Scheduler(pending, executor, clock=lambda: executor.now, cpu_clock=lambda: executor.spent)
    n_records = sum(len(chunk.records) for chunk in scheduler.run())
    assert n_records == len(cells) * n_splits
    return Simulation(executor.chunks)


def plan_ten_million(folder: Path) -> list[PendingCell]:
    """Return what is pending of 100 data sets, 100 learners and 1,000 splits."""
    datasets = ", ".join(f"p{i}: {{generator: yinyang, size: 100, seed: {i}}}" for i in range(100))
    learners = ", ".join(f"l{i}: {{learner: rcd-bias, epochs: {i + 1}}}" for i in range(100))
    path = folder / "large.yaml"
    path.write_text(f"datasets: {{{datasets}}}\nsplit: {{repeats: 1000}}\nlearners: {{{learners}}}\n")
    return open_pending(plan(load_config(path)), Store(folder / "results"), fresh=False)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pending = plan_ten_million(Path(folder))
        n_tasks = sum(len(part.splits) for part in pending)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n_tasks:,} tasks of {len(pending):,} cells planned: {peak:.0f} MB at most, the whole process")
    cells, times = load_measured_times()
    for n_splits, client_seconds in itertools.product((500, 5000), (0.0005, 0.0008, 0.001, 0.0015)):
        simulation = simulate(cells, times, 1000, n_splits, client_seconds)
        until = simulation.find_time_of(0.95)
        print(
            f"{n_splits:,} splits, {simulation.work / 3600:.1f} core-hours, client {1000 * client_seconds} ms "
            f"a chunk: {simulation.seconds:.1f} s (ideal {simulation.work / 1000:.1f} s), "
            f"{simulation.compute_mean_busy(until) / 10:.1f} % busy until 95 % of the work, "
            f"{len(simulation.chunks):,} chunks"
        )


if __name__ == "__main__":
    main()
