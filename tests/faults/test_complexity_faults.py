"""zoloss complexity and prune with bad tables, options and targets: one sentence each, nothing lost or left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from documents import ENVIRONMENT

GOOD = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11}.{i:02d},{'xy'[(i * 5 // 3) % 2]}\n" for i in range(30))
TWINS = "a,b,label\n1,2,x\n3,4,y\n5,6,x\n3,4,x\n5,7,y\n"
CLOSE = "a,label\n0,x\n1,y\n1.0000000000000002,x\n1.0000000000000004,y\n"


def refused(ended, code: int, *parts: str) -> None:
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("zoloss: ")
    assert "Traceback" not in ended.err
    assert "--debug" not in ended.err  # nothing that nobody thought of
    for part in parts:
        assert part in ended.err


BAD_TABLES = [
    ("", "is empty"),
    ("a,b,label\n", "a header but no rows"),
    ("a,b,label\n1,2,x\n1,2\n", "line 3: 2 fields where the header has 3"),
    ('a,b,label\n1,"2,x\n', "is not a CSV file"),
    (b"a,b\n\xff\xfe,1\n", "is not a UTF-8 text file"),
    ("a,label\n1,x\n,y\n", "line 3: column 'a' has no value; set missing to 'drop'"),
    ("a,label\n1,x\n2,x\n", "one class only, 'x'; two are needed"),
    (
        "a,label\n1,x\n2,y\n3,z\n",
        "has 3 classes (x, y, z), and complexity is that of two: use --positive CLASS",
    ),
    ("label\nx\ny\n", "no features"),
    ("a,label\n1e308,x\n-1e308,y\n", "the values of 'a' are too large to be scaled"),
]


@pytest.mark.parametrize("command", ["complexity", "prune"])
@pytest.mark.parametrize(("text", "part"), BAD_TABLES)
def test_tables_that_cannot_be_measured(zoloss, table, tmp_path, command, text, part):
    path = table(text)
    out = ["--out", tmp_path / "clean.csv"] if command == "prune" else []
    refused(zoloss(command, path, *out), 3, part, str(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", ["complexity", "prune"])
def test_what_is_not_there(zoloss, table, tmp_path, command):
    path, out = table(GOOD), ["--dry-run"] if command == "prune" else []
    refused(zoloss(command, tmp_path / "min.csv", *out), 3, "there is no file", "did you mean 'mine.csv'?")
    refused(zoloss(command, tmp_path, *out), 3, "cannot be read: Is a directory")
    refused(
        zoloss(command, path, "--label", "lable", *out), 3, "no label column 'lable'; did you mean 'label'?"
    )
    refused(zoloss(command, path, "--positive", "w", *out), 3, "has no class 'w'; valid: x, y")
    refused(zoloss(command, path, "--scale", "minmx", *out), 2, "--scale: 'minmx'", "did you mean 'minmax'?")
    refused(zoloss(command, path, "--missing", "dorp", *out), 2, "--missing: 'dorp'", "did you mean 'drop'?")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--kernel", "perceptrn"], "--kernel: 'perceptrn' is not valid; did you mean 'perceptron'?"),
        (["--kernel", "poly"], "valid: perceptron, stump, rbf, linear"),
        (["--kernel", "precomputed"], "--kernel: 'precomputed' is not valid"),
        (["--gamma", "2"], "--gamma belongs to --kernel rbf; the perceptron kernel has none"),
        (["--kernel", "rbf"], "--gamma: the rbf kernel needs one, such as --gamma 1"),
        (["--kernel", "rbf", "--gamma", "0"], "--gamma: must be a number above 0 (got 0)"),
        (["--kernel", "rbf", "--gamma", "nan"], "--gamma: must be a number above 0 (got nan)"),
        (["--exact"], "say how many --clusters there are"),
        (
            ["--clusters", "64"],
            "64 are too many to go over their unions; there can be 40 with --exact, 63",
        ),
        (["--clusters", "31"], "--clusters: there can be 2 to 30 clusters of the 30 rows of"),
        (["--clusters", "1"], "there can be 2 to 30 clusters"),
    ],
)
def test_options_of_complexity_that_are_wrong(zoloss, table, options, part):
    refused(zoloss("complexity", table(GOOD), *options), 2, part)


def test_too_many_clusters_for_an_exact_search(zoloss, table):
    rng = np.random.default_rng(1)
    rows = "".join(
        f"{a:.4f},{b:.4f},{'xy'[k]}\n"
        for a, b, k in zip(*rng.normal(size=(2, 80)), rng.integers(0, 2, 80), strict=True)
    )
    ended = zoloss("complexity", table("a,b,label\n" + rows), "--clusters", 45, "--exact")
    refused(ended, 2, "all unions of 45 would take about", "40 is the limit", "leave --exact out")


def test_contradictory_rows_are_named_by_line(zoloss, table, tmp_path):
    path = table(TWINS)
    refused(
        zoloss("complexity", path),
        3,
        f"{path}: lines 3 and 5 have equal features and different labels",
        "remove one of them, or let `zoloss prune`",
    )
    quoted = table(TWINS.replace("a,b", 'a,"b\nc"').replace("1,2", '1,"2"'), "quoted.csv")
    refused(zoloss("complexity", quoted), 3, "lines 4 and 6")
    assert zoloss("prune", path, "--out", tmp_path / "c.csv").code == 0
    assert zoloss("complexity", tmp_path / "c.csv").code == 0


def test_prune_where_nothing_but_contradictions_is_left(zoloss, table, tmp_path):
    path = table("a,label\n1,x\n1,y\n2,x\n2,y\n")
    refused(zoloss("prune", path, "--out", tmp_path / "c.csv"), 3, str(path), "4 of 4 rows have equal features")
    assert list(tmp_path.iterdir()) == [path]


def test_kernels_that_do_not_separate(zoloss, table):
    path = table(GOOD)
    refused(zoloss("complexity", path, "--kernel", "linear"), 3, f"{path}, line ", "take --kernel perceptron")
    small = ["--kernel", "rbf", "--gamma", "1e-9"]
    refused(zoloss("complexity", path, *small), 3, f"{path}, line ", "rbf kernel", "take a larger --gamma")
    grid = table("a,b,label\n0,0,x\n1,1,x\n0,1,y\n1,0,y\n", "grid.csv")
    refused(zoloss("complexity", grid, "--kernel", "stump"), 3, "stump kernel", "take --kernel perceptron")
    close = table(CLOSE, "close.csv")
    refused(zoloss("complexity", close), 3, f"{close}, line ", "nearly the same", "another --scale")
    refused(zoloss("prune", close, "--dry-run"), 3, f"{close}, line ", "nearly the same")


def test_too_many_rows_for_a_kernel_matrix(zoloss, table):
    path = table("a,label\n" + "".join(f"{i},{'xy'[i % 3 % 2]}\n" for i in range(20_001)))
    refused(zoloss("complexity", path), 3, "20,001 rows", "--sample N, such as --sample 1000")
    refused(zoloss("prune", path, "--dry-run"), 3, "20,001 rows", "take --by neighbours")
    facts = json.loads(zoloss("complexity", path, "--sample", 50, "--permutations", 5, "--json").out)
    assert facts["n"] == 50


def test_neighbours_need_no_kernel_matrix(zoloss, table, monkeypatch):
    monkeypatch.setattr("zoloss_cli.usage.prune.MOST_ROWS", 20)
    refused(zoloss("prune", table(GOOD), "--dry-run"), 3, "30 rows, and contributions are found of 20 at most")
    assert zoloss("prune", table(GOOD), "--dry-run", "--by", "neighbours").code == 0


def test_a_sample_of_one_class(zoloss, table):
    path = table("a,label\n0,y\n" + "".join(f"{i},x\n" for i in range(1, 200)))
    refused(zoloss("complexity", path, "--sample", 2), 3, "one class only in a --sample of 2 rows; draw more")


def test_too_little_memory(zoloss, table, monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr("zoloss_cli.usage.complexity.make_problem", full)
    refused(zoloss("complexity", table(GOOD)), 3, "too little memory for the kernel matrix of 30 rows")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--by", "neighbors"], "--by: 'neighbors' is not valid; did you mean 'neighbours'?"),
        (["--by", "luck"], "valid: contribution, neighbours"),
        (["--threshold", "nan"], "--threshold: must be a number (got nan)"),
        (["--neighbours", "5"], "--neighbours belongs to --by neighbours"),
        (["--by", "neighbours", "--permutations", "5"], "--permutations belongs to --by contribution"),
    ],
)
def test_options_of_prune_that_are_wrong(zoloss, table, tmp_path, options, part):
    refused(zoloss("prune", table(GOOD), *options, "--out", tmp_path / "c.csv"), 2, part)
    assert len(list(tmp_path.iterdir())) == 1


# -- files --------------------------------------------------------------------------------------------


def test_figures_are_never_overwritten_unasked(zoloss, table, tmp_path):
    path, plot = table(GOOD), table("precious", "p.png")
    refused(zoloss("complexity", path, "--plot", plot), 7, "p.png exists; --force overwrites it")
    assert plot.read_text() == "precious"
    refused(
        zoloss("complexity", path, "--plot", tmp_path / "p.jpg"),
        7,
        "--plot: ",
        "ends in .jpg",
        ".pdf, .svg, .png",
    )
    refused(zoloss("complexity", path, "--plot", tmp_path / "no" / "p.png"), 7, "there is no folder")
    (tmp_path / "own.png").symlink_to(path)
    refused(zoloss("complexity", path, "--plot", tmp_path / "own.png", "--force"), 7, "is also what is read")
    assert path.read_text() == GOOD
    assert zoloss("complexity", path, "--permutations", 5, "--plot", plot, "--force").code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_prune_overwrites_nothing(zoloss, table, tmp_path):
    path, out, other = table(GOOD), table("precious", "c.csv"), table("also", "c.dropped.csv")
    refused(zoloss("prune", path, "--out", out), 7, "c.csv exists; nothing is overwritten: choose another name")
    refused(zoloss("prune", path, "--out", tmp_path / "d.csv", "--report", other), 7, "c.dropped.csv exists")
    out.unlink()
    refused(zoloss("prune", path, "--out", out), 7, "c.dropped.csv exists")
    refused(zoloss("prune", path, "--out", path), 7, "is also what is read; write to another file")
    refused(zoloss("prune", path, "--out", out, "--report", path), 7, "is also what is read")
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
    monkeypatch.setattr("zoloss_cli.usage.prune.clean", lambda *a: pytest.fail("it computed"))
    refused(zoloss("prune", path, "--out", folder / "c.csv"), 7, "nothing may be written into the folder")
    refused(zoloss("complexity", path, "--plot", folder / "p.png"), 7, "nothing may be written into the folder")


@pytest.mark.parametrize("moment", ["write", "link"])
def test_a_report_that_cannot_be_written_leaves_no_file(zoloss, table, tmp_path, monkeypatch, moment):
    from pathlib import Path

    path, write, link = table(GOOD), Path.write_bytes, os.link

    def full(*arguments):
        raise OSError(28, "No space left on device")

    if moment == "write":
        monkeypatch.setattr(Path, "write_bytes", lambda p, b: full() if "dropped" in p.name else write(p, b))
    else:
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


# -- Ctrl-C and terminals -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["complexity", "prune"])
def test_ctrl_c_ends_with_one_line(table, tmp_path, command):
    """Also within compiled code, which looks at no signal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 5)), rng.integers(0, 2, 1500)
    rows = "".join(",".join(map(str, x)) + f",{'xy'[k]}\n" for x, k in zip(X.tolist(), y, strict=True))
    path = table("a,b,c,d,e,label\n" + rows)
    words = [command, path, "--permutations", "100000"]
    words += ["--out", tmp_path / "c.csv"] if command == "prune" else ["--plot", tmp_path / "p.png"]
    process = subprocess.Popen(
        [sys.executable, "-m", "zoloss_cli", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    try:
        # It is at work when it has used more time than imports and a first look need.
        while _cpu_seconds(process.pid) < 5.0 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert out == ""
    assert err == f"zoloss: interrupted{'; nothing was written' * (command == 'prune')}\n"
    assert list(tmp_path.iterdir()) == [path]


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_terminal_sees_how_far_it_is(zoloss, table, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ended = zoloss("complexity", table(GOOD), "--clusters", 5, "--exact", "--json")
    assert "random orders: 100 of 200, 0:0" in ended.err
    assert " left" in ended.err
    assert "unions of clusters: 100.0 %, 0:00 left" in ended.err
    json.loads(ended.out)
    seen = zoloss("prune", table(GOOD), "--dry-run", "--by", "neighbours")
    assert "neighbours: 30 of 30, 0:00 left" in seen.err


def test_no_terminal_sees_nothing_of_it(zoloss, table):
    ended = zoloss("complexity", table(GOOD), "--clusters", 5)
    assert (ended.code, ended.err) == (0, "")
    assert "\r" not in ended.out
