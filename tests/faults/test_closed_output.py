"""Standard output that is closed or full, and Ctrl-C while the program is still being imported."""

from __future__ import annotations

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


@pytest.mark.parametrize("command", ["schema", "learners", "datasets"])
def test_a_reader_that_is_gone_ends_the_program_quietly(command):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "zoloss_cli", command],
        stdout=write, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


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
