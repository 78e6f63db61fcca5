"""Turns of workers on a host: one compiles, and what killed workers leave is swept."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading

import pytest

from zoloss_cli.experiment.executors import run_bundle as host_turns
from zoloss_cli.experiment.executors.run_bundle import LOCK, leave_host, name_host_folder, take_turn_on_host


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary folder of the test's own, where kernels are kept."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(host_turns, "KEEPS_KERNELS", True)
    return name_host_folder()


def list_markers(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK)


def take_turns(name, count):
    turns = []

    def take():
        with take_turn_on_host(name) as is_first:
            turns.append(is_first)

    threads = [threading.Thread(target=take) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return turns


def test_one_of_many_compiles_and_none_after_it(folder):
    assert sorted(take_turns("a", 8)) == [False] * 7 + [True]
    assert take_turns("a", 1) == [False]
    assert take_turns("b", 1) == [True]
    assert list_markers(folder) == ["a", "b"]


def test_a_turn_that_fails_is_taken_by_the_next(folder):
    with pytest.raises(RuntimeError), take_turn_on_host("a"):
        raise RuntimeError
    assert take_turns("a", 1) == [True]


def test_markers_of_the_dead_are_swept_and_those_of_the_living_stay(folder):
    take_turns("mine", 1)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name, text in (("dead", str(dead.pid)), ("old", ""), ("odd", "x" * 100), ("huge", "9" * 40)):
        (folder / name).write_text(text, encoding="ascii")
    (folder / "theirs").write_text(str(os.getppid()), encoding="ascii")
    take_turns("next", 1)
    assert list_markers(folder) == ["mine", "next", "theirs"]
    leave_host("mine")
    assert list_markers(folder) == ["next", "theirs"]


def test_leaving_makes_no_folder(folder):
    leave_host()
    leave_host("a")
    assert not folder.exists()


def test_a_folder_that_is_a_link_is_not_used(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("kept", encoding="utf-8")
    folder.symlink_to(tmp_path / "elsewhere")
    assert take_turns("a", 2) == [True, True]
    leave_host("file")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["file"]
