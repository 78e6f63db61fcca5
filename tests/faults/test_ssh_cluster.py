"""The ssh example of the page about clusters, with a real ssh server on loopback."""

import json

import pytest
import yaml
from documents import read_yaml_block
from places import TOP
from processes import run_zoloss
from ssh_server import SshHost

pytest.importorskip("distributed", reason="Dask is not installed")
pytest.importorskip("asyncssh", reason="asyncssh is not installed")


@pytest.fixture
def host():
    made = SshHost()
    made.open()
    yield made
    made.close()


def test_a_run_starts_workers_by_ssh_and_ends_them(host, tmp_path):
    example = read_yaml_block(TOP / "docs" / "clusters.md", "ssh.yaml")
    settings = example["distributed.SSHCluster"]
    settings["hosts"] = ["127.0.0.1", "127.0.0.1"]
    settings["worker_options"]["n_workers"] = example["workers"] = 1
    settings["connect_options"] = {"port": host.port, "known_hosts": None, "username": "somebody"}
    (tmp_path / "ssh.yaml").write_text(yaml.safe_dump(example), encoding="utf-8")
    text = "name: n\ndatasets: [sonar]\nsplit: {repeats: 3}\nlearners: [fld]\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    ended = run_zoloss("run", "c.yaml", "--cluster", "ssh.yaml", "--allow-code", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "3 tasks: 0 were done, 3 run" in ended.err
    (info,) = json.loads((tmp_path / "results" / "runs" / "n.json").read_text(encoding="utf-8"))["runs"]
    assert [share["tasks"] for share in info["hosts"].values()] == [3]
    scheduler, worker = [command for command in host.commands if "dask_spec" in command]
    assert '"distributed.Scheduler"' in scheduler
    assert '"nthreads": 1' in worker
    host.wait_for_children()
