"""Waiting for what handles no signals."""

from __future__ import annotations

import threading

import pytest

from zoloss_cli.utils import interrupt as interruptible
from zoloss_cli.utils.interrupt import has_abandoned_threads, run_interruptibly


def test_results_and_errors_come_back():
    assert run_interruptibly(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0)
    assert not has_abandoned_threads()


def test_an_interrupt_ends_the_wait_and_the_running_thread_is_known(monkeypatch):
    monkeypatch.setattr(interruptible, "_abandoned", [])
    release = threading.Event()

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(release.wait, interrupt)
    assert has_abandoned_threads()
    release.set()
    interruptible._abandoned[0].join()
    assert not has_abandoned_threads()
