"""Standard output that is closed or full, and Ctrl-C while the program is still being imported."""

import os
import subprocess
import sys

import pytest
from processes import environment, run_python

INTERRUPT_IMPORT = """
import builtins, signal, sys
real = builtins.__import__
def interrupted(name, *more):
    if name == "typer":
        signal.raise_signal(signal.SIGINT)
    return real(name, *more)
builtins.__import__ = interrupted
sys.argv = ["zoloss", "--version"]
from zoloss_cli.__main__ import main
main()
"""


def test_a_reader_that_is_gone_ends_the_program_quietly():
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "zoloss_cli", "learners"],
        stdout=write, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    ("command", "code", "closed"),
    [
        ("schema", 0, ">&-"),
        ("fit mine.csv --learner fld --model MODEL", 0, ">&- 2>&- <&-"),
        ("fit -", 3, "<&-"),
    ],
)
def test_streams_that_are_closed_are_as_the_null_device(tmp_path, closed, command, code):
    (tmp_path / "mine.csv").write_text("a,label\n1,x\n2,y\n3,x\n4,y\n")
    ended = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m zoloss_cli {command} {closed}"],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment(), cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    assert not any(word in ended.stderr for word in ("unexpected", "Traceback", "Errno"))
    assert (tmp_path / "MODEL").exists() == ("MODEL" in command)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_is_one_sentence():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "zoloss_cli", "schema"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (7, "zoloss: No space left on device\n")


def test_ctrl_c_during_the_import_is_no_traceback():
    ended = run_python("-c", INTERRUPT_IMPORT)
    assert (ended.code, ended.out, ended.err) == (130, "", "")
