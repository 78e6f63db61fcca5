"""Parts of running on a cluster that need none: classes, job scripts, versions, packages, shards, options."""

import asyncio
import hashlib
import inspect
import pickle
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
from documents import read_yaml_block
from places import TOP
from processes import run_python
from threadpoolctl import threadpool_info, threadpool_limits
from torture.launch import read_records

from zoloss_cli.api.experiments import choose_workers
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import ClusterSettings
from zoloss_cli.data.dataset import compute_fingerprint, load_data
from zoloss_cli.data.read import SentFile, name_sent_file, receive_file
from zoloss_cli.errors import ClusterError, ConfigError, DataError, MissingPackageError
from zoloss_cli.experiment import run_bundle
from zoloss_cli.experiment.plan import Shard, parse_shard, plan
from zoloss_cli.experiment.run_bundle import build_bundle, collect_versions, list_differences

ROWS = "a,b,label\n" + "".join(f"{i},{i * i % 7},{'yn'[i % 3 > 0]}\n" for i in range(30))


# -- shards -----------------------------------------------------------------------------------------------


def test_shards_are_disjoint_and_together_all_tasks(write_config):
    text = "datasets: [heart, sonar]\nsplit: {repeats: 53}\nlearners: [fld, stump]\n"
    for cell in plan(load_config(write_config(text))):
        for count in (1, 2, 7, 20, 61):
            parts = [list(Shard(i + 1, count).select_splits(cell)) for i in range(count)]
            assert sorted(split for part in parts for split in part) == list(range(53))
            assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for wrong in ("0/3", "4/3", "3", "a/b", "1/1000000", "1/2/3"):
        with pytest.raises(ConfigError, match="--shard: "):
            parse_shard(wrong)


def test_shards_are_merged_into_the_whole_run(zoloss, write_config, tmp_path):
    path = write_config("name: small\ndatasets: [heart, sonar]\nsplit: {repeats: 7}\nlearners: [fld]\n")
    assert zoloss("run", path, "--out", tmp_path / "whole", "--jobs", 1).code == 0
    for part in (1, 2, 3):
        ended = zoloss.ok("run", path, "--out", tmp_path / "r", "--shard", f"{part}/3", "--jobs", 1)
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
    bundle = pickle.loads(pickle.dumps(build_bundle(cells, None)))
    path.unlink()
    (file,) = bundle.files
    assert file.content == ROWS.encode()
    receive_file(file)
    assert [bundle.cells[key].key for key in keys] == keys  # computed anew from what was sent
    sent = bundle.cells[keys[0]].data
    assert str(path) not in sent.csv
    assert compute_fingerprint(sent) == compute_fingerprint(cells[0].data)
    assert (load_data(sent).X == data.X).all()


def test_a_sent_file_that_is_damaged_or_of_another_version_is_refused(tmp_path):
    first, other = (
        name_sent_file(tmp_path / "x.csv", hashlib.sha256(text).hexdigest()) for text in (b"a", b"b")
    )
    with pytest.raises(DataError, match=r"x\.csv is damaged"):
        receive_file(SentFile(first, b"b"))
    receive_file(SentFile(first, b"a", "no-such-data"))
    with pytest.raises(DataError, match="another run on this worker uses another version of 'no-such-data'"):
        receive_file(SentFile(other, b"b", "no-such-data"))


