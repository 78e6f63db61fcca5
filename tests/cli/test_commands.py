"""The commands, run as a user runs them."""

from __future__ import annotations

import csv
import io
import json

import pytest


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def read_rows(results):
    """Every stored number, by cell and split; times and order do not count."""
    rows = {}
    for path in (results / "cells").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            row = json.loads(line)
            rows[(path.name, row["split"])] = (row["train_errors"], row["test_errors"])
    return rows


def all_commands():
    """Every command as its words, those of groups included."""
    from zoloss_cli.cli.app import COMMANDS
    from zoloss_cli.cli.datasets import datasets

    below = [command.callback.__name__ for command in datasets.registered_commands]
    return [[name] for name in COMMANDS] + [["datasets", name] for name in below]


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_has_examples(zoloss, words):
    ended = zoloss(*words, "--help")
    assert ended.code == 0
    assert f"zoloss {' '.join(words)}" in " ".join(ended.out.partition("Example")[2].split())


def test_run_table_compare_status(zoloss, small_config, results):
    ended = zoloss("run", small_config, "--out", results, "--jobs", 2)
    assert ended.code == 0, ended.err
    assert "24 tasks: 0 were done, 24 run" in ended.err
    assert len(read_rows(results)) == 24
    table = zoloss("table", results)
    assert table.code == 0
    assert "small. Small (6 splits)" in table.out
    assert "heart" in table.out
    assert "complete" in zoloss("status", results).out
    refused = zoloss("compare", results)
    assert refused.code == 4
    assert "mirrors a published table" in refused.err


def test_the_second_run_computes_nothing_and_more_splits_only_the_rest(zoloss, small_config, results):
    zoloss("run", small_config, "--out", results, "--splits", 2)
    assert "8 were done, 0 run" in zoloss("run", small_config, "--out", results, "--splits", 2).err
    first = read_rows(results)
    assert "8 were done, 16 run" in zoloss("run", small_config, "--out", results).err
    everything = read_rows(results)
    assert len(everything) == 24
    assert all(everything[key] == value for key, value in first.items())


def test_any_number_of_jobs_gives_the_same_numbers(zoloss, small_config, results, tmp_path):
    zoloss("run", small_config, "--out", results, "--jobs", 1)
    zoloss("run", small_config, "--out", tmp_path / "other", "--jobs", 3)
    assert read_rows(results) == read_rows(tmp_path / "other")
    assert zoloss("table", results).out == zoloss("table", tmp_path / "other").out


def test_the_manifest_keeps_every_run_that_added_something(zoloss, small_config, results):
    for splits in (2, 2, 5):
        zoloss("run", small_config, "--out", results, "--splits", splits, "--jobs", 1)
    manifest = json.loads((results / "runs" / "small.json").read_text(encoding="utf-8"))
    assert [run["tasks"] for run in manifest["runs"]] == [8, 12]
    assert manifest["experiment"]["split"]["repeats"] == 5
    assert manifest["runs"][0]["packages"]["numpy"]


def test_a_part_of_the_table_and_then_the_rest(zoloss, small_config, results):
    zoloss("run", small_config, "--out", results, "--datasets", "heart", "--learners", "ave-perc")
    assert len(read_rows(results)) == 6
    assert "incomplete" in zoloss("table", results).out
    zoloss("run", small_config, "--out", results)
    assert "incomplete" not in zoloss("table", results).out


def test_another_seed_is_another_result(zoloss, small_config, results):
    zoloss("run", small_config, "--out", results, "--splits", 3)
    zoloss("run", small_config, "--out", results, "--splits", 3, "--seed", 77)
    assert len(read_rows(results)) == 24
    assert "belong to no run here" in zoloss("status", results).out


def test_fresh_runs_everything_again(zoloss, small_config, results):
    zoloss("run", small_config, "--out", results, "--splits", 2)
    before = read_rows(results)
    assert "0 were done, 8 run" in zoloss("run", small_config, "--out", results, "--splits", 2, "--fresh").err
    assert read_rows(results) == before


def test_dry_run_shows_the_plan_and_runs_nothing(zoloss, small_config, results):
    ended = zoloss("run", small_config, "--out", results, "--dry-run")
    assert ended.code == 0
    assert "4 cells, 24 tasks, 24 to run: time unknown" in ended.out
    assert not results.exists()
    zoloss("run", small_config, "--out", results, "--splits", 2)
    assert "24 tasks, 16 to run: about" in zoloss("run", small_config, "--out", results, "--dry-run").out


