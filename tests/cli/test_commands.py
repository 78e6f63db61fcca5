"""The commands, run as a user runs them."""

from __future__ import annotations

import json

import pytest
from stored_records import stored

from zoloss_cli.utils.files import list_embedded_datasets


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def all_commands():
    """Every command as its words, those of groups included."""
    from zoloss_cli.cli.app import COMMANDS
    from zoloss_cli.cli.datasets import datasets

    below = [command.callback.__name__ for command in datasets.registered_commands]
    return [[name] for name in COMMANDS] + [["datasets", name] for name in below]


def test_help_has_examples(zoloss):
    for words in all_commands():
        ended = zoloss.ok(*words, "--help")
        assert f"zoloss {' '.join(words)}" in " ".join(ended.out.partition("Example")[2].split()), words


def test_run_table_compare_status_for_any_number_of_jobs(zoloss, small_config, results, tmp_path):
    ended = zoloss("run", small_config, "--out", results, "--jobs", 2, "--splits", 2)
    zoloss("run", small_config, "--out", tmp_path / "other", "--jobs", 1, "--splits", 2)
    assert ended.code == 0, ended.err
    assert "8 tasks: 0 were done, 8 run" in ended.err
    assert stored(results) == stored(tmp_path / "other")
    assert len(stored(results)) == 8
    table = zoloss.ok("table", results)
    assert "small. Small (2 splits)" in table.out
    assert "complete" in zoloss("status", results).out
    refused = zoloss("compare", results)
    assert refused.code == 4
    assert "mirrors a published table" in refused.err


def test_only_what_is_missing_runs_and_the_manifest_keeps_every_run(zoloss, small_config, results):
    def run(*options):
        return zoloss.ok("run", small_config, "--out", results, *options, "--jobs", 1)

    assert "4 cells, 24 tasks, 24 to run: time unknown" in run("--dry-run").out
    assert not results.exists()
    run("--splits", 2, "--datasets", "heart", "--learners", "ave-perc")
    assert len(stored(results)) == 2
    assert "incomplete" in zoloss("table", results).out
    run("--splits", 2)
    first = stored(results)
    assert "incomplete" not in zoloss("table", results).out
    assert "8 were done, 0 run" in run("--splits", 2).err
    assert "24 tasks, 16 to run: about" in run("--dry-run").out
    assert "8 were done, 16 run" in run().err
    everything = stored(results)
    assert len(everything) == 24
    assert all(everything[key] == value for key, value in first.items())
    manifest = json.loads((results / "runs" / "small.json").read_text(encoding="utf-8"))
    assert [run["tasks"] for run in manifest["runs"]] == [2, 6, 16]
    assert manifest["runs"][0]["packages"]["numpy"]
    run("--splits", 2, "--seed", 77)
    assert len(stored(results)) == 32
    assert "belong to no run here" in zoloss("status", results).out


def test_a_folder_that_has_only_reference_results_is_read_from_there(zoloss, small_config, results, tmp_path):
    small_config.write_text(small_config.read_text() + "published: {paper: li-lin-2007, table: III}\n")
    reference = results / "reference"
    zoloss.ok("run", small_config, "--out", reference, "--jobs", 1, "--splits", 2)
    (results / "README.md").touch()
    note = f"zoloss: {results} holds no runs of its own; reading {reference}\n"
    for words in (
        *(["table", "--format", "latex"], ["compare"], ["stats"], ["status"], ["export"], ["plot"]),
        ["report", "--out", tmp_path / "page.html", "--force"],
        ["show", "heart", "rcd-bias", 1, "--results"],
    ):
        found = zoloss.ok(*words, results)
        assert note in found.err, words
        if words[0] not in ("report", "plot"):  # which print a size that depends on times, and the folder
            expected = zoloss.ok(*words, reference).out
            assert found.out.replace("/reference", "") == expected.replace("/reference", ""), words
    assert "--figure boxes --table III" in zoloss("plot", results).out
    assert "Small" in (tmp_path / "page.html").read_text(encoding="utf-8")
    (reference / "zoloss.json").rename(results / "zoloss.json")
    (reference / "runs").rename(results / "runs")
    assert zoloss("status", results).err.count(note) == 0
    (tmp_path / "empty" / "reference").mkdir(parents=True)
    hint = f"empty holds no results yet; run: zoloss run configs/table2.yaml --out {tmp_path / 'empty'};"
    refused = zoloss("table", tmp_path / "empty")
    assert (refused.code, hint in refused.err) == (4, True)


def test_datasets_commands(zoloss):
    listing = zoloss("datasets").out
    assert all(name in listing for name in ("australian", "wine", "yinyang", "tangram", "generator"))
    assert "Statlog (Heart)" in zoloss("datasets", "show", "heart").out
    assert "radius of the two eyes" in zoloss("datasets", "show", "yinyang").out
    assert "indian583" in listing
    assert f"{len(list_embedded_datasets())} files match catalog.yaml" in zoloss("datasets", "verify").out
    unknown = zoloss("datasets", "show", "hart")
    assert (unknown.code, unknown.err.count("\n")) == (3, 1)
    assert "did you mean 'heart'?" in unknown.err


def test_schema_and_validate(zoloss, small_config, write_config):
    assert json.loads(zoloss("schema").out)["title"] == "zoloss experiment"
    assert "valid; 4 cells, 24 tasks" in zoloss("validate", small_config).out
    bad = write_config("datasets: [hart]\nlearners: [fld]\n", "bad.yaml")
    ended = zoloss("validate", small_config, bad)
    assert ended.code == 2
    assert "valid; 4 cells" in ended.out
    assert "did you mean 'heart'?" in ended.err
