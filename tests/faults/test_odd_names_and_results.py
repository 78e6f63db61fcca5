"""Names that figures and pages could trip over, and results that were edited, moved or are somebody else's."""

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


def test_odd_names_are_drawn_as_they_are(zoloss, results, table, tmp_path):
    out = tmp_path / "drawn.svg"
    zoloss.ok("plot", results, "--figure", "ranks", "--out", out)
    drawn = out.read_text(encoding="utf-8")
    for name in ("gain $\\foo$", "_hidden", "a,b", "данные", "тест", "x" * 27 + "…"):
        assert name in drawn
    rows = "".join(f"{i},{i * i % 7},{'_no' if i % 3 else '_yes'}\n" for i in range(30))
    data = table(f"gain $\\foo$,2,label\n{rows}")
    command = ["plot", "--figure", "boundary", "--dataset", data, "--learners", "fld", "--out", out, "--force"]
    zoloss.ok(*command)
    drawn = out.read_text(encoding="utf-8")
    for name in ("_no", "_yes", "gain $\\foo$"):
        assert name in drawn
    data.write_text("2,a,b\n" + "".join(f"{'xy'[i % 2]},{i},{i * i % 11}\n" for i in range(30)))
    assert zoloss(*command, "--label", "2").code == 0  # the name, not the number, of a column


def test_every_table_of_a_page_has_its_own_address(zoloss, write_config, tmp_path):
    folder = tmp_path / "results"
    for name in ("evaluate-данные", "a,b", "a;b"):
        quoted = json.dumps(name, ensure_ascii=False)
        config = f"name: {quoted}\ndatasets: [sonar]\nsplit: {{repeats: 1}}\nlearners: [fld]\n"
        assert zoloss("run", write_config(config), "--out", folder, "--jobs", "1").code == 0
    assert zoloss("report", folder, "-o", tmp_path / "page.html").code == 0
    ids = re.findall(r'<section id="([^"]+)"', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids)) == 4


def test_a_damaged_manifest_is_left_out(zoloss, results):
    path = results / "runs" / "odd.json"
    good = path.read_text(encoding="utf-8")
    for i, edit in enumerate(
        (
            lambda m: m["experiment"].update(metric="foo"),
            lambda m: m["experiment"].update(name="../../package"),
            lambda m: m.update(runs=[{}]),
            lambda m: m["experiment"].pop("name"),
            lambda m: m["cells"][0].update(file="../../precious.jsonl"),
            lambda m: m["cells"][0].update(learner="another"),
        )
    ):
        manifest = json.loads(good)
        del manifest["check"]
        edit(manifest)
        path.write_text(append_check(json.dumps(manifest, indent=1) + "\n"), encoding="utf-8")
        for command in ("stats", "status"):
            ended = zoloss(command, results)
            assert "is not a manifest of this version of zoloss (" in ended.err, (i, command)
            assert "); left out" in ended.err
            assert "unexpected" not in ended.err


GOOD = "a,b,label\n" + "".join(f"{i},{i * 7 % 5},{'xy'[i % 2]}\n" for i in range(40))


def test_another_table_of_the_same_name_does_not_take_the_place_of_the_first(zoloss, table, tmp_path):
    (tmp_path / "sub").mkdir()
    first, second = table(GOOD, "mine.csv"), table(GOOD, "sub/mine.csv")
    out = tmp_path / "results"
    command = ("evaluate", "--learners", "fld,lr", "--splits", "2", "--jobs", "1", "--out", out)
    assert zoloss(*command, first).code == 0
    ended = zoloss(*command, second)
    assert ended.code == 4
    assert f"holds a run 'evaluate-mine' of {first}" in ended.err
    assert zoloss(*command, first).code == 0


def test_splits_outside_the_plan_are_noted(zoloss, results):
    for path in (results / "runs").glob("*.json"):
        text = CHECK_LINE.sub(b"\n}\n", path.read_bytes()).decode()
        path.write_text(append_check(text.replace('"repeats": 3', '"repeats": 2')), encoding="utf-8")
    for command in ("status", "table"):
        ended = zoloss.ok(command, results)
        assert "has 1 record of splits beyond the 2 that are planned" in ended.err
    assert "28/28" in zoloss("status", results).out
