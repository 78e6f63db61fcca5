"""Names in configs and manifests that would lead out of the results folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.store import Store

CONFIG = "datasets: [heart]\nname: %s\nsplit: {repeats: 1}\nlearners: [fld]\n"
BAD = [
    "../../package",
    "/tmp/zoloss-absolute",
    "a/b",
    "a\\b",
    "a\nb",
    "\x1b[2J",
    "x" * 300,
    ".",
    "..",
    ".git",
    "",
]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_name_never_leads_out_of_the_results_folder(zoloss, write_config, tmp_path, name, command):
    path, precious = write_config(CONFIG % json.dumps(name)), tmp_path / "package.json"
    precious.write_text("precious")
    out = ["--out", tmp_path / "results", "--jobs", "1"] if command == "run" else []
    ended = zoloss(command, path, *out)
    assert ended.code == 2
    assert f"{path}:2: name: must" in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert precious.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["package.json", "small.yaml"]


@pytest.mark.parametrize("name", ["", "~", "[a, b]", "{a: b}"])
def test_a_name_is_text(zoloss, write_config, name):
    path = write_config(CONFIG % name)
    ended = zoloss("validate", path)
    assert ended.code == 2
    assert f"{path}:2: name: must" in ended.err


def test_the_name_of_a_config_is_checked_where_it_is_that_of_the_results(zoloss, write_config):
    path = write_config("datasets: [heart]\nlearners: [fld]\n", "a\\b.yaml")
    ended = zoloss("validate", path)
    assert ended.code == 2
    assert ":1: the name of the config, which has no key 'name', must not hold \\" in ended.err


def test_a_manifest_whose_name_is_a_path_is_left_out(zoloss, write_config, tmp_path):
    folder = tmp_path / "results"
    assert zoloss("run", write_config(CONFIG % "good"), "--out", folder, "--jobs", "1").code == 0
    path = folder / "runs" / "good.json"
    manifest = json.loads(path.read_text())
    manifest["experiment"]["name"] = "../../package"
    del manifest["check"]  # as written before there were check values, which this one would not match
    path.write_text(json.dumps(manifest))
    ended = zoloss("table", folder)
    assert "(experiment.name: " in ended.err
    assert "left out" in ended.err


def test_the_store_writes_no_manifest_elsewhere(write_config, tmp_path):
    experiment = load_config(write_config(CONFIG % "good")).model_copy(update={"name": "../../package"})
    with pytest.raises(ResultsError, match="the name of a run must not hold /"):
        Store(tmp_path / "results").write_manifest(Manifest("small.yaml", experiment, [], []))
    assert not list(Path(tmp_path).glob("*.json"))


def test_a_table_with_an_odd_name_can_be_evaluated(zoloss, table, tmp_path):
    rows = "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20))
    data = table(rows, "a\\b" + "c" * 200 + ".csv")
    ended = zoloss(
        "evaluate", data, "--learners", "fld", "--splits", "2", "--jobs", "1", "--out", tmp_path / "results"
    )
    assert ended.code == 0, ended.err
    assert [path.stem[:12] for path in (tmp_path / "results" / "runs").iterdir()] == ["evaluate-a-b"]
