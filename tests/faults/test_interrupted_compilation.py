"""Ctrl-C while kernels compile: heard at once, without a traceback."""

import os
import signal

from processes import environment, finish, start_zoloss, wait_until

LAST_KERNEL = "walk_vertices"  # of the learner pivot: what is compiled when the others are


def test_an_interrupt_is_heard_while_kernels_compile(tmp_path):
    env = {**environment(), "NUMBA_CACHE_DIR": str(tmp_path)}
    process = start_zoloss("fit", "datasets/heart.csv", "--learner", "pivot", env=env, start_new_session=True)
    wait_until(lambda: any(tmp_path.rglob("*.nbc")), process)
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert "compiling kernels, once, about" in ended.err
    assert "interrupted" in ended.err
    assert not list(tmp_path.rglob(f"*{LAST_KERNEL}*.nbc"))  # or the interrupt was heard after the compilation
