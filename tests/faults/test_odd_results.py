"""Results folders whose files are pipes, devices, folders or links to nowhere, and runs that lack records."""

import os
import shutil

import pytest
from own_rows import refused

CONFIG = (
    "name: small\npublished: {paper: li-lin-2007, table: II}\nmetric: train_error\n"
    "datasets: [sonar, heart, ionosphere]\nsplit: {repeats: 3}\n"
    "learners: {fld: , ave-perc: {epochs: 3}, pocket: {epochs: 3}}\n"
)
READERS = [
    ["table", "--format", "csv"],
    ["compare"],
    ["stats"],
    ["status"],
    ["plot", "--figure", "ranks", "--out", "ranks.svg", "--force"],
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of complete results."""
    from processes import run_zoloss

    folder = tmp_path_factory.mktemp("made")
    (folder / "small.yaml").write_text(CONFIG, encoding="utf-8")
    ended = run_zoloss("run", "small.yaml", "--out", "results", "--jobs", "1", cwd=folder)
    assert ended.code == 0, ended.err
    return folder / "results"


@pytest.fixture
def results(made, tmp_path, monkeypatch):
    """A copy of them, in the working folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(made, tmp_path / "results")


def put_oddity(kind, path):
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.symlink_to({"device": "/dev/zero", "loop": path.name}[kind])


@pytest.mark.parametrize(
    ("kind", "part"),
    [("pipe", "cells"), ("folder", "runs"), ("large", "cells"), ("device", "runs"), ("loop", "cells")],
)
def test_one_odd_file_is_left_out_and_named(zoloss, results, kind, part):
    odd = sorted((results / part).iterdir())[0]
    put_oddity(kind, odd)
    for command in ("status", "table"):
        ended = zoloss(command, results)
        assert ended.code == 0 or (part, command) == ("runs", "table"), ended.err  # there is no other run
        assert f"zoloss: {odd} " in ended.err
        assert ended.err.splitlines()[0].endswith("; left out")


def test_a_marker_that_is_none(zoloss, results):
    put_oddity("device", results / "zoloss.json")
    refused(zoloss("status", results), 4, str(results))


def test_a_run_moves_an_odd_file_out_of_the_way(zoloss, results, write_config):
    odd = sorted((results / "cells").iterdir())[0]
    put_oddity("pipe", odd)
    ended = zoloss.ok("run", write_config(CONFIG), "--out", results, "--jobs", "1")
    assert "is not a regular file; moved to" in ended.err
    assert odd.is_file()


def test_readers_say_that_records_are_missing(zoloss, results):
    """A record that is gone leaves nothing damaged behind, and other means."""
    for command in READERS:
        whole = zoloss(*command, results)
        assert (whole.code, "incomplete" in whole.out + whole.err) == (0, False), whole.err
    path = next((results / "cells").glob("heart.fld.*"))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    for command in READERS:
        part = zoloss.ok(*command, results)
        expected = {"status": "26/27", "table": "incomplete"}.get(command[0], "incomplete: 26 of 27 tasks")
        assert expected in part.out + part.err
        assert "fld on heart (2 of 3 splits)" in part.out + part.err
    path.unlink()
    part = zoloss("compare", results)
    assert "incomplete: 24 of 27 tasks" in part.out + part.err
    assert "fld on heart (0 of 3 splits)" in part.out + part.err


def test_a_cell_that_is_gone_is_named_first_in_a_run_that_was_stopped(zoloss, results):
    for path in (results / "cells").iterdir():
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    next((results / "cells").glob("heart.fld.*")).unlink()
    for command in ("table", "status"):
        shown = " ".join(zoloss(command, results).out.split())
        named = shown.partition("incomplete: " if command == "table" else "lacks records: ")[2]
        assert named.startswith("fld on heart (0 of 3 splits); "), shown
        assert "(2 of 3 splits)" in named
