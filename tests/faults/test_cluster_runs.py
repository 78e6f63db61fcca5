"""Runs on a real Dask scheduler with real workers: the same records, and one sentence for each fault."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest
import yaml
from dask_processes import Cluster, end
from packages import write_distribution
from processes import environment, run_zoloss, start_zoloss, wait_until
from torture.launch import count_lines, read_records

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

import zoloss_cli  # noqa: E402
from zoloss_cli.config.catalog import find_embedded_entry  # noqa: E402
from zoloss_cli.config.clusters import ClusterSettings  # noqa: E402
from zoloss_cli.config.loader import load_config  # noqa: E402
from zoloss_cli.data.uci import find_fetched_path  # noqa: E402
from zoloss_cli.errors import ClusterError  # noqa: E402
from zoloss_cli.experiment.executors.dask_cluster import DaskWorkers  # noqa: E402
from zoloss_cli.experiment.executors.run_bundle import begin_worker_imports  # noqa: E402
from zoloss_cli.experiment.runner import Progress, RunOptions, run_experiment  # noqa: E402
from zoloss_cli.results.store import Store  # noqa: E402
from zoloss_cli.utils.code_files import allow_code  # noqa: E402

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
        self.texts, self.workers = [], ""

    def note(self, text):
        self.texts.append(text)

    def show_workers(self, text):
        self.workers = text


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


def test_a_worker_imports_learners_as_soon_as_it_is_told(tmp_path):
    fresh = Cluster(tmp_path)
    try:
        fresh.start_scheduler()
        worker = fresh.start_worker()
        with distributed.Client(fresh.address, set_as_default=False) as client:
            client.wait_for_workers(1)
            looking = (eval, "'zoloss_cli.learners.linear.pocket' in __import__('sys').modules")
            assert list(client.run(*looking).values()) == [False]
            begin_worker_imports(fresh.address)
            wait_until(lambda: list(client.run(*looking).values()) == [True], worker)
    finally:
        fresh.close()


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:1", "no-such-file", " "])
def test_a_scheduler_that_is_not_there_is_left_to_the_run(scheduler):
    assert begin_worker_imports(scheduler) is None


def test_nothing_stays_on_the_cluster(cluster, folder):
    run(folder, connect(cluster))
    with distributed.Client(cluster.address, set_as_default=False) as client:
        left = client.run(eval, "list(__import__('zoloss_cli.experiment.executors.dask_worker', "
                                "fromlist=['_packages'])._packages)")  # fmt: skip
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
    from zoloss_cli.experiment.executors import dask_cluster
    from zoloss_cli.experiment.executors import run_bundle as versions

    here = versions.collect_versions() | {"numpy": "0.1", "zoloss-plugin": "1.0"}
    with monkeypatch.context() as patched:
        patched.setattr(
            dask_cluster,
            "list_differences",
            lambda host, theirs, ours: versions.list_differences(host, theirs, here),
        )
        with pytest.raises(ClusterError) as refused:
            run(folder, connect(cluster))
        assert not (folder / "results").exists()
        lines = str(refused.value).splitlines()
        assert any(
            "has numpy" in line
            and "and this machine 0.1: install the same there, or go on with --allow-versions" in line
            for line in lines
        )
        assert any("has no zoloss-plugin and this machine 1.0" in line for line in lines)
        allowed = DaskWorkers(ClusterSettings(scheduler=cluster.address), allow_versions=True)
        assert run(folder, allowed).failures == []
    (info,) = json.loads((folder / "results" / "runs" / "small.json").read_text(encoding="utf-8"))["runs"]
    assert any("has no zoloss-plugin" in each for each in info["cluster"]["differences"])


def test_a_worker_that_comes_later_with_other_versions_is_found(cluster, folder, monkeypatch):
    from zoloss_cli.experiment.executors import dask_cluster
    from zoloss_cli.experiment.executors import dask_cluster as dask_fit
    from zoloss_cli.experiment.executors import run_bundle as versions

    here = versions.collect_versions() | {"numba": "0.1"}
    monkeypatch.setattr(dask_cluster, "collect_versions", lambda: here)
    monkeypatch.setattr(
        dask_fit, "check_workers", lambda client, allow_versions: []
    )  # as if it had not been there
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


@pytest.mark.parametrize("kind", ["path", "mapping", "text"])
def test_python_honours_the_section_run(cluster, folder, kind):
    section = f"run: {{scheduler: '{cluster.address}'}}\n"
    text = f"name: n\ndatasets: [sonar]\nsplit: {{repeats: 2}}\nlearners: [fld]\n{section}"
    path = folder / "section.yaml"
    path.write_text(text, encoding="utf-8")
    config = {"path": path, "mapping": yaml.safe_load(text), "text": text}[kind]
    results = zoloss_cli.run_experiment(config, out=folder / "results", progress=False)
    assert results.n_run == 2
    (info,) = json.loads((folder / "results" / "runs" / "n.json").read_text(encoding="utf-8"))["runs"]
    assert info["cluster"]["scheduler"] == cluster.address


def test_a_plug_in_that_no_worker_has_is_named_with_the_host(cluster, folder):
    write_distribution(folder / "plug", "zoloss_mine", {"learners": {"mine": "zoloss_mine:Mine"}})
    arguments = ["run", "c.yaml", "--out", "results", "--allow-code", "--scheduler", cluster.address]
    ended = run_zoloss(*arguments, cwd=folder, env=environment(folder / "plug"))
    assert ended.code == 10
    lines = ended.err.splitlines()
    assert len(lines) == 2  # one for each worker
    for line in lines:
        assert re.fullmatch(r"zoloss: .*tcp://\S+\) has no zoloss_mine and this machine 1\.0: install the same "
                            r"there, or go on with --allow-versions", line)  # fmt: skip
    assert not (folder / "results").exists()


def test_a_full_disk_ends_the_run_in_a_sentence_and_leaves_the_cluster_usable(cluster, folder, monkeypatch):
    from zoloss_cli.errors import ResultsError
    from zoloss_cli.results import store as stores

    def refuse(record):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(stores, "encode_line", refuse)
        with pytest.raises(ResultsError, match=r"No space left on device; what was finished .* make room"):
            run(folder, connect(cluster))
    assert run(folder, connect(cluster)).failures == []


def test_the_address_may_come_from_the_environment_and_a_dry_run_counts_workers(cluster, folder):
    run(folder, connect(cluster))
    environ = {**environment(), "DASK_SCHEDULER_ADDRESS": str(cluster.file)}
    arguments = ["run", "c.yaml", "--out", "results", "--allow-code", "--splits", "9", "--dry-run"]
    ended = run_zoloss(*arguments, cwd=folder, env=environ)
    assert ended.code == 0, ended.err
    assert re.search(r"36 to run: about 0:0\d with 2 workers", ended.out)


def test_a_lost_scheduler_is_waited_for_and_then_given_up(tmp_path, folder):
    made = Cluster(tmp_path)
    made.start_scheduler()
    worker = made.start_worker()
    notes = Notes()
    (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")

    class KillsScheduler(Notes):
        def advance(self, dataset, tasks, seconds_left):
            if made.scheduler.poll() is None:
                os.killpg(made.scheduler.pid, signal.SIGKILL)
                made.scheduler.wait()

    notes = KillsScheduler()
    try:
        with pytest.raises(
            ClusterError, match=r"is gone and did not come back within 0:02; start it again"
        ) as refused:
            run(folder, connect(made, wait=2.0), config="slow.yaml", notes=notes)
    finally:
        made.close()
        end(worker)
    assert "what is finished is kept" in str(refused.value)
    assert any("lost the connection to the scheduler at" in text for text in notes.texts)
    assert read_records(folder / "results")


def test_workers_that_are_gone_and_no_scheduler_are_said(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("zoloss_cli.experiment.executors.dask_connection.CONNECT_SECONDS", 1.0)
    made = Cluster(tmp_path)
    made.start_scheduler()
    worker = made.start_worker()
    (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")

    class KillsWorker(Notes):
        def advance(self, dataset, tasks, seconds_left):
            end(worker)

    notes = KillsWorker()
    gone = (
        r"has had no worker for 0:01{}; start one with `dask worker tcp://\S+ --nthreads 1`: what is finished"
    )
    try:
        with pytest.raises(ClusterError, match=gone.format(r" \(the last one was tcp://127.0.0.1:\d+\)")):
            run(folder, connect(made, wait=1.0), config="slow.yaml", notes=notes)
        assert "1 worker is gone (127.0.0.1), 0 left; what it had waits for another" in notes.texts
        assert read_records(folder / "results")
        with pytest.raises(ClusterError, match=gone.format("")):
            run(folder, connect(made, wait=1.0), "other")
    finally:
        made.close()
    with pytest.raises(ClusterError, match=f"there is no scheduler at {made.address}"):
        run(folder, connect(made))
