"""zoloss plot, run as a user runs it, and every way to run it wrongly."""

from __future__ import annotations

import re
import shutil

import msgspec
import pytest
from own_rows import refused
from places import REFERENCE

from zoloss_cli.figures.figure_kinds import list_figures
from zoloss_cli.results.record import decode_records, encode_line

MARK = {".pdf": b"%PDF-", ".svg": b"<?xml", ".png": b"\x89PNG"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test starts in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def part(tmp_path):
    """The reference's run of Figure 1 alone."""
    folder = tmp_path / "part"
    for name in ("cells", "runs"):
        (folder / name).mkdir(parents=True)
    shutil.copy(REFERENCE / "zoloss.json", folder)
    shutil.copy(REFERENCE / "runs" / "nguyen-figure1.json", folder / "runs")
    for path in (REFERENCE / "cells").glob("outliers.*"):
        shutil.copy(path, folder / "cells")
    return folder


def test_a_figure_of_no_results_in_every_format_is_never_overwritten_unasked(zoloss, here):
    for suffix, mark in MARK.items():
        ended = zoloss("plot", "--figure", 2, "--out", f"losses{suffix}")
        assert (ended.code, ended.out) == (0, f"losses{suffix}\n")
        assert (here / f"losses{suffix}").read_bytes().startswith(mark)
    assert zoloss("plot", "--figure", 2).out == "figure-nguyen-sanner-2013-2.pdf\n"
    first = (here / "figure-nguyen-sanner-2013-2.pdf").read_bytes()
    refused(zoloss("plot", "--figure", 2), 7, "figure-nguyen-sanner-2013-2.pdf exists; --force overwrites it")
    assert zoloss("plot", "--figure", 2, "--force").code == 0
    assert (here / "figure-nguyen-sanner-2013-2.pdf").read_bytes() == first
    assert len(list(here.iterdir())) == 4  # no temporary file is left


def test_the_list_has_a_command_for_each_figure(zoloss, part, here):
    ended = zoloss.ok("plot", part)
    commands = [line.partition("  ")[0] for line in ended.out.splitlines()[2:]]
    expected = [
        f"zoloss plot {part} --figure nguyen-sanner-2013/1",
        f"zoloss plot {part} --figure time --table nguyen-figure1",
        f"zoloss plot {part} --figure boundary --table nguyen-figure1",
        *(f"zoloss plot --figure {kind.name}" for kind in list_figures() if not kind.needs_results),
        "zoloss plot --figure boundary --dataset yinyang --learners rcd-bias,adaboost",
    ]
    assert [command for command in commands if command in expected] == expected
    assert {"zoloss plot --figure cone", "zoloss plot --figure rcd-steps"} < set(commands)
    assert zoloss(*commands[0].split()[1:], "--out", "one.svg").code == 0
    text = (here / "one.svg").read_text(encoding="utf-8")
    for entry in ("FLD: 67 errors", "SVM: 64 errors", "LR: 64 errors", "SLA: 39 errors", "pivot: 38 errors"):
        assert entry in text


def test_without_results_the_list_has_what_needs_none(zoloss):
    ended = zoloss.ok("plot")
    assert "zoloss plot --figure nguyen-sanner-2013/6" in ended.out
    assert "--table" not in ended.out
    assert "there is no folder results; run: zoloss run configs/table2.yaml" in ended.err
    refused(zoloss("plot", "elsewhere"), 4, "there is no folder elsewhere")


def test_the_boundary_of_ones_own_table_has_the_columns_and_classes_asked_for(zoloss, table, here):
    rows = "".join(f"P{i},{i % 7},{i % 5},{i % 3},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(120))
    path = table("name,width,height,depth,outcome\n" + rows)
    command = ("plot", "--figure", "boundary", "--dataset", path, "--learners", "fld", "--label", "outcome")
    refused(zoloss(*command), 3, "leave it out with --drop 'name', or --id 'name'")
    for options, shown, absent in (
        (["--drop", "name,width"], {"height", "depth"}, {"width"}),
        (["--features", "width,depth"], {"width", "depth"}, {"height"}),
        (["--id", "name", "--features", "height", "--features", "depth"], {"height", "depth"}, {"width"}),
    ):
        zoloss.ok(*command, *options, "--out", "mine.svg", "--force")
        text = (here / "mine.svg").read_text(encoding="utf-8")
        labels = set(re.findall(r"<!-- (\w+) -->|>(\w+)<", text))
        labels = {first or second for first, second in labels}
        assert shown | {"yes", "no", "FLD"} <= labels
        assert not absent & labels


def test_a_results_folder_that_was_tampered_with(zoloss, part):
    (path,) = (part / "cells").glob("outliers.lr.*")
    header, row = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{header}\n{row.replace('64', '63', 1)}\n", encoding="utf-8")
    damaged = zoloss("plot", part, "--figure", 1, "--out", "without.pdf")
    assert "has 1 damaged line; left out" in damaged.err
    ((record,), _, _) = decode_records([row.encode()], "fit")
    changed = encode_line(msgspec.structs.replace(record, train_errors=63))
    path.write_bytes(header.encode() + b"\n" + changed)
    refused(
        zoloss("plot", part, "--figure", 1), 4,
        "lr on outliers, fitted again, has 64 train_errors where 63 are stored",
        "zoloss run configs/nguyen/figure1.yaml --fresh",
    )  # fmt: skip


NOT_DRAWN = [
    (["--figure", "rank"], 2, "no figure is called 'rank'; did you mean 'ranks'?"),
    (["--figure", "7"], 2, "no figure is called '7'; zoloss plot lists them"),
    (["--figure", "3"], 4, "no results for figure 'li-lin-2007/3'; run: zoloss run configs/figure3.yaml --out"),
    (["--figure", "curves"], 4, "needs learners that record their epochs"),
    (["--figure", "ranks"], 4, "needs three learners"),
    (["--figure", "1", "--table", "figure1"], 4, "there is no table 'figure1'"),
    (["--figure", "1", "--learners", "pivott"], 4, "has no learner 'pivott'; did you mean 'pivot'?"),
    (["--figure", "time", "--learners", "fld"], 4, "this part of 'nguyen-figure1' is not enough"),
    (["--figure", "1", "--out", "x.jpg"], 7, "x.jpg ends in .jpg; a figure is written as one of .pdf, .svg"),
    (["--figure", "1", "--out", "x"], 7, "x has no ending"),
    (["--figure", "1", "--out", "no/x.pdf"], 7, "there is no folder no"),
    (["--figure", "2", "--table", "II"], 2, "figure '2' uses no results"),
    (["--figure", "1", "--positive", "left"], 2, "--positive: only for --figure boundary"),
    (["--figure", "1", "--drop", "a", "--id", "b"], 2, "--drop and --id: only for --figure boundary"),
    (["--figure", "1", "--learners", "fld,,lr"], 2, "not a list of names separated by commas"),
]


def test_one_sentence_for_what_cannot_be_drawn(zoloss, part, here):
    for options, code, text in NOT_DRAWN:
        refused(zoloss("plot", part, *options), code, text)
    refused(zoloss("plot", REFERENCE, "--figure", "time"), 4, "choose one with --table: 1, 2, 3, 4,")
    assert [path.name for path in here.iterdir()] == ["part"]


NOT_LEARNED = [
    (["--dataset", "yinyan", "--learners", "fld"], 2, "--dataset yinyan: unknown data set"),
    (["--dataset", "yinyang", "--learners", "fdl"], 2, "--learners fdl: unknown learner 'fdl'; did you"),
    (["--dataset", "yinyang", "--learners", "adaboost:svm"], 2, "'svm' takes no sample weights"),
    (["--dataset", "yinyang", "--learners", "fld:svm"], 2, "unknown key 'base'"),
    (["--dataset", "yinyang"], 2, "--learners: name those to fit"),
    (["--dataset", "one.csv", "--learners", "fld"], 3, "'one.csv' has 1 feature, and a boundary is drawn for"),
    (["--dataset", "no.csv", "--learners", "fld"], 3, "there is no file no.csv"),
    (["--dataset", "tangram", "--learners", "fld", "--positive", "mediun"], 3, "did you mean 'medium'?"),
    (["--dataset", "tangram", "--learners", "fld", "--label", "x"], 2, "--label is for a CSV file"),
    (["--dataset", "tangram", "--learners", "fld", "--drop", "x"], 2, "--drop is for a CSV file"),
    (["--dataset", "rare.csv", "--learners", "fld", "--drop", "c"], 3, "has no column 'c'"),
    (["--dataset", "mine.csv", "--learners", "fld"], 3, "one class only"),
    (
        ["--dataset", "rare.csv", "--learners", "fld"],
        3,
        "training samples of split 0 do not include both class 'z'",
    ),
    (["--dataset", "rare.csv", "--learners", "fld", "--out", "rare.csv"], 7, "ends in .csv"),
]


def test_one_sentence_for_what_cannot_be_learned(zoloss, table):
    table("a,b,label\n1,2,x\n2,1,x\n")
    table("a,b,label\n" + "".join(f"{i},{i % 3},{'xz'[i == 7]}\n" for i in range(10)), "rare.csv")
    table("a,label\n" + "".join(f"{i},{'xz'[i % 2]}\n" for i in range(10)), "one.csv")
    for options, code, text in NOT_LEARNED:
        refused(zoloss("plot", "--figure", "boundary", *options), code, text)
