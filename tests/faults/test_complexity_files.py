"""Files of zoloss complexity and prune: whole or not there, also after Ctrl-C; and what a terminal sees."""

import json
import os
import signal
import sys

import numpy as np
import pytest
from own_rows import GOOD, refused
from processes import cpu_seconds, finish, start_zoloss, wait_until

CPU_SECONDS_OF_START = 4.0  # at most, of imports and a first look at the table


def test_figures_are_never_overwritten_unasked(zoloss, table, tmp_path):
    path, plot = table(GOOD), table("precious", "p.png")
    refused(zoloss("complexity", path, "--plot", plot), 7, "p.png exists; --force overwrites it")
    assert plot.read_text() == "precious"
    ended = zoloss("complexity", path, "--plot", tmp_path / "p.jpg")
    refused(ended, 7, "--plot: ", "ends in .jpg", ".pdf, .svg, .png")
    assert zoloss("complexity", path, "--permutations", 5, "--plot", plot, "--force").code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_prune_overwrites_nothing(zoloss, table, tmp_path):
    path, out, other = table(GOOD), table("precious", "c.csv"), table("also", "c.dropped.csv")
    refused(zoloss("prune", path, "--out", out), 7, "c.csv exists; nothing is overwritten: choose another name")
    refused(zoloss("prune", path, "--out", tmp_path / "d.csv", "--report", other), 7, "c.dropped.csv exists")
    out.unlink()
    refused(zoloss("prune", path, "--out", out), 7, "c.dropped.csv exists")
    refused(zoloss("prune", path, "--out", path), 7, "is also an input; write to another file")
    refused(zoloss("prune", path, "--out", out, "--report", path), 7, "is also an input")
    refused(zoloss("prune", path, "--out", out, "--report", out), 7, "is named for two files")
    refused(zoloss("prune", path, "--out", tmp_path / "no" / "c.csv"), 7, "there is no folder")
    refused(zoloss("prune", path, "--out", tmp_path), 7, "is a folder")
    refused(zoloss("prune", path), 2, "--out FILE is needed", "--dry-run")
    assert zoloss("prune", path, "--out", out, "--force").code == 2  # there is no such option
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.dropped.csv", "mine.csv"]
    assert (path.read_text(), other.read_text()) == (GOOD, "also")


def test_a_folder_that_cannot_be_written_to(zoloss, table, tmp_path, monkeypatch):
    path, folder = table(GOOD), tmp_path / "locked"
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda where, mode: where != folder)
    monkeypatch.setattr("zoloss_cli.api.prune.prune_table", lambda *a: pytest.fail("it computed"))
    refused(zoloss("prune", path, "--out", folder / "c.csv"), 7, f"the folder {folder} is not writable")
    refused(zoloss("complexity", path, "--plot", folder / "p.png"), 7, f"the folder {folder} is not writable")


def test_a_report_that_cannot_be_written_leaves_no_file(zoloss, table, tmp_path, monkeypatch):
    path, link = table(GOOD), os.link

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", lambda a, b: full() if "dropped" in b.name else link(a, b))
    monkeypatch.setattr(os, "replace", full)
    ended = zoloss("prune", path, "--out", tmp_path / "c.csv")
    refused(ended, 7, "cannot write", "c.dropped.csv: No space left on device")
    assert list(tmp_path.iterdir()) == [path]


def test_what_appears_while_it_computes_stays(zoloss, table, tmp_path, monkeypatch):
    path, out, report = table(GOOD), tmp_path / "c.csv", tmp_path / "c.dropped.csv"
    link = os.link

    def late(source, target):
        report.write_text("from another program")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    refused(zoloss("prune", path, "--out", out), 7, "c.dropped.csv exists; nothing is overwritten")
    assert report.read_text() == "from another program"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.dropped.csv", "mine.csv"]


def test_file_systems_without_links(zoloss, table, tmp_path, monkeypatch):
    def none(*arguments):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    path, out = table(GOOD), tmp_path / "c.csv"
    assert zoloss("prune", path, "--out", out).code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.csv", "c.dropped.csv", "mine.csv"]


def test_ctrl_c_ends_with_one_line(table, tmp_path):
    """Also within compiled code, which looks at no signal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 5)), rng.integers(0, 2, 1500)
    rows = "".join(",".join(map(str, x)) + f",{'xy'[k]}\n" for x, k in zip(X.tolist(), y, strict=True))
    path = table("a,b,c,d,e,label\n" + rows)
    process = start_zoloss("prune", path, "--permutations", "100000", "--out", tmp_path / "c.csv")
    wait_until(lambda: cpu_seconds(process.pid) > CPU_SECONDS_OF_START, process)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert (ended.code, ended.out) == (130, ""), ended.err
    assert ended.err == "zoloss: interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_terminal_sees_how_far_it_is(zoloss, table, monkeypatch):
    quiet = zoloss("complexity", table(GOOD), "--clusters", 5, "--label", "label")
    assert (quiet.code, quiet.err, "\r" in quiet.out) == (0, "", False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ended = zoloss("complexity", table(GOOD), "--clusters", 5, "--exact", "--json")
    assert "random orders: 100 of 200, 0:0" in ended.err
    assert " left" in ended.err
    assert "unions of clusters: 100.0 %, 0:00 left" in ended.err
    json.loads(ended.out)
    seen = zoloss("prune", table(GOOD), "--dry-run", "--by", "neighbours")
    assert "neighbours: 30 of 30, 0:00 left" in seen.err
