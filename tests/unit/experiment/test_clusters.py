"""Parts of running on a cluster that need none: classes, job scripts, versions, packages, shards, options."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import pickle
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from documents import read_yaml_block
from places import TOP
from processes import run_python
from torture.launch import read_records

from zoloss_cli.api.experiments import choose_workers
from zoloss_cli.config.clusters import ClusterSettings
from zoloss_cli.config.loader import load_config
from zoloss_cli.data.csv_files import SentFile, name_sent_file, receive_file
from zoloss_cli.data.dataset import compute_fingerprint, load_data
from zoloss_cli.errors import ClusterError, ConfigError, DataError, MissingPackageError
from zoloss_cli.experiment.executors.run_bundle import build_package, collect_versions, list_differences
from zoloss_cli.experiment.plan import Shard, parse_shard, plan

ROWS = "a,b,label\n" + "".join(f"{i},{i * i % 7},{'yn'[i % 3 > 0]}\n" for i in range(30))


# -- shards -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7, 20, 61])
def test_shards_are_disjoint_and_together_all_tasks(write_config, count):
    text = "datasets: [heart, sonar]\nsplit: {repeats: 53}\nlearners: [fld, stump]\n"
    for cell in plan(load_config(write_config(text))):
        parts = [list(Shard(i + 1, count).select_splits(cell)) for i in range(count)]
        assert sorted(split for part in parts for split in part) == list(range(53))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/1000000", "1/2/3", ""])
def test_no_part_is_refused(text):
    with pytest.raises(ConfigError, match="--shard: "):
        parse_shard(text)


def test_shards_are_merged_into_the_whole_run(zoloss, write_config, tmp_path):
    path = write_config("name: small\ndatasets: [heart, sonar]\nsplit: {repeats: 7}\nlearners: [fld]\n")
    assert zoloss("run", path, "--out", tmp_path / "whole", "--jobs", 1).code == 0
    for part in (1, 2, 3):
        ended = zoloss("run", path, "--out", tmp_path / "r", "--shard", f"{part}/3", "--jobs", 1)
        assert ended.code == 0, ended.err
        assert f"zoloss merge {tmp_path / 'r'}-shard-*-of-3 --out FOLDER" in ended.err
    folders = sorted(tmp_path.glob("r-shard-*-of-3"))
    assert sum(len(read_records(folder)) for folder in folders) == 14
    joined = zoloss("merge", *folders, "--out", tmp_path / "joined")
    assert "14 of 14 tasks, complete" in joined.out
    assert read_records(tmp_path / "joined") == read_records(tmp_path / "whole")
    left = zoloss("run", path, "--out", tmp_path / "r", "--shard", "1/3", "--dry-run").out
    assert "nothing to run" in left
    assert '"shard": "1/3"' in (folders[0] / "runs" / "small.json").read_text(encoding="utf-8")


# -- what is sent -----------------------------------------------------------------------------------------


def plan_table(write_config, text):
    path = write_config(
        "datasets: {mine: {csv: t.csv}, heart: {}}\nsplit: {repeats: 2}\nlearners: [fld, stump]\n"
    )
    (path.parent / "t.csv").write_text(text, encoding="utf-8")
    return path.parent / "t.csv", plan(load_config(path))


def test_a_table_is_packed_once_and_is_read_without_its_file(write_config):
    path, cells = plan_table(write_config, ROWS)
    keys = [cell.key for cell in cells]
    data = load_data(cells[0].data)
    package = pickle.loads(pickle.dumps(build_package(cells, None)))
    path.unlink()
    (file,) = package.files
    assert file.content == ROWS.encode()
    receive_file(file)
    assert [package.cells[key].key for key in keys] == keys  # computed anew from what was sent
    sent = package.cells[keys[0]].data
    assert str(path) not in sent.csv
    assert compute_fingerprint(sent) == compute_fingerprint(cells[0].data)
    assert (load_data(sent).X == data.X).all()


def test_a_file_that_is_not_what_it_says_is_refused():
    path = name_sent_file(Path("t.csv"), hashlib.sha256(b"a").hexdigest())
    with pytest.raises(DataError, match=r"t\.csv is damaged"):
        receive_file(SentFile(path, b"b"))


def test_another_version_of_fetched_data_is_refused(tmp_path):
    for content in (b"a", b"b"):
        path = name_sent_file(tmp_path / "x.csv", hashlib.sha256(content).hexdigest())
        if content == b"a":
            receive_file(SentFile(path, content, "no-such-data"))
            continue
        with pytest.raises(
            DataError, match="another run on this worker uses another version of 'no-such-data'"
        ):
            receive_file(SentFile(path, content, "no-such-data"))


def test_versions_are_those_of_this_process_and_differences_name_the_host():
    found = collect_versions()
    assert found["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert list_differences("here", found, found) == []
    other = found | {"numpy": "0.1"}
    assert list_differences("node7", other, found) == [f"node7 has numpy 0.1 and this machine {found['numpy']}"]


THREADS = """
import os
for name in list(os.environ):
    if name.endswith("_NUM_THREADS"):
        del os.environ[name]
