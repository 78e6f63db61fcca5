"""Files that are none: pipes, devices, folders, and paths that cannot be."""

import os
import shlex
import subprocess
import sys

import pytest
from own_rows import refused
from processes import HANG_SECONDS, environment, run_commands

from zoloss_cli.utils.files import FileError, read_file

CONFIG = "datasets: {%s}\nsplit: {repeats: 2}\nlearners: [fld]\nname: n\n"


def test_only_regular_files_are_read(tmp_path):
    for name in ("folder", "pipe", "large", "loop"):
        path = tmp_path / name
        if name == "folder":
            path.mkdir()
        elif name == "pipe":
            os.mkfifo(path)
        elif name == "loop":
            path.symlink_to(path)
        else:
            path.touch()
            os.truncate(path, 1 << 40)
    for path, part in (
        ("pipe", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        ("folder", "cannot be read: Is a directory"),
        ("large", "is too large"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("loop", "cannot be read"),
    ):
        with pytest.raises(FileError, match=part):
            read_file(tmp_path / path, 1000)


def test_a_pipe_is_no_input(zoloss, tmp_path, write_config, table):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    config = write_config(CONFIG % f"mine: {{csv: {path}}}")
    for code, command in (
        (2, ["validate", path]),
        (3, ["run", "--out", tmp_path / "results", "--jobs", "1", config]),
        (3, ["fit", path, "--learner", "fld"]),
        (6, ["predict", path, table("a\n1\n")]),
    ):
        refused(zoloss(*command), code, "is not a regular file")


def test_a_working_folder_that_is_gone_is_said_in_one_sentence(tmp_path, small_config):
    gone = tmp_path / "gone"
    gone.mkdir()
    words = shlex.join([sys.executable, "-m", "zoloss_cli", "validate", str(small_config)])
    ended = subprocess.run(
        ["sh", "-c", f"rmdir ../gone && exec {words}"],
        capture_output=True, text=True, timeout=HANG_SECONDS, cwd=gone, env=environment(),
    )  # fmt: skip
    assert "unexpected" not in ended.stderr
    assert "Traceback" not in ended.stderr
    if ended.returncode:  # some versions of the packages ask for the folder, others do not
        assert ended.stderr.startswith("zoloss: the working folder cannot be used (")
        assert len(ended.stderr.splitlines()) == 1


def test_names_that_are_not_utf_8(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    rows = "".join(f"{i % 7},{i * i % 5},{'xy'[i % 2]}\n" for i in range(20))
    (tmp_path / f"{name}.csv").write_text(f"a,b,label\n{rows}")
    (tmp_path / f"{name}.yaml").write_text(CONFIG % "heart: {}")
    (tmp_path / name).mkdir()
    (tmp_path / name / "own.yaml").write_text(CONFIG % "own: {csv: ../own.csv}")
    (tmp_path / f"{name}.bad.yaml").write_text("datasets: [hart]\nlearners: [fld]\n")
    commands = {
        ("fit", f"{name}.csv", "--learner", "fld", "--model", f"{name}.json"): 0,
        ("predict", f"{name}.json", f"{name}.csv", "--out", f"{name}.out.csv"): 0,
        ("fit", f"{name}.csv", "--learner", "certify", "--certificate", f"{name}.gz"): 0,
        ("verify", f"{name}.gz", f"{name}.csv"): 0,
        ("complexity", f"{name}.csv", "--permutations", "2", "--plot", f"{name}.svg"): 0,
        ("prune", f"{name}.csv", "--by", "neighbours", "--out", f"{name}.kept.csv"): 0,
        ("run", f"{name}.yaml", "--out", f"{name}.results", "--jobs", "1"): 0,
        ("table", f"{name}.results"): 0,
        ("evaluate", f"{name}.csv", "--learners", "fld"): 2,
        ("run", f"{name}/own.yaml", "--jobs", "1"): 2,
        ("validate", f"{name}.bad.yaml"): 2,
    }
    ended = run_commands(list(commands), cwd=tmp_path)
    for (command, expected), (code, _, err) in zip(commands.items(), ended, strict=True):
        assert code == expected, (command, err)
        assert not any(word in err for word in ("unexpected", "Traceback"))
        if code and command[0] != "validate":
            assert "is not UTF-8 text, as names and paths in results must be; rename it\n" in err
