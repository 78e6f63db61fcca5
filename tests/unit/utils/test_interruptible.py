"""Waiting for compiled code, which handles no signals."""

from __future__ import annotations

import threading

import pytest

from zoloss_cli.utils.interruptible import POLL_SECONDS, run_interruptibly


def test_results_and_errors_come_back():
    assert run_interruptibly(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 / 0)
    with pytest.raises(SystemExit):
        run_interruptibly(lambda: exit(3))


def test_an_interrupt_while_waiting_ends_the_wait():
    release, polls = threading.Event(), []

    def interrupt_third_poll():
        polls.append(1)
        if len(polls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(lambda: release.wait(1000 * POLL_SECONDS), interrupt_third_poll)
    assert len(polls) == 3
    release.set()