import numba
from threadpoolctl import threadpool_info
{before}
from zoloss_cli.experiment.executors.dask_worker import limit_worker_threads
limit_worker_threads()
limit_worker_threads()
assert numba.njit(lambda x: x + 1)(1) == 2  # numba looks at the environment when it compiles
print(numba.get_num_threads(), {{pool["num_threads"] for pool in threadpool_info()}})
"""


@pytest.mark.parametrize("before", ["", "numba.set_num_threads(1)"])
def test_a_worker_has_one_thread_even_if_it_has_loaded_numba_with_more(before):
    pytest.importorskip("distributed", reason="Dask is not installed")
    ended = run_python("-c", THREADS.format(before=before))
    assert (ended.out, ended.code) == ("1 {1}\n", 0), ended.err


# -- clusters that a run starts ---------------------------------------------------------------------------


def test_the_job_script_of_slurm_is_what_the_page_shows():
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    from zoloss_cli.experiment.executors.dask_connection import load_cluster_class

    settings = {
        "cores": 8, "processes": 8, "memory": "16GB",
        "queue": "main", "account": "stats", "walltime": "02:00:00",
        "asynchronous": True, "python": "python", "interface": "lo", "scheduler_options": {"dashboard": False},
    }  # fmt: skip

    async def build():
        async with load_cluster_class("dask_jobqueue.SLURMCluster")(**settings) as cluster:
            return cluster.job_script()

    with ThreadPoolExecutor(1) as pool:  # other tests leave a loop in this thread
        lines = pool.submit(asyncio.run, build()).result().splitlines()
    assert "#SBATCH -p main" in lines
    assert "#SBATCH -A stats" in lines
    assert "#SBATCH --cpus-per-task=8" in lines
    assert "#SBATCH --mem=15G" in lines
    assert "#SBATCH -t 02:00:00" in lines
    assert "--nthreads 1 " in lines[-1]
    assert "--nworkers 8 " in lines[-1]
    page = (TOP / "docs" / "clusters.md").read_text(encoding="utf-8")
    for line in lines[1:-1]:
        assert line in page or not line


def test_the_cluster_of_kubernetes_is_what_the_page_says():
    pytest.importorskip("dask_kubernetes", reason="dask-kubernetes is not installed")
    from dask_kubernetes.operator import make_cluster_spec

    from zoloss_cli.experiment.executors.dask_connection import load_cluster_class

    example = read_yaml_block(TOP / "docs" / "clusters.md", "kubernetes.yaml")
    (name,) = set(example) - {"workers"}
    settings = example[name]
    known = inspect.signature(load_cluster_class(name)).parameters
    assert set(settings) <= set(known)
    spec = make_cluster_spec(
        name=settings["name"],
        image=settings["image"],
        n_workers=example["workers"],
        worker_command=settings["worker_command"],
    )
    assert spec["kind"] == "DaskCluster"
    assert spec["metadata"]["name"] == "zoloss"
    assert spec["spec"]["worker"]["replicas"] == 20
    for part in ("worker", "scheduler"):
        (container,) = spec["spec"][part]["spec"]["containers"]
        assert container["image"] == "registry/zoloss-dask"
    command = spec["spec"]["worker"]["spec"]["containers"][0]["args"]
    assert command[:2] == ["dask", "worker"]
    assert command[command.index("--nthreads") + 1] == "1"


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        (
            "distributed.LocalClutser",
            ConfigError,
            "has no cluster class 'LocalClutser'; did you mean 'LocalCluster'",
        ),
        ("distributed.Client", ConfigError, "distributed has no cluster class 'Client'"),
        ("no_such_package.Cluster", MissingPackageError, "pip install no-such-package"),
        ("distributed.nothing.X", ConfigError, "cannot be imported"),
    ],
)
def test_a_class_that_is_no_cluster_is_refused(name, kind, sentence):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.executors.dask_connection import load_cluster_class

    with pytest.raises(kind, match=sentence):
        load_cluster_class(name)


def test_a_cluster_that_cannot_start_is_one_sentence():
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.executors.dask_connection import start_cluster

    wrong = {"no_such": 1, "dashboard_address": None, "n_workers": 1}
    settings = ClusterSettings(cluster="distributed.LocalCluster", settings=wrong, workers=1)
    with pytest.raises(
        ClusterError, match=r"distributed.LocalCluster cannot be started \(.*correct its settings"
    ):
        start_cluster(settings)


def test_a_scheduler_of_another_dask_is_refused_unless_allowed():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.executors.dask_connection import compare_dask

    with pytest.raises(ClusterError) as refused:
        compare_dask("2020.1", "tcp://head:1", False)
    difference = (
        f"the scheduler at tcp://head:1 has distributed 2020.1 and this machine {distributed.__version__}"
    )
    assert str(refused.value) == f"{difference}: install the same there, or go on with --allow-versions"
    assert compare_dask("2020.1", "tcp://head:1", True) == [difference]
    assert compare_dask(distributed.__version__, "tcp://head:1", False) == []


def test_a_worker_that_dies_while_versions_are_compared_is_no_fault():
    comm = pytest.importorskip("distributed.comm", reason="Dask is not installed")
    from zoloss_cli.experiment.executors.dask_cluster import check_workers

    class Client:
        """Two workers, of which one is gone, or has no zoloss."""

        def __init__(self, error):
            self.error = error

        def run(self, function, *arguments, on_error):
            return {"tcp://a:1": function(*arguments), "tcp://b:1": self.error}

    assert check_workers(Client(comm.CommClosedError("reset")), False) == []
    with pytest.raises(ClusterError, match="has no zoloss"):
        check_workers(Client(ModuleNotFoundError("No module named 'zoloss_cli'")), False)


def test_what_listens_but_is_no_scheduler_is_said(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.executors import dask_connection

    monkeypatch.setattr(dask_connection, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        connection = dask_connection.Connection(ClusterSettings(scheduler=address), print)
        with pytest.raises(ClusterError) as refused:
            connection.open()
    assert str(refused.value).startswith(
        f"what listens at {address} does not answer as a Dask scheduler does; "
    )


def test_a_file_that_an_installation_lacks_is_said_with_the_host(write_config, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.executors import dask_worker

    package = build_package(plan_table(write_config, ROWS)[1], None)
    package = pickle.loads(pickle.dumps(package))
    key = next(key for key, cell in package.cells.items() if cell.data.name == "heart")
    monkeypatch.setitem(dask_worker._packages, package.name, package)
    monkeypatch.setattr("zoloss_cli.data.dataset.find_data_path", lambda spec: Path("nowhere/heart.csv"))
    load_data.cache_clear()
    with pytest.raises(ClusterError) as refused:
        dask_worker.run_chunk_on_worker(package.name, key, [0], 1.0)
    assert str(refused.value).startswith(f"{socket.gethostname()}: ")
    assert "nowhere/heart.csv" in str(refused.value)
    assert str(refused.value).endswith("install the same zoloss and the same plug-ins there")


# -- options ----------------------------------------------------------------------------------------------


def test_options_count_more_than_the_config_and_that_more_than_the_environment(
    write_config, tmp_path, monkeypatch
):
    text = "datasets: [heart]\nlearners: [fld]\n"
    plain, with_section = write_config(text), tmp_path / "section.yaml"
    with_section.write_text(f"{text}run: {{scheduler: 'tcp://config:1'}}\n", encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text("scheduler: tcp://file:1\n", encoding="utf-8")
    assert choose_workers(plain, 3, "", None, False) == 3
    assert choose_workers(with_section, 3, "tcp://option:1", None, False).settings.scheduler == "tcp://option:1"
    assert choose_workers(with_section, 3, "", None, False).settings.scheduler == "tcp://config:1"
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://env:1")
    assert choose_workers(with_section, 3, "tcp://env:1", None, False).settings.scheduler == "tcp://config:1"
    assert choose_workers(plain, 3, "tcp://env:1", None, True).allow_versions
    found = choose_workers(plain, 3, "tcp://env:1", tmp_path / "cluster.yaml", False)
    assert found.settings.scheduler == "tcp://file:1"
    with pytest.raises(ConfigError, match="--scheduler and --cluster both name a cluster: use one"):
        choose_workers(plain, 3, "tcp://option:1", tmp_path / "cluster.yaml", False)
    with pytest.raises(ConfigError, match="--allow-versions is for a run on a cluster"):
        choose_workers(plain, 3, "", None, True)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nowhere.json", "is neither an address such as tcp://host:8786 nor a scheduler file that is there"),
        (
            "broken.json",
            "broken.json is not a scheduler file; `dask scheduler --scheduler-file broken.json` writes one",
        ),
    ],
)
def test_a_bad_address_is_one_sentence_and_nothing_is_written(
    zoloss, write_config, tmp_path, address, sentence, monkeypatch
):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    path = write_config("datasets: [heart]\nsplit: {repeats: 2}\nlearners: [fld]\n")
    ended = zoloss("run", path, "--out", "results", "--scheduler", address)
    assert ended.code == 10
    assert sentence in ended.err
    assert not (tmp_path / "results").exists()


def test_the_command_line_does_not_import_dask_unless_asked():
    modules = "zoloss_cli.cli._progress, zoloss_cli.api.experiments"
    code = f"import sys; import {modules}; print('distributed' in sys.modules)"
    assert run_python("-c", code).out == "False\n"
