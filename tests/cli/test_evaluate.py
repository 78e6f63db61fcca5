"""zoloss evaluate: learners compared on your own table, by the same runner as a config."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from own_rows import refused
from stored_records import stored

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import compute_fingerprint, load_data

QUICK = ["--learners", "fld,ave-perc,lr", "--splits", "3", "--jobs", "1", "--set", "ave-perc.epochs=5"]


@pytest.fixture
def mine(table):
    """60 rows with numbers, a column of text and a third class; the label is neither last nor `label`."""
    rng = np.random.default_rng(5)
    lines = ["size;class;colour;weight"]
    for i in range(60):
        size, weight = rng.normal(size=2)
        colour = ("red", "green", "blue")[i % 3]
        kind = "good" if size + 0.5 * (colour == "red") + 0.7 * rng.normal() > 0.3 else ("bad", "ugly")[i % 2]
        lines.append(f"{size:.4f};{kind};{colour};{weight:.4f}")
    return table("\n".join(lines) + "\n")


OWN = ["--label", "class", "--positive", "good"]


def test_the_table_and_the_comparison_are_those_of_the_stored_numbers(zoloss, mine, tmp_path):
    out = tmp_path / "out"
    ended = zoloss.ok("evaluate", mine, *OWN, *QUICK, "--out", out)
    assert "evaluate-mine: 9 tasks: 0 were done, 9 run" in ended.err
    assert "'colour' has one indicator, 1 or 0, for each of: blue, green, red" in ended.err
    assert "evaluate-mine. Test errors (%) on mine.csv (3 splits)" in ended.out
    errors: dict = {}
    for (name, k), (_, test) in stored(out).items():
        errors.setdefault(name.split(".")[1], {})[k] = 100 * test / 12
    means = {name: np.mean(list(by_split.values())) for name, by_split in errors.items()}
    for mean in means.values():
        assert f"{mean:.2f} ± " in ended.out
    best = min(("fld", "ave-perc", "lr"), key=lambda x: round(means[x], 9))
    titles = {"fld": "FLD", "ave-perc": "ave-perc", "lr": "LR"}
    assert (
        f"{titles[best]} has the lowest mean on mine; the others minus it, on the same 3 splits:" in ended.out
    )
    others = re.findall(r"^(\S+) +([+-]\d+\.\d\d)  p (<?\d\.\d{3})\*?$", ended.out, re.M)
    assert {name for name, _, _ in others} == {t for x, t in titles.items() if x != best}
    for name, difference, _ in others:
        learner = next(x for x, title in titles.items() if title == name)
        assert float(difference) == pytest.approx(means[learner] - means[best], abs=0.006)


def test_the_saved_config_stands_for_the_same_tasks(zoloss, mine, tmp_path):
    out, config = tmp_path / "out", tmp_path / "sub" / "saved.yaml"
    config.parent.mkdir()
    command = ["evaluate", mine, *OWN, *QUICK, "--out", out, "--save-config", config]
    assert zoloss(*command).code == 0
    first = stored(out)
    text = config.read_text(encoding="utf-8")
    assert text.startswith("# zoloss evaluate ")
    assert "mine: {csv: ../mine.csv, label: class, positive: good}" in text
    assert "missing" not in text
    ended = zoloss.ok("run", config, "--out", out)
    assert "9 were done, 0 run" in ended.err
    assert stored(out) == first
    assert [p.name for p in (out / "runs").iterdir()] == ["evaluate-mine.json"]
    again = zoloss(*command)  # the file says the same already
    assert (again.code, "9 were done, 0 run" in again.err) == (0, True)
    more = zoloss("evaluate", mine, *OWN, *QUICK, "--splits", 4, "--out", out)
    assert "9 were done, 3 run" in more.err


def test_the_comment_in_the_config_is_a_command_that_does_the_same(zoloss, mine, tmp_path, monkeypatch):
    import shlex

    monkeypatch.chdir(tmp_path)
    odd = ["--train", "40", "--scale", "standard", "--missing", "drop", "--seed", "7", "--label", "1"]
    given = ["evaluate", "mine.csv", *odd, "--positive", "bad", "--learners", "fld,lr", "--splits", "3"]
    assert zoloss(*given, "--set", "lr.C=[0.5, 2e0]", "--save-config", "a.yaml", "--dry-run").code == 0
    text = (tmp_path / "a.yaml").read_text(encoding="utf-8")
    program, *words = shlex.split(text.splitlines()[0].removeprefix("# "))
    assert program == "zoloss"
    assert zoloss(*words, "--save-config", "b.yaml", "--dry-run").code == 0
    assert (tmp_path / "b.yaml").read_text(encoding="utf-8") == text
    experiment = load_config(tmp_path / "a.yaml")
    assert (experiment.split.train, experiment.split.seed, experiment.split.repeats) == (40, 7, 3)
    assert experiment.preprocess.scale == "standard"
    assert dict(experiment.learners[1].settings)["C"] == (0.5, 2.0)


def test_columns_and_gaps_are_options_keys_and_part_of_the_command(zoloss, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"n{i},{'' if i % 7 == 0 else i % 5},{i * i % 11},2024-01-{1 + i % 28:02d},{'xy'[i % 2]}\n"
        for i in range(40)
    ]
    table("id,a,b,day,label\n" + "".join(rows))
    chosen = ["--id", "id", "--drop", "day", "--missing", "indicator"]
    given = ["evaluate", "mine.csv", *chosen, "--learners", "fld", "--splits", "3", "--out", "out"]
    zoloss.ok(*given, "--save-config", "a.yaml")
    text = (tmp_path / "a.yaml").read_text(encoding="utf-8")
    assert text.splitlines()[0].endswith("--missing indicator --drop day --id id")
    again = zoloss("run", "a.yaml", "--out", "out")
    assert "3 were done, 0 run" in again.err
    data = load_data(load_config(tmp_path / "a.yaml").datasets[0])
    assert data.features == ["a", "a missing", "b"]
    fewer = ["--features", "b", *given[-6:], "--save-config", "b.yaml", "--dry-run"]
    assert "3 to run" in zoloss("evaluate", "mine.csv", *fewer).out
    assert load_data(load_config(tmp_path / "b.yaml").datasets[0]).features == ["b"]


def test_standard_input_cannot_be_read_by_every_worker(zoloss, tmp_path):
    refused(zoloss("evaluate", "-", "--out", tmp_path / "out"), 2, "save standard input to a file")
    assert not (tmp_path / "out").exists()


def test_other_formats_have_the_table_alone_and_a_dry_run_the_plan(zoloss, mine, tmp_path):
    command = ["evaluate", mine, *OWN, *QUICK, "--out", tmp_path / "out"]
    assert "3 cells, 9 tasks, 9 to run" in zoloss(*command, "--dry-run").out
    assert not (tmp_path / "out").exists()
    ended = zoloss(*command, "--format", "csv")
    assert [row["learner"] for row in csv.DictReader(io.StringIO(ended.out))] == ["fld", "ave-perc", "lr"]
    assert "has the lowest mean on mine" in ended.err
    latex = zoloss(*command, "--format", "latex").out
    assert latex == zoloss("table", tmp_path / "out", "--format", "latex").out


def test_earlier_columns_are_shown_again_if_they_are_of_the_same_content_and_splits(zoloss, mine, tmp_path):
    def evaluate(learners, *options):
        out = ["--splits", "2", "--jobs", "1", "--out", tmp_path / "out", "--format", "csv"]
        ended = zoloss.ok("evaluate", mine, *OWN, "--learners", learners, *out, *options)
        return ended, [row["learner"] for row in csv.DictReader(io.StringIO(ended.out))]

    assert "has results of" not in evaluate("fld,majority")[0].err
    ended, learners = evaluate("stump")
    assert "has results of fld, majority for the same table and splits, which are also shown" in ended.err
    assert "2 tasks: 0 were done, 2 run" in ended.err
    assert learners == ["fld", "majority", "stump"]
    assert zoloss("table", tmp_path / "out", "--format", "csv").out == ended.out
    # Other settings of a learner take the place of its earlier column.
    for epochs in (2, 3):
        ended, learners = evaluate("ave-perc", "--set", f"ave-perc.epochs={epochs}")
        assert (learners[-1], len(learners)) == ("ave-perc", 4)
        assert "2 tasks: 0 were done, 2 run" in ended.err
    for change in (["--scale", "minmax"], ["--seed", "5"], ["--train", "0.7"], []):
        if not change:
            mine.write_text(mine.read_text() + "0.5;good;red;0.1\n")
            compute_fingerprint.cache_clear()  # as in another process
            load_data.cache_clear()
        assert evaluate("stump", *change)[1] == ["stump"]