def test_the_users_own_csv(zoloss, write_config, tmp_path, results):
    lines = [f"{i},{(i * 7) % 11},{'yes' if i > 20 else 'no'}" for i in range(40)]
    (tmp_path / "mine.csv").write_text("a,b,class\n" + "\n".join(lines) + "\n", encoding="utf-8")
    config = write_config(
        "datasets: {mine: {csv: mine.csv, label: class, positive: yes}}\n"
        "split: {train: 30, repeats: 4}\nlearners: {rcd-plain: {epochs: 50}}\n"
    )
    # YAML reads a bare yes as true: say so instead of guessing.
    refused = zoloss("run", config, "--out", results)
    assert refused.code == 3
    assert "has no class 'True'" in refused.err
    config.write_text(
        config.read_text(encoding="utf-8").replace("positive: yes", 'positive: "yes"'), encoding="utf-8"
    )
    assert zoloss("run", config, "--out", results).code == 0
    assert all(train <= 1 for train, _ in read_rows(results).values())


def test_curves_are_recorded(zoloss, write_config, results):
    config = write_config(
        "datasets: [heart]\nsplit: {repeats: 2}\nmetric: train_error\n"
        "learners: {pocket: {epochs: 30, record_every: 10}}\n"
    )
    assert zoloss("run", config, "--out", results).code == 0
    (path,) = (results / "cells").glob("*.jsonl")
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
    assert row["epochs"] == [10, 20, 30]
    assert row["train_curve"][-1] == row["train_errors"]
    assert row["test_curve"][-1] == row["test_errors"]
    assert row["train_curve"] == sorted(row["train_curve"], reverse=True)


def test_compare_against_print(zoloss, tmp_path, results):
    from zoloss_cli.utils.files import shipped_folder

    config = shipped_folder("configs") / "table2.yaml"
    zoloss(
        "run", config, "--out", results, "--splits", 3, "--datasets", "heart", "--learners", "rcd-bias,soft-svm"
    )
    ended = zoloss("compare", results, "--format", "csv")
    assert ended.code == 0, ended.err
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [(r["dataset"], r["learner"]) for r in rows] == [("heart", "rcd-bias"), ("heart", "soft-svm")]
    assert [r["apart"] for r in rows] == ["", "fitted"]
    assert "table II: 1 cells: |z| <= 2" in ended.err
    assert "table II: counted apart: 1 fitted" in zoloss("compare", results).out


BOOSTED = """
datasets: [heart, sonar]
split: {{repeats: 3, seed: 3}}
{more}
learners:
  {prefix}fld: {fld}
  {prefix}ave-perc: {ave}
"""


def test_boosting_with_stars_iterations_and_the_best_of_several_settings(zoloss, write_config, results):
    plain = BOOSTED.format(more="", prefix="", fld="{}", ave="{epochs: 5}")
    boosted = BOOSTED.format(
        more="also: iterations\nbaseline: plain",
        prefix="adaboost:",
        fld="{learner: adaboost, base: fld, rounds: 5}",
        ave="{learner: adaboost, base: {learner: ave-perc, epochs: 5}, best_of: {rounds: [1, 4]}}",
    )
    for name, text in (("plain", plain), ("boosted", boosted)):
        ended = zoloss("run", write_config(text, f"{name}.yaml"), "--out", results, "--jobs", 1)
        assert ended.code == 0, ended.err
    table = zoloss("table", results, "--table", "boosted").out
    assert "#ite" in table
    assert "ave-perc: each data set's best of 2 settings of rounds, chosen on test error" in table
    assert "better than the best of Table plain by one standard error" in table
    status = zoloss("status", results).out
    assert "18/18" in status  # 2 data sets x (1 + 2) settings x 3 splits
    assert (
        zoloss("run", write_config(boosted, "boosted.yaml"), "--out", results, "--jobs", 1).err.count("0 run")
        == 1
    )
    (results / "runs" / "plain.json").unlink()
    assert "no *: these results hold no table plain" in zoloss("table", results, "--table", "boosted").out


