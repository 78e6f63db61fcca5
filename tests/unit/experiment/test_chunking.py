"""Which splits travel together: every split once, times first, chunks as long as the client demands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import CHUNK_SECONDS, PendingCell, SplitQueue, plan
from zoloss_cli.experiment.scheduler import CLIENT_LOAD, MANY_WORKERS, ChunkPlanner

N_SPLITS = 3000


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "c.yaml"
    path.write_text("datasets: [heart, sonar, pima]\nlearners: [fld, stump]\n", encoding="utf-8")
    return plan(load_config(path))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make_planner(cells, n_splits=N_SPLITS):
    pending = [PendingCell(cell, SplitQueue(range(n_splits)), n_tasks=n_splits) for cell in cells]
    return ChunkPlanner(pending, Clock(), Clock())


def test_many_workers_find_out_about_each_cell_before_anything_else(cells):
    planner = make_planner(cells)
    planner.update(1000)
    first = [planner.take(1000) for _ in cells]
    assert [part for part, *_ in first] == planner.pending
    assert all(splits == [0] for _, splits, _ in first)
    for part, each in zip(planner.pending, [0.01, 0.02, 0.05, 0.04, 0.03, 0.01], strict=True):
        part.add_times([each])
    planner.clock.now += 1.0
    planner.update(1000)
    part, splits, _ = planner.take(1000)
    assert part is planner.pending[2]  # the longest tasks
    assert len(splits) > 10


def test_few_workers_share_out_what_was_not_timed_and_take_back_what_was_not_begun(cells):
    planner = make_planner(cells, 20)
    part, splits, seconds = planner.take(2)
    assert (splits, seconds) == (list(range(10)), CHUNK_SECONDS)
    assert planner.take(2)[:2] == (part, list(range(10, 20)))
    part.add_times([CHUNK_SECONDS])
    planner.give_back(part, splits[1:])
    assert planner.take(2)[:2] == (part, [1])


def test_chunks_of_many_workers_are_as_long_as_the_client_demands(cells):
    cost = 0.001
    planner = make_planner(cells, 1_000_000)
    seconds = {part.cell.key: 0.01 * (i + 1) for i, part in enumerate(planner.pending)}
    for part in planner.pending:
        part.add_times([seconds[part.cell.key]] * 1000)
    for _ in range(500):
        planner.update(1000)
        part, splits, _ = planner.take(1000)
        planner.cpu_clock.now += cost
    taken = len(splits) * seconds[part.cell.key]
    assert taken == pytest.approx(1000 * cost / CLIENT_LOAD, rel=0.02)


@given(
    n_workers=st.sampled_from([1, 2, MANY_WORKERS, MANY_WORKERS + 1, 1000]),
    n_splits=st.integers(0, 60),
    times=st.lists(st.floats(1e-6, 20.0), min_size=1, max_size=5),
    lag=st.integers(0, 9),
)
def test_every_split_is_run_once(cells, n_workers, n_splits, times, lag):
    """Some chunks end in time, and others after their first task."""
    planner = make_planner(cells, n_splits)
    run, under_way, i = [], [], 0
    while planner or under_way:
        planner.update(n_workers)
        if planner:
            part, splits, seconds = planner.take(n_workers)
            assert splits
            under_way.append((part, splits, seconds))
        if not planner or len(under_way) > lag:
            part, splits, seconds = under_way.pop(i % len(under_way))
            n_done = len(splits) if math.isinf(seconds) or i % 2 else 1
            part.add_times([times[i % len(times)]] * n_done)
            planner.give_back(part, splits[n_done:])
            run += [(part.cell.key, split) for split in splits[:n_done]]
        planner.clock.now += 0.11
        i += 1
    assert sorted(run) == sorted((cell.key, split) for cell in cells for split in range(n_splits))
    assert planner.estimate_left(n_workers) == 0.0
