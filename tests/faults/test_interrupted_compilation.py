"""Ctrl-C while modules are imported and kernels compile: heard at once, without a traceback."""

from __future__ import annotations

import os
import signal

import pytest
from processes import cpu_seconds, environment, finish, start_zoloss, wait_until

SLOW_TO_COMPILE = "pivot"  # 7 CPU seconds or more
LAST_KERNEL = "walk_vertices"  # what is compiled when the others are


@pytest.mark.parametrize("command", ["fit", "run"])
def test_an_interrupt_is_heard_while_kernels_compile(command, write_config, tmp_path):
    config = write_config(f"datasets: [heart]\nsplit: {{repeats: 3}}\nlearners: [{SLOW_TO_COMPILE}]\n")
    arguments = {
        "fit": ["fit", "datasets/heart.csv", "--learner", SLOW_TO_COMPILE],
        "run": ["run", config, "--out", tmp_path / "results"],
    }[command]
    cache = tmp_path / "cache"
    cache.mkdir()
    process = start_zoloss(
        *arguments, env={**environment(), "NUMBA_CACHE_DIR": str(cache)}, start_new_session=True
    )
    wait_until(lambda: any(cache.rglob("*.nbc")), process)
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert "compiling kernels, once, about" in ended.err
    assert "interrupted" in ended.err
    assert not list(cache.rglob(f"*{LAST_KERNEL}*.nbc"))  # or the interrupt was heard after the compilation


@pytest.mark.parametrize("used", [0.08, 0.12, 0.2, 0.4, 0.8])
def test_an_interrupt_of_an_import_is_no_traceback(used):
    """At moments of the CPU time that the imports of this command take, after those of Python itself."""
    process = start_zoloss("learners", "pivot", start_new_session=True)
    wait_until(lambda: process.poll() is not None or cpu_seconds(process.pid) >= used, process)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    # Before Python has set up signals, the default action ends the process.
    assert ended.code in (0, 130, -signal.SIGINT)
    assert "Traceback" not in ended.err
    assert "Exception ignored" not in ended.err