def test_versions_are_those_of_this_process_and_differences_name_the_host(monkeypatch):
    found = collect_versions()
    assert found["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert list_differences(found) == []
    monkeypatch.setattr("socket.gethostname", lambda: "node7")
    monkeypatch.setattr(run_bundle, "collect_versions", lambda: {"numpy": "1.26", "theirs": "1.0"})
    assert list_differences({"numpy": "2.1", "mine": "1.0"}) == [
        "node7 has numpy 1.26 and this machine 2.1",
        "node7 has no mine and this machine 1.0",
        "node7 has theirs 1.0 and this machine none",
    ]


def test_a_worker_computes_with_one_thread(write_config, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment import dask_worker

    bundle = build_bundle(plan_table(write_config, ROWS)[1], None)
    monkeypatch.setitem(dask_worker._bundles, bundle.name, bundle)
    seen = []
    monkeypatch.setattr(dask_worker, "run_tasks", lambda *_: seen.append(count_threads()) or [])
    with threadpool_limits(2):
        dask_worker.run_chunk_on_worker(bundle.name, next(iter(bundle.cells)), [0], 1.0)
        assert seen == [(1, {1})]
        assert count_threads()[1] != {1}  # for other users of the cluster


def count_threads():
    """Return the number of threads of numba, and those of the other libraries."""
    return numba.get_num_threads(), {library["num_threads"] for library in threadpool_info()}


# -- clusters that a run starts ---------------------------------------------------------------------------


def test_the_job_script_of_slurm_is_what_the_page_shows():
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    from zoloss_cli.experiment.dask import load_cluster_class

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

    from zoloss_cli.experiment.dask import load_cluster_class

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
    assert spec["spec"]["worker"]["replicas"] == 20
    command = spec["spec"]["worker"]["spec"]["containers"][0]["args"]
    assert command[:2] == ["dask", "worker"]
    assert command[command.index("--nthreads") + 1] == "1"


def test_a_class_that_is_no_cluster_or_cannot_start_is_refused():
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment.dask import load_cluster_class, start_cluster

    for name, kind, sentence in (
        ("distributed.LocalClutser", ConfigError, "'LocalClutser'; did you mean 'LocalCluster'"),
        ("distributed.Client", ConfigError, "distributed has no cluster class 'Client'"),
        ("no_such_package.Cluster", MissingPackageError, "pip install no-such-package"),
        ("distributed.nothing.X", ConfigError, "cannot be imported"),
    ):
        with pytest.raises(kind, match=sentence):
            load_cluster_class(name)
    settings = ClusterSettings(cluster="distributed.LocalCluster", settings={"no_such": 1}, workers=1)
    with pytest.raises(ClusterError, match=r"LocalCluster cannot be started \(.*check its settings"):
        start_cluster(settings)


def test_a_scheduler_of_another_dask_is_refused(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment import dask

    monkeypatch.setattr(dask, "ask_version", lambda address: "2020.1")
    with pytest.raises(ClusterError) as refused:
        dask.DaskWorkers(ClusterSettings(scheduler="tcp://head:1"))(print)
    assert str(refused.value) == (
        f"the scheduler at tcp://head:1 has distributed 2020.1 and this machine {distributed.__version__}: "
        "install the same there, or continue with --allow-versions"
    )


def test_what_listens_but_is_no_scheduler_is_reported(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment import dask

    monkeypatch.setattr(dask, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(
            ClusterError, match=f"the program at {address} does not answer like a Dask scheduler"
        ):
            dask.DaskWorkers(ClusterSettings(scheduler=address))(print)


def test_a_file_that_an_installation_lacks_is_said_with_the_host(write_config, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from zoloss_cli.experiment import dask_worker

    bundle = pickle.loads(pickle.dumps(build_bundle(plan_table(write_config, ROWS)[1], None)))
    key = next(key for key, cell in bundle.cells.items() if cell.data.name == "heart")
    monkeypatch.setitem(dask_worker._bundles, bundle.name, bundle)
    monkeypatch.setattr("zoloss_cli.data.dataset.find_data_path", lambda spec: Path("nowhere/heart.csv"))
    load_data.cache_clear()
    with pytest.raises(ClusterError) as refused:
        dask_worker.run_chunk_on_worker(bundle.name, key, [0], 1.0)
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


def test_a_bad_address_is_one_sentence_and_nothing_is_written(zoloss, write_config, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    path = write_config("datasets: [heart]\nsplit: {repeats: 2}\nlearners: [fld]\n")
    for address, sentence in (
        ("nowhere.json", "is neither an address such as tcp://host:8786 nor an existing scheduler file"),
        ("broken.json", "is not a scheduler file; `dask scheduler --scheduler-file broken.json` writes one"),
    ):
        ended = zoloss("run", path, "--out", "results", "--scheduler", address)
        assert ended.code == 10
        assert sentence in ended.err
        assert not (tmp_path / "results").exists()


def test_the_command_line_does_not_import_dask_unless_asked():
    modules = "zoloss_cli.cli._progress, zoloss_cli.api.experiments"
    code = f"import sys; import {modules}; print('distributed' in sys.modules)"
    assert run_python("-c", code).out == "False\n"
