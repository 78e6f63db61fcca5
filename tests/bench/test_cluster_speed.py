"""What a cluster costs beside a process pool, what a chunk costs the client, how fast records are written."""

import contextlib
import statistics
import time

import pytest
from dask_processes import Cluster
from places import TOP
from processes import run_zoloss

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import ClusterSettings
from zoloss_cli.experiment import scheduler
from zoloss_cli.experiment.dask import DaskExecutor, DaskWorkers
from zoloss_cli.experiment.plan import PendingCell, plan
from zoloss_cli.experiment.runner import Progress, run_experiment
from zoloss_cli.results.record import FitRecord
from zoloss_cli.results.store import Store

PRELOAD = "zoloss_cli.experiment.dask_worker"
TURNS = 3  # of which the median counts
TABLE = ("run", str(TOP / "configs" / "table2.yaml"), "--splits", "20")

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
pytestmark = pytest.mark.benchmark(group="cluster")


@contextlib.contextmanager
def start_cluster(folder, *options):
    folder.mkdir(exist_ok=True)
    made = Cluster(folder)
    try:
        made.start_scheduler()
        made.start_worker(nanny=True, options=options)
        made.start_worker(nanny=True, options=options)
        with distributed.Client(made.address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield made
    finally:
        made.close()


def measure_seconds(*arguments):
    began = time.perf_counter()
    ended = run_zoloss(*TABLE, *arguments)
    assert ended.code == 0, ended.err
    return time.perf_counter() - began


@pytest.mark.parametrize("options", [(), ("--preload", PRELOAD)], ids=["fresh workers", "with --preload"])
def test_table_2(benchmark, monkeypatch, tmp_path, request, options):
    """With byte code, as an installed package has it, and kernels that were compiled before."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "byte-code"))
    with start_cluster(tmp_path / "before") as cluster:
        measure_seconds("--splits", "1", "--out", tmp_path / "first", "--scheduler", cluster.address)
    seconds = benchmark.pedantic(measure_in_turn, (tmp_path, options), rounds=1)
    near, far, again = map(statistics.median, zip(*seconds, strict=True))
    benchmark.extra_info["note"] = (
        f"Table II, 20 splits, {request.node.callspec.id}: pool {near:.1f} s, cluster {far:.1f} s "
        f"({far / near:.2f} x), again {again:.1f} s"
    )


def measure_in_turn(folder, options):
    rows = []
    for turn in range(TURNS):
        near = measure_seconds("--out", folder / f"near-{turn}", "--jobs", 2)
        with start_cluster(folder / f"fresh-{turn}", *options) as cluster:
            named = ("--scheduler", cluster.address)
            far = measure_seconds("--out", folder / f"far-{turn}", *named)
            again = measure_seconds("--out", folder / f"again-{turn}", *named)
        rows.append((near, far, again))
    return rows


class CpuClock(Progress):
    def start(self, totals, done):
        self.started = time.process_time()

    def finish(self):
        self.seconds = time.process_time() - self.started


def test_a_chunk_on_the_client(benchmark, tmp_path, monkeypatch, write_config):
    """All that the client does: submit, fetch, decode, write and count, as CPU time of all its threads."""

    def answer_at_once():  # a function within another one travels as code: workers do not have this module
        from zoloss_cli.experiment import dask_worker

        dask_worker.run_tasks = lambda cell, splits, seconds: [
            FitRecord(k, train_errors=1, test_errors=2) for k in splits
        ]

    path = write_config("datasets: [heart, sonar]\nsplit: {repeats: 1500}\nlearners: [fld]\n")
    n_chunks, clock = [], CpuClock()
    submit = DaskExecutor.submit
    monkeypatch.setattr(DaskExecutor, "submit", lambda self, *chunk: n_chunks.append(1) or submit(self, *chunk))
    monkeypatch.setattr(PendingCell, "take_chunk", lambda self, seconds, most: [self.splits.popleft()])
    monkeypatch.setattr(scheduler, "CHUNKS_PER_WORKER", 50)
    with start_cluster(tmp_path / "cluster") as cluster:
        with distributed.Client(cluster.address, set_as_default=False) as client:
            client.run(answer_at_once)
        workers = DaskWorkers(ClusterSettings(scheduler=cluster.address))
        run = (load_config(path), "c", Store(tmp_path / "results"), workers, clock)
        benchmark.pedantic(run_experiment, run, rounds=1)
    assert len(n_chunks) >= 3000
    milliseconds = 1000 * clock.seconds / len(n_chunks)
    benchmark.extra_info["note"] = f"a chunk, on the client: {milliseconds:.2f} ms"


def test_writing_records(benchmark, write_config, tmp_path):
    cells = plan(load_config(write_config("datasets: [heart, sonar]\nlearners: [fld, stump]\n")))

    def write():
        store = Store(tmp_path / "results")
        with store.writing():
            for first in range(0, 5000, 10):
                for cell in cells:
                    records = [FitRecord(k, train_errors=1, test_errors=2) for k in range(first, first + 10)]
                    store.append(cell, records, (200, 70))

    benchmark.pedantic(write, rounds=1)
    rate = 20_000 / benchmark.stats.stats.min
    benchmark.extra_info["note"] = f"records written: {rate:,.0f} a second"
