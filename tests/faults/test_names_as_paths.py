"""Names in configs and manifests that would lead out of the results folder."""

import json
from pathlib import Path

import pytest
from own_rows import refused

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.store import Store

CONFIG = "datasets: [heart]\nname: %s\nsplit: {repeats: 1}\nlearners: [fld]\n"
NOT_NAMES = [
    *("../../package", "/tmp/zoloss-absolute", "a/b", "a\\b", "a\nb", "\x1b[2J", "x" * 300),
    *(".", "..", ".git", ""),
]


def test_a_name_never_leads_out_of_the_results_folder(zoloss, write_config, tmp_path):
    precious = tmp_path / "package.json"
    precious.write_text("precious")
    run = ("run", "--out", tmp_path / "results", "--jobs", "1")
    for name in NOT_NAMES:
        path = write_config(CONFIG % json.dumps(name))
        for command, *options in (("validate",), run):
            refused(zoloss(command, path, *options), 2, f"{path}:2: name: must")
            assert precious.read_text() == "precious"
            assert sorted(p.name for p in tmp_path.iterdir()) == ["package.json", "small.yaml"]


def test_a_name_is_text_also_where_it_is_that_of_the_file(zoloss, write_config):
    path = write_config(CONFIG % "[a, b]")
    assert f"{path}:2: name: must" in zoloss("validate", path).err
    path = write_config("datasets: [heart]\nlearners: [fld]\n", "a\\b.yaml")
    refused(
        zoloss("validate", path), 2, ":1: the name of the config, which has no key 'name', must not hold \\"
    )


def test_the_store_writes_no_manifest_elsewhere(write_config, tmp_path):
    experiment = load_config(write_config(CONFIG % "good")).model_copy(update={"name": "../../package"})
    with pytest.raises(ResultsError, match="the name of a run must not hold /"):
        Store(tmp_path / "results").write_manifest(Manifest("small.yaml", experiment, [], []))
    assert not list(Path(tmp_path).glob("*.json"))


def test_a_table_with_an_odd_name_can_be_evaluated(zoloss, table, tmp_path):
    rows = "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20))
    data = table(rows, "a\\b" + "c" * 200 + ".csv")
    zoloss.ok(
        "evaluate", data, "--learners", "fld", "--splits", "2", "--jobs", "1", "--out", tmp_path / "results"
    )
    assert [path.stem[:12] for path in (tmp_path / "results" / "runs").iterdir()] == ["evaluate-a-b"]
