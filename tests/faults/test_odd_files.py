"""Files that are none: pipes, devices, folders, and paths that cannot be."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = "datasets: {mine: {csv: %s}}\nsplit: {repeats: 1}\nlearners: [fld]\n"
SECONDS = 60  # against a hang


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "zoloss_cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, cwd=cwd)


def build_odd_file(kind: str, folder: Path) -> Path:
    path = folder / f"odd-{kind}"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        return Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    elif kind == "long":
        return folder / ("x" * 5000)
    elif kind == "loop":
        path.symlink_to(path)
    return path


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("pipe", "is not a regular file"),
        ("device", "is not a regular file"),
        ("folder", "cannot be read: Is a directory"),
        ("large", "is too large"),
        ("long", "cannot be read: File name too long"),
        ("loop", ""),
    ],
)
@pytest.mark.parametrize("use", ["config", "csv", "fit", "predict"])
def test_only_regular_files_are_read(tmp_path, write_config, table, kind, part, use):
    path = build_odd_file(kind, tmp_path)
    commands = {
        "config": (2, ["validate", path]),
        "csv": (3, ["run", "--out", tmp_path / "results", "--jobs", "1", "small.yaml"]),
        "fit": (3, ["fit", path, "--learner", "fld"]),
        "predict": (6, ["predict", path, table("a\n1\n")]),
    }
    write_config(CONFIG % path)
    code, command = commands[use]
    ended = run(*command, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (code, ""), ended.stderr
    assert part in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "unexpected" not in ended.stderr


def test_a_name_that_is_no_text_is_said_in_one_sentence(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml")
    Path(path).write_text("datasets: [hart]\nlearners: [fld]\n")
    ended = run("validate", path)
    assert ended.returncode == 2
    assert "unexpected" not in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("command", ["validate", "fit"])
def test_a_working_folder_that_is_gone_is_said_in_one_sentence(tmp_path, small_config, table, command):
    data = table("a,label\n1,x\n2,y\n3,x\n4,y\n")
    arguments = {"validate": [small_config], "fit": [data, "--learner", "fld"]}[command]
    gone = tmp_path / "gone"
    gone.mkdir()
    words = shlex.join([sys.executable, "-m", "zoloss_cli", command, *map(str, arguments)])
    ended = subprocess.run(
        ["sh", "-c", f"rmdir ../gone && exec {words}"],
        capture_output=True, text=True, timeout=SECONDS, cwd=gone,
    )  # fmt: skip
    assert "unexpected" not in ended.stderr
    assert "Traceback" not in ended.stderr
    if ended.returncode:  # some versions of the packages ask for the folder, others do not
        assert ended.stderr.startswith("zoloss: the working folder cannot be used (")
        assert len(ended.stderr.splitlines()) == 1


def test_names_that_are_not_utf_8(tmp_path):
    folder, name = os.fsencode(tmp_path), os.fsdecode(b"caf\xe9")
    rows = "".join(f"{i % 7},{i * i % 5},{'xy'[i % 2]}\n" for i in range(20))
    Path(os.fsdecode(folder + b"/caf\xe9.csv")).write_text(f"a,b,label\n{rows}")
    config = "datasets: {%s}\nsplit: {repeats: 2}\nlearners: [fld]\nname: n\n"
    Path(os.fsdecode(folder + b"/caf\xe9.yaml")).write_text(config % "heart: {}")
    Path(os.fsdecode(folder + b"/caf\xe9")).mkdir()
    Path(os.fsdecode(folder + b"/caf\xe9/own.yaml")).write_text(config % "own: {csv: ../own.csv}")
    commands = {
        ("fit", f"{name}.csv", "--learner", "fld", "--model", f"{name}.json"): 0,
        ("predict", f"{name}.json", f"{name}.csv", "--out", f"{name}.out.csv"): 0,
        ("fit", f"{name}.csv", "--learner", "certify", "--certificate", f"{name}.gz"): 0,
        ("verify", f"{name}.gz", f"{name}.csv"): 0,
        ("complexity", f"{name}.csv", "--plot", f"{name}.svg"): 0,
        ("prune", f"{name}.csv", "--out", f"{name}.kept.csv"): 0,
        ("run", f"{name}.yaml", "--out", f"{name}.results", "--jobs", "1"): 0,
        ("table", f"{name}.results"): 0,
        ("report", f"{name}.results", "--out", f"{name}.html"): 0,
        ("evaluate", f"{name}.csv", "--learners", "fld"): 2,
        ("run", f"{name}/own.yaml", "--jobs", "1"): 2,
    }
    for command, code in commands.items():
        ended = run(*command, cwd=tmp_path)
        assert ended.returncode == code, (command, ended.stderr)
        assert not any(word in ended.stderr for word in ("unexpected", "Traceback"))
        if code:
            assert "is not UTF-8 text, as names and paths in results must be; rename it\n" in ended.stderr
