"""Running tasks over any executor with the interface of concurrent.futures."""

from __future__ import annotations

from collections import deque
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.pending import PendingCell, estimate_seconds
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.scheduler import MAX_WORKER_RESTARTS, Scheduler
from zoloss_cli.results.record import FitRecord


@pytest.fixture
def pending(write_config):
    text = "datasets: [heart, sonar]\nsplit: {repeats: 30}\nlearners: [fld, stump]\n"
    return [PendingCell(cell, deque(range(cell.repeats))) for cell in plan(load_config(write_config(text)))]


def list_tasks(pending):
    return sorted((part.cell.key, k) for part in pending for k in range(part.cell.repeats))


@pytest.mark.parametrize("breaks_at", [0, 1, 5])
def test_tasks_handed_to_a_breaking_pool_are_not_lost(pending, breaks_at):
    pools = []

    class Breaking(ThreadPoolExecutor):
        def __init__(self, jobs):
            super().__init__(jobs)
            self.calls = 0
            pools.append(self)

        def submit(self, *arguments):
            self.calls += 1
            if self is pools[0] and self.calls > breaks_at:
                raise BrokenExecutor("a worker died")
            return super().submit(*arguments)

    wanted = list_tasks(pending)
    chunks = list(Scheduler(pending, 2, Breaking).run())
    done = [(c.pending.cell.key, r.split) for c in chunks for r in c.records if isinstance(r, FitRecord)]
    assert sorted(done) == wanted
    assert len(pools) == 2


def test_a_pool_that_always_breaks_ends_the_run(pending):
    class Broken(ThreadPoolExecutor):
        def submit(self, *arguments):
            raise BrokenExecutor("no worker lives")

    with pytest.raises(RunError, match=f"die as they start \\({MAX_WORKER_RESTARTS + 1} in a row\\)"):
        list(Scheduler(pending, 2, Broken).run())


def test_time_left_follows_the_learner_that_was_timed(pending):
    assert estimate_seconds(pending, 2) is None
    pending[0].add_times([1.0, 3.0])
    pending[0].splits = deque(range(10))
    others = sum(len(part.splits) for part in pending[1:])
    assert estimate_seconds(pending, 2) == pytest.approx((10 + others) * 2.0 / 2)


def test_no_workers_are_started_for_nothing(pending):
    for part in pending:
        part.splits.clear()
    started = []
    assert list(Scheduler(pending, 2, lambda jobs: started.append(jobs)).run()) == []
    assert started == []
