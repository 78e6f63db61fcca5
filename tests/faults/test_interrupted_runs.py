"""Runs that are killed, interrupted or started twice: what is finished is kept."""

from __future__ import annotations

import os
import signal
import time

import pytest
from processes import finish, start_zoloss, wait_until
from stored_records import stored

# Slow enough that a test which looks a moment late still finds it at work; without an end, it always does.
SLOW = (
    "datasets: [pima]\nsplit: {repeats: 16, seed: 5}\nlearners: {pocket: {epochs: 4000, seeding: fld}, fld: }\n"
)
ENDLESS = SLOW.replace("repeats: 16", "repeats: 4000")


def wait_for_records(results, count, process):
    def stored_count():
        return sum(p.read_bytes().count(b"\n") - 1 for p in (results / "cells").glob("*.jsonl"))

    wait_until(lambda: stored_count() >= count, process, stored_count)


@pytest.mark.parametrize("after", [1, 6])
def test_killed_runs_continue_to_the_same_table(zoloss, write_config, tmp_path, after):
    config, results, whole = write_config(SLOW), tmp_path / "killed", tmp_path / "whole"
    process = start_zoloss("run", config, "--out", results)
    wait_for_records(results, after, process)
    process.kill()
    finish(process)
    kept = stored(results)
    assert 0 < len(kept) < 32
    assert zoloss("run", config, "--out", results).code == 0
    assert zoloss("run", config, "--out", whole).code == 0
    assert stored(results) == stored(whole)
    assert kept.items() <= stored(results).items()
    assert zoloss("table", results).out == zoloss("table", whole).out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_finished_and_says_how_to_continue(write_config, tmp_path, how):
    config, results = write_config(ENDLESS), tmp_path / "results"
    process = start_zoloss("run", config, "--out", results, start_new_session=True)
    wait_for_records(results, 3, process)
    os.killpg(process.pid, how)
    ended = finish(process)
    assert ended.code == 128 + how
    assert "tasks to go; continue with: zoloss run" in ended.err
    assert "Traceback" not in ended.err
    assert len(stored(results)) >= 3


@pytest.mark.parametrize("later", [0.0, 0.5, 1.0, 2.0])
def test_an_interrupt_while_workers_start_is_no_traceback(write_config, tmp_path, later):
    config, results = write_config(ENDLESS.replace("fld: }", "sla: }")), tmp_path / "results"
    process = start_zoloss("run", config, "--out", results, start_new_session=True)
    wait_until((results / "runs").is_dir, process)
    time.sleep(later)  # any moment will do: these are some of them
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err


def test_two_runs_into_one_folder(zoloss, write_config, tmp_path):
    config, results = write_config(ENDLESS), tmp_path / "results"
    process = start_zoloss("run", config, "--out", results)
    try:
        wait_for_records(results, 1, process)
        second = zoloss("run", config, "--out", results)
        assert second.code == 4
        assert "another run is writing" in second.err
    finally:
        process.kill()
        finish(process)
