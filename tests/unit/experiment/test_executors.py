"""Running tasks over any executor: chunks, deaths of workers, lost connections, and the time left."""

from concurrent.futures import BrokenExecutor, Future

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.plan import PendingCell, SplitQueue, estimate_seconds, plan
from zoloss_cli.experiment.pool import ChunkLostError, PoolExecutor, TaskExecutor
from zoloss_cli.experiment.scheduler import MAX_UNTIMED_TASKS, MAX_WORKER_DEATHS, WORKER_DIED, Scheduler
from zoloss_cli.experiment.task import ChunkOutput
from zoloss_cli.results.record import FailedRecord, FitRecord


@pytest.fixture
def pending(write_config):
    text = "datasets: [heart, sonar]\nsplit: {repeats: 30}\nlearners: [fld, stump]\n"
    cells = plan(load_config(write_config(text)))
    return [PendingCell(cell, SplitQueue(range(cell.repeats)), n_tasks=cell.repeats) for cell in cells]


class ScriptedExecutor(TaskExecutor):
    """Finishes chunks at once, and does to some of them what `choose_fault` says."""

    def __init__(self, choose_fault=lambda cell, splits, n_calls: None, shares_fate=False, n_workers=2):
        self.choose_fault, self.shares_fate, self.size = choose_fault, shares_fate, n_workers
        self.calls: list[tuple[str, list[int], int]] = []
        self.n_recoveries = 0
        self.waiting: list[tuple[Future, object]] = []

    @property
    def n_workers(self):
        return self.size

    def prepare(self, cells, note):
        raise AssertionError("nothing to prepare")

    def submit(self, cell, splits, seconds):
        fault = self.choose_fault(cell, splits, len(self.calls))
        self.calls.append((cell.key, list(splits), len(self.waiting)))
        if fault == "submit":
            raise BrokenExecutor("no worker lives")
        future = Future()
        self.waiting.append(
            (future, fault or ChunkOutput([FitRecord(k, train_errors=0, wall_time=0.01) for k in splits]))
        )
        return future

    def check(self):
        waiting, self.waiting = self.waiting, []
        for future, result in waiting:
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    def recover(self):
        self.n_recoveries += 1
        if self.shares_fate:
            self.waiting = []
        return self.shares_fate

    def close(self):
        self.waiting = []


def list_tasks(pending):
    return sorted((part.cell.key, k) for part in pending for k in range(part.cell.repeats))


def list_done(chunks, kind=FitRecord):
    return sorted((c.pending.cell.key, r.split) for c in chunks for r in c.records if isinstance(r, kind))


def test_tasks_handed_to_a_breaking_pool_are_not_lost(pending):
    wanted = list_tasks(pending)
    executor = ScriptedExecutor(lambda cell, splits, n: "submit" if n == 1 else None, shares_fate=True)
    chunks = list(Scheduler(pending, executor).run())
    assert list_done(chunks) == wanted
    assert executor.n_recoveries == 1


@pytest.mark.parametrize("shares_fate", [True, False])
def test_a_task_that_kills_its_worker_is_found_and_reported_alone(pending, shares_fate):
    wanted, killer = list_tasks(pending), (pending[1].cell.key, 17)
    executor = ScriptedExecutor(
        lambda cell, splits, n: BrokenExecutor("died") if (cell.key, 17) == killer and 17 in splits else None,
        shares_fate,
    )
    chunks = list(Scheduler(pending, executor).run())
    assert list_done(chunks, FailedRecord) == [killer]
    assert list_done(chunks) == [task for task in wanted if task != killer]
    (failed,) = [r for c in chunks for r in c.records if isinstance(r, FailedRecord)]
    assert failed.failed == WORKER_DIED
    # What is blamed ran alone: with one split, and with nothing else under way.
    assert [call for call in executor.calls if 17 in call[1] and call[0] == killer[0]][-1][1:] == ([17], 0)


def test_what_is_lost_with_the_connection_is_submitted_again_and_not_blamed(pending):
    wanted = list_tasks(pending)
    executor = ScriptedExecutor(lambda cell, splits, n: ChunkLostError() if n % 3 == 1 and n < 30 else None)
    assert list_done(Scheduler(pending, executor).run()) == wanted
    assert len(executor.calls) > 1
    assert executor.n_recoveries == 0


@pytest.mark.parametrize("fault", ["submit", BrokenExecutor("died")])
def test_workers_that_always_die_end_the_run(pending, fault):
    executor = ScriptedExecutor(lambda cell, splits, n: fault, shares_fate=True)
    with pytest.raises(RunError, match=f"die as they start \\({MAX_WORKER_DEATHS + 1} in a row\\)"):
        list(Scheduler(pending, executor).run())


def test_chunks_grow_with_what_is_known_and_workers_have_one_waiting(pending):
    executor = ScriptedExecutor(n_workers=1)
    list(Scheduler(pending, executor).run())
    assert len(executor.calls[0][1]) == MAX_UNTIMED_TASKS  # the cost is unknown
    assert max(beside for _, _, beside in executor.calls) == 1


def test_time_left_follows_the_learner_that_was_timed(pending):
    assert estimate_seconds(pending, 2) is None
    pending[0].add_times([1.0, 3.0])
    pending[0].splits = SplitQueue(range(10))
    others = sum(len(part.splits) for part in pending[1:])
    assert estimate_seconds(pending, 2) == pytest.approx((10 + others) * 2.0 / 2)


def test_no_workers_are_started_for_nothing(pending):
    for part in pending:
        part.splits = SplitQueue([])
    executor = PoolExecutor(2)
    assert list(Scheduler(pending, executor).run()) == []
    assert executor._pool is None
