"""Work in copies of a process: the same results in the same order, whatever becomes of the copies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zoloss_cli.utils.processes import count_max_forks, map_in_forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

# Each in a process of its own, as pytest's workers have threads.
HEAD = """
import os, signal, sys, time
from zoloss_cli.utils.processes import count_max_forks, map_in_forks
first = os.getpid()
"""
EQUAL_FOR_ANY_NUMBER = """
items = list(range(40))
for n_copies in (0, 1, 3, 100):
    assert map_in_forks(lambda i: (i, str(i) * 5000), items, n_copies) == [(i, str(i) * 5000) for i in items]
assert map_in_forks(str, [], 2) == []
"""
SHARED = """
def where(i):
    time.sleep(0.01)
    return os.getpid()
places = map_in_forks(where, range(60), 2)
assert len(set(places)) == 3 and first in places, places
"""
KILLED = """
def die_in_copy(i):
    if os.getpid() != first:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return i
assert map_in_forks(die_in_copy, range(30), 2) == list(range(30))
"""
FAILING_IN_COPY = """
def fail_in_copy(i):
    if os.getpid() != first:
        raise RuntimeError("in a copy")
    time.sleep(0.01)
    return i
assert map_in_forks(fail_in_copy, range(30), 2) == list(range(30))
"""
FAILING = """
def fail(i):
    raise ValueError(f"item {i}")
try:
    map_in_forks(fail, range(5), 2)
except ValueError as error:
    assert str(error).startswith("item")
else:
    raise AssertionError("no error")
"""

WAITING = """
signal.signal(signal.SIGINT, signal.default_int_handler)
def wait(i):
    os.write(1, f"{os.getpid()}\\n".encode())  # in one piece: two processes write
    time.sleep(60)
try:
    map_in_forks(wait, range(9), 1)
except KeyboardInterrupt:
    print("heard", flush=True)
"""


@pytest.mark.parametrize("script", [EQUAL_FOR_ANY_NUMBER, SHARED, KILLED, FAILING_IN_COPY, FAILING])
def test_results_and_errors_do_not_depend_on_copies(script):
    done = subprocess.run([sys.executable, "-W", "error", "-c", HEAD + script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_interrupt_ends_copies_with_the_process():
    with subprocess.Popen(
        [sys.executable, "-c", HEAD + WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert (out.strip(), err, process.returncode) == ("heard", "", 0)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_no_copies_beside_other_threads(monkeypatch):
    monkeypatch.setattr("threading.active_count", lambda: 2)
    assert count_max_forks() == 0
    assert map_in_forks(lambda _: os.getpid(), range(3)) == [os.getpid()] * 3
