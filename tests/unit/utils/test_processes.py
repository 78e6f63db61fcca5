"""Waiting for what handles no signals; forks: the same results in the same order, whatever becomes of them."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from zoloss_cli.utils import processes
from zoloss_cli.utils.processes import count_max_forks, has_abandoned_threads, map_in_forks, run_interruptibly


def test_results_and_errors_come_back():
    assert run_interruptibly(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0)
    assert not has_abandoned_threads()


def test_an_interrupt_ends_the_wait_and_the_running_thread_is_known(monkeypatch):
    monkeypatch.setattr(processes, "_abandoned", [])
    release = threading.Event()

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(release.wait, interrupt)
    assert has_abandoned_threads()
    release.set()
    processes._abandoned[0].join()
    assert not has_abandoned_threads()


needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

# In a process of their own, as pytest's workers have threads.
HEAD = """
import os, signal, sys, time
from zoloss_cli.utils.processes import count_max_forks, map_in_forks
first = os.getpid()
"""
CASES = """
items = list(range(40))
for n_forks in (0, 1, 3, 100):
    assert map_in_forks(lambda i: (i, str(i) * 5000), items, n_forks) == [(i, str(i) * 5000) for i in items]
assert map_in_forks(str, [], 2) == []
def where(i):
    time.sleep(0.01)
    return os.getpid()
places = map_in_forks(where, range(60), 2)
assert len(set(places)) == 3 and first in places, places
def die_in_fork(i):
    if os.getpid() != first:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return i
assert map_in_forks(die_in_fork, range(30), 2) == list(range(30))
def fail_in_fork(i):
    if os.getpid() != first:
        raise RuntimeError("in a fork")
    time.sleep(0.01)
    return i
assert map_in_forks(fail_in_fork, range(30), 2) == list(range(30))
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


@needs_fork
def test_results_and_errors_do_not_depend_on_forks():
    done = subprocess.run([sys.executable, "-W", "error", "-c", HEAD + CASES], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@needs_fork
def test_interrupt_ends_forks_with_the_process():
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


@needs_fork
def test_no_forks_beside_other_threads(monkeypatch):
    monkeypatch.setattr("threading.active_count", lambda: 2)
    assert count_max_forks() == 0
    assert map_in_forks(lambda _: os.getpid(), range(3)) == [os.getpid()] * 3
