"""The section `run` of a config, and files that describe a cluster: what they say, and what they may not."""

import pytest
from cases import parse_cases

from zoloss_cli.config.loader import load_cluster_file, load_config, load_run_section
from zoloss_cli.errors import ConfigError
from zoloss_cli.utils.imports import allow_code

SLURM = "dask_jobqueue.SLURMCluster: {cores: 8, memory: 16GB, job_extra_directives: ['--gres=gpu:1']}"


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
    found = read(tmp_path, f"{SLURM}\nminimum: 2\nmaximum: 40\nwait: 60\n")
    assert found.cluster == "dask_jobqueue.SLURMCluster"
    assert found.settings["job_extra_directives"] == ["--gres=gpu:1"]
    assert (found.minimum, found.maximum, found.workers, found.n_wanted, found.wait) == (2, 40, None, 40, 60.0)
    found = read(tmp_path, "scheduler: tcp://head:8786\n")
    assert (found.scheduler, found.cluster, found.n_wanted) == ("tcp://head:8786", None, 0)


def test_the_section_of_a_config_changes_no_result(write_config):
    text = "datasets: [heart]\nlearners: [fld]\n"
    plain = load_config(write_config(text))
    assert load_run_section(write_config(text)) is None
    path = write_config(f"{text}run: {{scheduler: 'tcp://head:8786'}}\n")
    assert load_config(path) == plain
    assert load_run_section(path).scheduler == "tcp://head:8786"
    with pytest.raises(ConfigError, match=r":4: run.worker: unknown key 'worker'; did you mean 'workers'"):
        load_config(write_config(f"{text}run:\n  worker: 3\n"))


MISTAKES = f"""
workers: 3 | name a scheduler, or one class that starts a cluster
{SLURM}\\nscheduler: tcp://head:1\\nworkers: 1 | name a scheduler, or one class
{SLURM} | name the number of workers
{SLURM}\\nworkers: 3\\nmaximum: 4 | name workers for a fixed number, or minimum and maximum, not both
{SLURM}\\nminimum: 3\\nmaximum: 2 | maximum must be at least minimum
scheduler: tcp://head:1\\nworkers: 2 | the number of a scheduler's workers cannot be set
{SLURM}\\ndistributed.LocalCluster: {{}}\\nworkers: 1 | a run has one cluster: name one class
schedular: tcp://head:1 | unknown key 'schedular'; did you mean 'scheduler'?
dask_jobqueue.SLURMCluster: [1]\\nworkers: 1 | settings must be a mapping of keys
os.system: {{command: ls}}\\nworkers: 1 | 'os.system' is code of an unknown package
mine.MyCluster: {{}}\\nworkers: 1 | add --allow-code if you trust it
"""


def test_what_is_wrong_is_one_sentence(tmp_path):
    for text, sentence in parse_cases(MISTAKES):
        assert sentence in refuse(tmp_path, text + "\n"), text


COMMANDS = r"""
job_script_prologue: ['rm -rf x']
python: /tmp/evil
preload: evil.py
queue: "a\nrm -rf x"
interface: 'ib0; rm x'
local_directory: '/tmp --preload evil.py'
job_extra_directives: ['`rm x`']
hosts: [a, {b: c}]
"""


def test_commands_in_settings_have_to_be_allowed(tmp_path):
    for setting in COMMANDS.strip().splitlines():
        text = f"dask_jobqueue.SLURMCluster: {{{setting}}}\nworkers: 1\n"
        assert "add --allow-code if you trust it" in refuse(tmp_path, text), setting
        with allow_code():
            assert read(tmp_path, text).settings
