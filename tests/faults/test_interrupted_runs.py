"""Runs that are killed, interrupted or started twice: finished tasks are kept."""

import os
import signal
import time

import pytest
from processes import finish, start_zoloss, wait_until
from stored_records import stored
from torture.launch import count_lines

# Slow enough that a test which looks a moment late still finds it at work; without an end, it always does.
SLOW = "datasets: [pima]\nsplit: {repeats: 6, seed: 5}\nlearners: {pocket: {epochs: 4000, seeding: fld}}\n"
ENDLESS = SLOW.replace("repeats: 6", "repeats: 4000")


def wait_for_records(results, count, process):
    cells = results / "cells"
    wait_until(lambda: count_lines(cells) >= count, process, lambda: count_lines(cells))


def test_killed_runs_continue_to_the_same_table(zoloss, write_config, tmp_path):
    config, results, whole = write_config(SLOW), tmp_path / "killed", tmp_path / "whole"
    process = start_zoloss("run", config, "--out", results, "--jobs", "2")
    wait_for_records(results, 1, process)
    process.kill()
    finish(process)
    kept = stored(results)
    assert 0 < len(kept) < 6
    assert zoloss("run", config, "--out", results, "--jobs", "1").code == 0
    assert zoloss("run", config, "--out", whole, "--jobs", "1").code == 0
    assert stored(results) == stored(whole)
    assert kept.items() <= stored(results).items()
    assert zoloss("table", results).out == zoloss("table", whole).out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_second_run_is_refused_and_an_interrupt_keeps_what_is_finished(zoloss, write_config, tmp_path, how):
    config, results = write_config(ENDLESS), tmp_path / "results"
    process = start_zoloss("run", config, "--out", results, "--jobs", "2", start_new_session=True)
    wait_for_records(results, 3, process)
    second = zoloss("run", config, "--out", results)
    assert second.code == 4
    assert "another run is writing" in second.err
    os.killpg(process.pid, how)
    ended = finish(process)
    assert ended.code == 128 + how
    assert "tasks to go; continue with: zoloss run" in ended.err
    assert "Traceback" not in ended.err
    assert len(stored(results)) >= 3


def test_an_interrupt_while_workers_start_is_no_traceback(write_config, tmp_path):
    config, results = write_config(ENDLESS), tmp_path / "results"
    process = start_zoloss("run", config, "--out", results, "--jobs", "2", start_new_session=True)
    wait_until((results / "runs").is_dir, process)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err
