"""A thousand simulated workers and ten million tasks, with the code of real runs."""

import tracemalloc

import pytest
from simulated_cluster import load_measured_times, plan_ten_million, simulate

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.scheduler import Scheduler

MEGABYTE = 1 << 20


def test_a_thousand_workers_are_busy_until_the_last_of_the_work():
    cells, times = load_measured_times()
    n_splits = 500
    simulation = simulate(cells, times, 1000, n_splits, client_seconds=0.001)
    until = simulation.find_time_of(0.95)
    assert simulation.compute_mean_busy(until) >= 900
    work = sum(each[k % len(each)] for each in times.values() for k in range(n_splits))
    assert simulation.work == pytest.approx(work)


def test_few_workers_take_cells_in_the_order_of_the_plan(write_config):
    cells = plan(load_config(write_config("datasets: [heart, sonar]\nsplit: {repeats: 4}\nlearners: [fld]\n")))
    simulation = simulate(cells, {cells[0].key: [0.1], cells[1].key: [0.12]}, 1, 4, 0.0)
    assert [end - start for start, end in simulation.chunks] == pytest.approx([0.4, 0.48])


def test_a_chunk_of_long_tasks_ends_in_time_and_the_rest_of_it_is_run(write_config):
    cells = plan(load_config(write_config("datasets: [heart]\nsplit: {repeats: 4}\nlearners: [fld]\n")))
    simulation = simulate(cells, {cells[0].key: [10.0]}, 1, 4, 0.0)
    assert [round(end - start) for start, end in simulation.chunks] == [10] * 4


def test_ten_million_tasks_are_planned_in_little_memory(tmp_path):
    tracemalloc.start()
    try:
        pending = plan_ten_million(tmp_path)
        scheduler = Scheduler(pending, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(len(part.splits) for part in scheduler.pending) == 10_000_000
    assert peak < 500 * MEGABYTE
