"""Executing units over any executor with the interface of concurrent.futures."""

from __future__ import annotations

from collections import deque
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.execute import MOST_DEATHS, Remaining, Work, execute
from zoloss_cli.experiment.plan import plan


@pytest.fixture
def works(write_config):
    text = "datasets: [heart, sonar]\nsplit: {repeats: 30}\nlearners: [fld, stump]\n"
    return [Work(cell, deque(range(cell.repeats))) for cell in plan(load_config(write_config(text)))]


def everything(works):
    return sorted((work.cell.key, k) for work in works for k in range(work.cell.repeats))


@pytest.mark.parametrize("breaks_at", [0, 1, 5])
def test_units_handed_to_a_breaking_pool_are_not_lost(works, breaks_at):
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

    wanted = everything(works)
    done = [(o.work.cell.key, r["k"]) for o in execute(works, 2, Breaking) for r in o.rows if "failed" not in r]
    assert sorted(done) == wanted
    assert len(pools) == 2


def test_a_pool_that_always_breaks_ends_the_run(works):
    class Broken(ThreadPoolExecutor):
        def submit(self, *arguments):
            raise BrokenExecutor("no worker lives")

    with pytest.raises(RunError, match=f"die as they start \\({MOST_DEATHS + 1} in a row\\)"):
        list(execute(works, 2, Broken))


def test_time_left_follows_the_learner_that_was_timed(works):
    assert Remaining(works, 2).seconds() is None
    works[0].seconds, works[0].timed = 4.0, 2
    works[0].todo = deque(range(10))
    others = sum(len(w.todo) for w in works[1:])
    assert Remaining(works, 2).seconds() == pytest.approx((10 + others) * 2.0 / 2)
