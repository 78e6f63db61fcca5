"""The section `run` of a config, and files that describe a cluster: what they say, and what they may not."""

from __future__ import annotations

import pytest

from zoloss_cli.config.clusters import load_cluster_file, load_run_section
from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.utils.code_files import allow_code

SLURM = "dask_jobqueue.SLURMCluster: {cores: 8, memory: 16GB, job_extra_directives: ['--gres=gpu:1']}\n"


def read(tmp_path, text):
    path = tmp_path / "cluster.yaml"
    path.write_text(text, encoding="utf-8")
    return load_cluster_file(path)


def refuse(tmp_path, text):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path / 'cluster.yaml'}")
    return str(refused.value)


def test_a_class_and_its_settings_are_read(tmp_path):
    found = read(tmp_path, f"{SLURM}minimum: 2\nmaximum: 40\nwait: 60\n")
    assert found.cluster == "dask_jobqueue.SLURMCluster"
    assert found.settings["job_extra_directives"] == ["--gres=gpu:1"]
    assert (found.minimum, found.maximum, found.workers, found.n_wanted, found.wait) == (2, 40, None, 40, 60.0)


def test_a_scheduler_is_read(tmp_path):
    found = read(tmp_path, "scheduler: tcp://head:8786\n")
    assert (found.scheduler, found.cluster, found.n_wanted) == ("tcp://head:8786", None, 0)


def test_the_section_of_a_config_changes_no_result(write_config):
    text = "datasets: [heart]\nlearners: [fld]\n"
    plain, path = (
        load_config(write_config(text)),
        write_config(f"{text}run: {{scheduler: 'tcp://head:8786'}}\n"),
    )
    assert load_config(path) == plain
    assert load_run_section(path).scheduler == "tcp://head:8786"
    assert load_run_section(write_config(text)) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workers: 3\n", "name a scheduler, or one class that starts a cluster"),
        (f"{SLURM}scheduler: tcp://head:1\nworkers: 1\n", "name a scheduler, or one class"),
        (SLURM, "name the number of workers"),
        (
            f"{SLURM}workers: 3\nmaximum: 4\n",
            "name workers for a fixed number, or minimum and maximum, not both",
        ),
        (f"{SLURM}minimum: 3\nmaximum: 2\n", "maximum must be at least minimum"),
        (f"{SLURM}workers: 0\n", "workers"),
        ("scheduler: tcp://head:1\nworkers: 2\n", "a scheduler has the workers that it has"),
        (f"{SLURM}distributed.LocalCluster: {{}}\nworkers: 1\n", "a run has one cluster: name one class"),
        ("schedular: tcp://head:1\n", "unknown key 'schedular'; did you mean 'scheduler'?"),
        ("dask_jobqueue.SLURMCluster: [1]\nworkers: 1\n", "settings must be a mapping of keys"),
        ("os.system: {command: ls}\nworkers: 1\n", "'os.system' is code of a package that is not known here"),
        ("mine.MyCluster: {}\nworkers: 1\n", "add --allow-code if you trust it"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, text, sentence):
    assert sentence in refuse(tmp_path, text)


@pytest.mark.parametrize(
    "setting",
    [
        "job_script_prologue: ['rm -rf x']",
        "python: /tmp/evil",
        "worker_command: x",
        "preload: evil.py",
        "image: x",
        'queue: "a\\nrm -rf x"',
        "interface: 'ib0; rm x'",
        "interface: '$(rm x)'",
        "interface: --preload",
        "local_directory: '/tmp --preload evil.py'",
        'job_extra_directives: ["a\\nrm -rf x"]',
        "job_extra_directives: ['`rm x`']",
        "hosts: [a, {b: c}]",
    ],
)
def test_commands_in_settings_have_to_be_allowed(tmp_path, setting):
    text = f"dask_jobqueue.SLURMCluster: {{{setting}}}\nworkers: 1\n"
    assert "add --allow-code if you trust it" in refuse(tmp_path, text)
    with allow_code():
        assert read(tmp_path, text).settings


def test_a_bad_section_of_a_config_has_its_line(write_config):
    path = write_config("datasets: [heart]\nlearners: [fld]\nrun:\n  worker: 3\n")
    with pytest.raises(ConfigError, match=r":4: run.worker: unknown key 'worker'; did you mean 'workers'"):
        load_config(path)
