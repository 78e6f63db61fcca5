"""Runs on a real Dask scheduler with real workers: the same records, and one sentence for each fault."""

import json
import re
import signal

import pytest
from dask_processes import Cluster, end
from processes import start_zoloss, wait_until
from torture.launch import count_lines, read_records

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

import zoloss_cli  # noqa: E402
from zoloss_cli.config.catalog import find_embedded_entry  # noqa: E402
from zoloss_cli.config.loader import load_config  # noqa: E402
from zoloss_cli.config.models import ClusterSettings  # noqa: E402
from zoloss_cli.data.uci import find_fetched_path  # noqa: E402
from zoloss_cli.errors import ClusterError  # noqa: E402
from zoloss_cli.experiment import dask  # noqa: E402
from zoloss_cli.experiment.dask import DaskExecutor, DaskWorkers  # noqa: E402
from zoloss_cli.experiment.runner import Progress, RunOptions, run_experiment  # noqa: E402
from zoloss_cli.results.store import Store  # noqa: E402
from zoloss_cli.utils.imports import allow_code  # noqa: E402

CONFIG = """name: small
datasets:
  sonar: {}
  mine: {csv: t.csv, missing: impute}
  yinyang: {size: 100, noise: {fraction: 0.1, draws: 2}}
split: {repeats: 5, seed: 5}
learners: {own: {learner: 'own.py:Own'}, fld: {}, stump: {}}
"""
ROWS = "a,b,label\n" + "".join(
    f"{i % 7},{i * i % 11 or ''},{'yn'[(i % 7 + i * i % 11) % 3 > 0]}\n" for i in range(60)
)
OWN = """
import os, sys, time
from sklearn.linear_model import RidgeClassifier

class Own(RidgeClassifier):
    pass

class Slow(RidgeClassifier):
    def fit(self, X, y):
        time.sleep(0.05)
        return super().fit(X, y)

class Killer(RidgeClassifier):
    def fit(self, X, y):
        if len(X) > 70 and "zoloss_cli.__main__" not in sys.modules and "pytest" not in sys.modules:
            os._exit(3)  # a worker, and not the process that plans
        return super().fit(X, y)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers; a task that kills one is blamed at once."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.settings = {
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
        "ZOLOSS_CACHE": str(made.folder / "cache"),  # with nothing in it
    }
    made.start_scheduler()
    made.start_worker(nanny=True)
    made.start_worker(nanny=True)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path):
    for name, text in (("c.yaml", CONFIG), ("own.py", OWN), ("t.csv", ROWS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


class Notes(Progress):
    def __init__(self):
        self.texts = []

    def note(self, text):
        self.texts.append(text)


def run(folder, workers, out="results", config="c.yaml", notes=None, **options):
    with allow_code():
        experiment = load_config(folder / config)
        store = Store(folder / out)
        return run_experiment(experiment, config, store, workers, notes or Notes(), RunOptions(**options))


def connect(cluster, **more):
    return DaskWorkers(ClusterSettings(scheduler=cluster.address, **more))


def test_records_are_those_of_the_process_pool(cluster, folder):
    notes = Notes()
    summary = run(folder, connect(cluster), "far", notes=notes)
    assert (summary.n_run, summary.failures) == (45, [])
    run(folder, 1, "near")
    far, near = read_records(folder / "far"), read_records(folder / "near")
    assert len(near) == 45
    assert far == near
    assert any(f"cluster {cluster.address}: " in text for text in notes.texts)
    assert notes.workers in ("1 worker on 1 host", "2 workers on 1 host")
    (info,) = json.loads((folder / "far" / "runs" / "small.json").read_text(encoding="utf-8"))["runs"]
    assert sum(host["tasks"] for host in info["hosts"].values()) == 45
    assert info["cluster"] == {"scheduler": cluster.address, "dask": distributed.__version__}
    assert "cluster" not in (folder / "near" / "runs" / "small.json").read_text(encoding="utf-8")
    with distributed.Client(cluster.address, set_as_default=False) as client:  # nothing stays there
        left = client.run(eval, "list(__import__('sys').modules['zoloss_cli.experiment.dask_worker']._bundles)")
        assert all(names == [] for names in left.values())
        assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_a_task_that_kills_its_worker_is_reported_alone(cluster, folder):
    learners = "learners: {fld: {}, killer: {learner: 'own.py:Killer'}}\n"
    (folder / "k.yaml").write_text(f"datasets: [sonar]\nsplit: {{repeats: 1}}\n{learners}", encoding="utf-8")
    summary = run(folder, connect(cluster), config="k.yaml")
    assert summary.failures == ["killer on sonar, split 0: its worker process died (out of memory?)"]
    assert summary.n_run == 1
    wait_for_workers(cluster, 2)


def wait_for_workers(cluster, count):
    """Wait until nannies have started workers again."""
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=120)


SLOW = "datasets: [sonar]\nsplit: {repeats: 200}\nlearners: {slow: {learner: 'own.py:Slow'}}\n"


def test_ctrl_c_leaves_the_cluster_usable(cluster, folder):
    (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")
    arguments = ["run", "slow.yaml", "--out", "results", "--allow-code", "--scheduler", cluster.address]
    process = start_zoloss(*arguments, cwd=folder)
    wait_until(lambda: count_lines(folder / "results" / "cells") > 5, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "interrupted with" in err
    assert "Traceback" not in err
    before = read_records(folder / "results")
    assert 5 < len(before) < 200
    summary = run(folder, connect(cluster), "other")
    assert (summary.n_run, summary.failures) == (45, [])


def test_versions_that_differ_are_named_with_their_host(cluster, folder, monkeypatch):
    here = dask.collect_versions() | {"numpy": "0.1", "zoloss-plugin": "1.0"}
    with monkeypatch.context() as patched:
        patched.setattr(dask, "collect_versions", lambda: here)
        with pytest.raises(ClusterError) as refused:
            run(folder, connect(cluster))
        assert not (folder / "results").exists()
        lines = str(refused.value).splitlines()
        assert any(
            "has numpy" in line
            and "and this machine 0.1: install the same there, or continue with --allow-versions" in line
            for line in lines
        )
        assert any("has no zoloss-plugin and this machine 1.0" in line for line in lines)
        allowed = DaskWorkers(ClusterSettings(scheduler=cluster.address), allow_versions=True)
        assert run(folder, allowed).failures == []
    (info,) = json.loads((folder / "results" / "runs" / "small.json").read_text(encoding="utf-8"))["runs"]
    assert any("has no zoloss-plugin" in each for each in info["cluster"]["differences"])


def test_a_worker_that_comes_later_with_other_versions_is_found(cluster, folder, monkeypatch):
    here = dask.collect_versions() | {"numba": "0.1"}
    monkeypatch.setattr(dask, "collect_versions", lambda: here)
    monkeypatch.setattr(DaskExecutor, "_compare_versions", lambda self: None)  # as if it had not been there
    with pytest.raises(ClusterError, match=r"has numba \S+ and this machine 0.1: install the same there"):
        run(folder, connect(cluster))


def test_a_worker_without_zoloss_is_named(cluster, folder, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "sitecustomize.py").write_text(
        "import sys\nsys.modules['zoloss_cli'] = None\n", encoding="utf-8"
    )  # as if it were not installed
    worker = cluster.start_worker(bare)
    try:
        wait_for_workers(cluster, 3)
        with pytest.raises(ClusterError) as refused:
            run(folder, connect(cluster))
    finally:
        end(worker)
    assert "has no zoloss" in str(refused.value)
    assert 'pip install "zoloss[dask]==' in str(refused.value)
    assert not (folder / "results").exists()


def test_a_table_that_changed_since_planning_is_refused(cluster, folder):
    def change_and_connect(note):
        (folder / "t.csv").write_text(ROWS + "1,2,y\n", encoding="utf-8")
        return connect(cluster)(note)

    from zoloss_cli.errors import DataError

    with pytest.raises(DataError, match="changed since the run was planned; run the same command again"):
        run(folder, change_and_connect)
    assert read_records(folder / "results") == {}


def test_fetched_data_reach_workers_that_do_not_have_them(cluster, folder, monkeypatch):
    monkeypatch.setenv("ZOLOSS_CACHE", str(folder / "cache"))
    path = find_fetched_path("heart")
    path.parent.mkdir(parents=True)
    path.write_text(find_embedded_entry("heart").path.read_text(encoding="utf-8"), encoding="utf-8")
    for out, source in (("fetched", "uci"), ("shipped", "embedded")):
        text = f"datasets: {{heart: {{source: {source}}}}}\nsplit: {{repeats: 3}}\nlearners: [fld]\n"
        (folder / f"{out}.yaml").write_text(text, encoding="utf-8")
        assert run(folder, connect(cluster), out, f"{out}.yaml").failures == []
    assert not (cluster.folder / "cache").exists()  # where workers would look
    fetched = read_records(folder / "fetched")
    assert len(fetched) == 3
    assert [*fetched.values()] == [*read_records(folder / "shipped").values()]


def test_python_honours_the_section_run(cluster, folder):
    section = f"run: {{scheduler: '{cluster.address}'}}\n"
    text = f"name: n\ndatasets: [sonar]\nsplit: {{repeats: 2}}\nlearners: [fld]\n{section}"
    results = zoloss_cli.run_experiment(text, out=folder / "out", progress=False)
    assert results.n_run == 2
    (info,) = json.loads((folder / "out" / "runs" / "n.json").read_text(encoding="utf-8"))["runs"]
    assert info["cluster"]["scheduler"] == cluster.address


def test_the_address_may_come_from_the_environment_and_a_dry_run_counts_workers(
    zoloss, cluster, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", str(cluster.file))
    command = ["run", "c.yaml", "--out", "results", "--allow-code"]
    assert zoloss(*command, "--splits", 2).code == 0
    ended = zoloss.ok(*command, "--splits", 9, "--dry-run")
    assert re.search(r"63 to run: about 0:0\d with 2 workers", ended.out)


def test_workers_that_are_gone_and_schedulers_are_waited_for_and_then_given_up(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("zoloss_cli.experiment.dask.CONNECT_SECONDS", 1.0)
    (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")

    class Kills(Notes):
        def __init__(self, victim):
            super().__init__()
            self.victim = victim

        def advance(self, dataset, tasks, seconds_left):
            end(self.victim)

    made = Cluster(tmp_path)
    made.start_scheduler()
    notes = Kills(made.start_worker())
    try:
        wait_for_workers(made, 1)
        gone = r"has had no worker for 0:01; start one with `dask worker tcp://\S+ --nthreads 1`: finished"
        with pytest.raises(ClusterError, match=gone):
            run(folder, connect(made, wait=1.0), config="slow.yaml", notes=notes)
        assert "1 worker is gone (127.0.0.1), 0 left; unfinished tasks are rescheduled" in notes.texts
        before = read_records(folder / "results")
        assert before
        made.start_worker()
        wait_for_workers(made, 1)
        notes = Kills(made.scheduler)
        gone = r"is gone and did not come back within 0:02; start it again.*finished tasks are kept"
        with pytest.raises(ClusterError, match=gone):
            run(folder, connect(made, wait=2.0), config="slow.yaml", notes=notes)
        assert any("lost the connection to the scheduler at" in text for text in notes.texts)
        assert before.items() <= read_records(folder / "results").items()
    finally:
        made.close()
    with pytest.raises(ClusterError, match=f"there is no scheduler at {made.address}"):
        run(folder, connect(made))
