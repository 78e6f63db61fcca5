"""Names that figures and pages could trip over, and results that were edited, moved or are somebody else's."""

from __future__ import annotations

import json
import re

import pytest

from zoloss_cli.results.manifest import CHECK_LINE, append_check

ODD = ["gain $\\foo$", "_hidden", "x" * 60, "a,b", "a:b", "данные", "тест"]
CONFIG = """
name: odd
title: Odd names
datasets: [sonar, heart]
split: {repeats: 3}
learners:
%s
"""


@pytest.fixture
def results(zoloss, write_config, tmp_path):
    """Learners with odd names on two data sets."""
    learners = "\n".join(f"  {json.dumps(name, ensure_ascii=False)}: {{learner: fld}}" for name in ODD)
    folder = tmp_path / "results"
    assert zoloss("run", write_config(CONFIG % learners), "--out", folder, "--jobs", "1").code == 0
    return folder


def test_odd_names_are_drawn_as_they_are(zoloss, results, tmp_path):
    ended = zoloss("plot", results, "--figure", "ranks", "--out", tmp_path / "ranks.svg")
    assert ended.code == 0, ended.err
    drawn = (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    for name in ("gain $\\foo$", "_hidden", "a,b", "данные", "тест", "x" * 27 + "…"):
        assert name in drawn
    assert zoloss("report", results, "-o", tmp_path / "page.html").code == 0


def test_classes_that_begin_with_an_underscore_are_in_the_legend(zoloss, table, tmp_path):
    rows = "".join(f"{i},{i * i % 7},{'_no' if i % 3 else '_yes'}\n" for i in range(30))
    data = table(f"gain $\\foo$,b,label\n{rows}")
    ended = zoloss(
        "plot", "--figure", "boundary", "--dataset", data, "--learners", "fld", "--out", tmp_path / "b.svg"
    )
    assert ended.code == 0, ended.err
    drawn = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "_no" in drawn
    assert "_yes" in drawn
    assert "gain $\\foo$" in drawn


def test_every_table_of_a_page_has_its_own_address(zoloss, write_config, tmp_path):
    folder = tmp_path / "results"
    for name in ("evaluate-данные", "evaluate-тест", "a,b", "a;b"):
        quoted = json.dumps(name, ensure_ascii=False)
        config = f"name: {quoted}\ndatasets: [sonar]\nsplit: {{repeats: 1}}\nlearners: [fld]\n"
        assert zoloss("run", write_config(config), "--out", folder, "--jobs", "1").code == 0
    assert zoloss("report", folder, "-o", tmp_path / "page.html").code == 0
    ids = re.findall(r'<section id="([^"]+)"', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids)) == 5


def test_damaged_lines_are_noted(zoloss, results):
    path = next((results / "cells").glob("heart.*"))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1].replace('"train_errors":', '"train_errors":-')]) + "\n")
    ended = zoloss("table", results)
    assert ended.code == 0
    assert f"{path} has 1 damaged line; left out" in ended.err


@pytest.mark.parametrize(
    "edit",
    [
        lambda m: m["experiment"].update(metric="foo"),
        lambda m: m["experiment"].update(also="foo"),
        lambda m: m.update(runs=[{}]),
        lambda m: m["experiment"].pop("name"),
        lambda m: m["experiment"].update(title=3),
        lambda m: m.update(cells=[{}]),
        lambda m: m["cells"][0].update(file="../../precious.jsonl"),
        lambda m: m["cells"][0].update(learner="another"),
        lambda m: m["experiment"].update(datasets=[{}]),
    ],
)
@pytest.mark.parametrize("command", ["stats", "status", "table"])
def test_a_damaged_manifest_is_left_out(zoloss, results, edit, command):
    path = results / "runs" / "odd.json"
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))
    ended = zoloss(command, results)
    assert "is not a manifest of this version of zoloss (" in ended.err
    assert "); left out" in ended.err
    assert "unexpected" not in ended.err


def test_a_folder_of_other_things_is_no_results_folder(zoloss, tmp_path):
    (tmp_path / "note.txt").write_text("mine")
    ended = zoloss("report", tmp_path, "-o", tmp_path / "page.html")
    assert ended.code == 4
    assert f"{tmp_path} is not a results folder: it holds note.txt" in ended.err


GOOD = "a,b,label\n" + "".join(f"{i},{i * 7 % 5},{'xy'[i % 2]}\n" for i in range(40))


def test_another_table_of_the_same_name_does_not_take_the_place_of_the_first(zoloss, table, tmp_path):
    (tmp_path / "sub").mkdir()
    first, second = table(GOOD, "mine.csv"), table(GOOD, "sub/mine.csv")
    command = (
        "evaluate",
        "--learners",
        "fld,lr",
        "--splits",
        "2",
        "--jobs",
        "1",
        "--out",
        tmp_path / "results",
    )
    assert zoloss(*command, first).code == 0
    ended = zoloss(*command, second)
    assert ended.code == 4
    assert f"holds a run 'evaluate-mine' of {first}" in ended.err
    assert zoloss(*command, first).code == 0


def test_evaluate_shows_what_did_not_fail(zoloss, table, tmp_path):
    rare = "a,label\n" + "".join(f"{i},no\n" for i in range(9)) + "9,yes\n"
    ended = zoloss(
        "evaluate", table(rare), "--learners", "fld,lr", "--splits", "8", "--train", "0.5", "--jobs", "1",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert ended.code == 5
    assert "Test errors (%) on mine.csv" in ended.out
    assert "tasks failed" in ended.err


def test_codes_with_underscores_are_text(zoloss, table):
    text = zoloss("fit", table("a,label\n1_0,x\n2_0,y\n"), "--learner", "fld").out
    assert "a=2_0" in text
    assert "1 for 2_0, 0 for 1_0" in text


def test_a_column_whose_name_is_a_number_can_be_the_label(zoloss, table, tmp_path):
    data = table("2,a,b\n" + "".join(f"{'xy'[i % 2]},{i},{i * i % 11}\n" for i in range(30)))
    command = ("plot", "--figure", "boundary", "--dataset", data, "--out", tmp_path / "b.png", "--label", "2")
    assert zoloss(*command, "--learners", "fld").code == 0
    ended = zoloss(*command, "--learners", "fld,fld", "--force")
    assert ended.code == 2
    assert "'fld' is listed more than once" in ended.err


def test_splits_outside_the_plan_are_noted(zoloss, results):
    for path in (results / "runs").glob("*.json"):
        text = CHECK_LINE.sub(b"\n}\n", path.read_bytes()).decode()
        path.write_text(append_check(text.replace('"repeats": 3', '"repeats": 2')), encoding="utf-8")
    for command in ("status", "table"):
        ended = zoloss(command, results)
        assert ended.code == 0, ended.err
        assert "has 1 record of splits beyond the 2 that are planned" in ended.err
    assert "28/28" in zoloss("status", results).out