NOISY = """
title: Losses
published: {paper: nguyen-sanner-2013, table: "2"}
metric: train_01_loss
also: reached
improvement: {of: [pivot], over: [svm]}
datasets: {heart: {noise: {fraction: 0.1, draws: 2}}, sonar: {noise: {fraction: 0.1, draws: 2}}}
split: {train: all, repeats: 4}
preprocess: {scale: standard}
learners: {svm: {C: [1.0]}, pivot: {steps: 300}}
"""


def test_losses_on_whole_noisy_sets_from_run_to_comparison(zoloss, write_config, results):
    config = write_config(NOISY, "noisy.yaml")
    plan = zoloss("run", config, "--out", results, "--dry-run").out
    assert plan.splitlines()[2].split() == ["heart", "svm", "297", "0", "4", "0", "4"]
    assert zoloss("run", config, "--out", results, "--jobs", 1, "--splits", 2).code == 0
    assert "(whole set, 2 draws)" in zoloss("table", results).out
    assert "8 were done, 8 run" in zoloss("run", config, "--out", results, "--jobs", 1).err
    table = zoloss("table", results).out
    assert "(whole set, 4 repeats of 2 draws)" in table
    assert "SVM" in table
    assert "T0" in table
    assert "(%: by how much pivot is below SVM)" in table
    rows = list(csv.DictReader(io.StringIO(zoloss("table", results, "--format", "csv").out)))
    assert [r["learner"] for r in rows[:4]] == ["svm", "pivot", "pivot", "improvement"]
    compared = zoloss("compare", results)
    assert compared.code == 0, compared.err
    assert "table 2: counted apart: 2 fitted to the published values" in compared.out  # noise has random labels
    assert "complete" in zoloss("status", results).out


TUNED = """
metric: test_error
datasets: {heart: {noise: {fraction: 0.1, draws: 2}}}
split: {repeats: 4}
preprocess: {scale: standard, fit_on: all}
tuning: {folds: 3, on: all}
learners: {svm: {tune: {C: [[0.001], [0.1], [10.0]]}}, bpm: }
"""


def test_tuned_cells_do_not_depend_on_the_number_of_jobs(zoloss, write_config, results, tmp_path):
    config = write_config(TUNED, "tuned.yaml")
    for jobs, folder in ((1, results), (3, tmp_path / "other")):
        assert zoloss("run", config, "--out", folder, "--jobs", jobs).code == 0
    (path,) = (results / "cells").glob("heart.svm.*.jsonl")
    chosen = [json.loads(line)["choice"] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    other = (tmp_path / "other" / "cells" / path.name).read_text(encoding="utf-8").splitlines()[1:]
    assert chosen == [json.loads(line)["choice"] for line in other]
    assert chosen[:2] == chosen[2:]  # once for each of the two draws
    assert chosen[0].startswith("C=[")
    assert read_rows(results) == read_rows(tmp_path / "other")
    assert "SVM: settings by 3-fold cross-validation on all samples" in zoloss("table", results).out


def test_datasets_commands(zoloss):
    listing = zoloss("datasets").out
    assert all(name in listing for name in ("australian", "wine", "yinyang", "tangram", "generator"))
    assert "Statlog (Heart)" in zoloss("datasets", "show", "heart").out
    assert "radius of the two eyes" in zoloss("datasets", "show", "yinyang").out
    assert "25 files match catalog.yaml" in zoloss("datasets", "verify").out
    unknown = zoloss("datasets", "show", "hart")
    assert (unknown.code, unknown.err.count("\n")) == (3, 1)
    assert "did you mean 'heart'?" in unknown.err


def test_learners_command(zoloss):
    assert "soft-svm" in zoloss("learners").out
    described = zoloss("learners", "rcd-bias").out
    assert "Li, L. and Lin, H.-T. (2007)" in described
    assert "epochs" in described
    assert "variant='bias'" in described
    assert zoloss("learners", "rcd").code == 2


def test_schema_and_validate(zoloss, small_config, write_config):
    assert json.loads(zoloss("schema").out)["title"] == "zoloss experiment"
    assert "valid; 4 cells, 24 tasks" in zoloss("validate", small_config).out
    bad = write_config("datasets: [hart]\nlearners: [fld]\n", "bad.yaml")
    ended = zoloss("validate", small_config, bad)
    assert ended.code == 2
    assert "valid; 4 cells" in ended.out
    assert "did you mean 'heart'?" in ended.err
