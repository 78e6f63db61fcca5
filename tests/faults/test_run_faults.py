"""Runs that meet bad input, failing learners, dying workers and full disks."""

from __future__ import annotations

import resource
import signal

import pytest
from packages import write_distribution
from processes import environment, run_zoloss
from stored_records import stored

RAISING = """
from zoloss_cli.learners.linear_base import LinearLearner
import os
class Raising(LinearLearner):
    \"\"\"Fails on some splits.\"\"\"
    def __init__(self, random_state=None):
        self.random_state = random_state
    def learn(self, problem, start):
        if problem.y[0] > 0:
            raise ArithmeticError("no luck")
        return start + 1.0
class Dying(Raising):
    \"\"\"Takes its process with it on some splits.\"\"\"
    def learn(self, problem, start):
        if problem.y[0] > 0 and problem.X.shape[0] > 100:
            os._exit(9)
        return start + 1.0
"""


@pytest.fixture
def plugin_package(tmp_path):
    """The environment of a command that finds a third party's package, and so do its workers."""
    folder = tmp_path / "site"
    learners = {"raising": "thirdparty:Raising", "dying": "thirdparty:Dying"}
    write_distribution(folder, "thirdparty", {"learners": learners})
    (folder / "thirdparty.py").write_text(RAISING, encoding="utf-8")
    return environment(folder)


def test_a_learner_that_raises_is_reported_and_tried_again(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 12}\nlearners: [raising, fld]\n")
    results = tmp_path / "results"
    ended = run_zoloss("run", config, "--out", results, "--jobs", 2, env=plugin_package)
    assert ended.code == 5, ended.err
    assert "tasks failed (each is tried again in the next run)" in ended.err
    assert "raising on heart, split" in ended.err
    assert "ArithmeticError: no luck" in ended.err
    assert "Traceback" not in ended.err
    rows = stored(results)
    assert sum("fld" in name for name, _ in rows) == 12
    failed = 24 - len(rows)
    assert failed > 0
    ended = run_zoloss("run", config, "--out", results, env=plugin_package)
    assert f"{len(rows)} were done, 0 run" in ended.err
    assert ended.code == 5


def test_a_base_learner_that_fails_is_reported_with_its_round(zoloss, write_config, tmp_path):
    config = write_config(
        "datasets: [heart]\nsplit: {repeats: 2}\npreprocess: {scale: none}\nlearners:\n"
        "  boosted: {learner: adaboost, rounds: 5, base: {learner: sgd-ls, epochs: 20, rate: 5.0}}\n"
    )
    ended = zoloss("run", config, "--out", tmp_path / "results", "--jobs", 1)
    assert ended.code == 5
    assert (
        "boosted on heart, split 0: ValueError: AdaBoostClassifier: its base learner sgd-ls failed" in ended.err
    )
    assert "in round 1: MarginSGDClassifier: the weights are no longer finite" in ended.err


def test_fail_fast_stops_early(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 300}\nlearners: [raising]\n")
    ended = run_zoloss("run", config, "--out", tmp_path / "r", "--jobs", 1, "--fail-fast", env=plugin_package)
    assert ended.code == 5
    assert len(stored(tmp_path / "r")) < 250


def test_a_worker_that_dies_takes_no_other_task_with_it(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 6}\nlearners: [dying, fld]\n")
    results = tmp_path / "results"
    ended = run_zoloss("run", config, "--out", results, "--jobs", 2, env=plugin_package)
    assert ended.code == 5, ended.err
    assert "its worker process died" in ended.err
    rows = stored(results)
    assert sum("fld" in name for name, _ in rows) == 6
    assert sum("dying" in name for name, _ in rows) >= 1


BAD_DATA = {
    "decimal comma": ("a;label\n1,5;x\n2,5;y\n", "holds the text '1,5': numbers need a decimal point"),
    "beyond any scale": ("a,label\n1e308,x\n-1e308,y\n", "too large to be scaled"),
    "nan": ("a,label\n1,x\nnan,y\n", "has no value"),
    "infinity": ("a,label\n1,x\ninf,y\n", "not a finite number"),
    "one class": ("a,label\n1,x\n2,x\n", "one class only"),
    "too few rows": ("a,label\n1,x\n2,y\n", "too few"),
    "duplicate header": ("a,a,label\n1,2,x\n2,3,y\n", "2 times"),
    "ragged": ("a,label\n1,x\n2\n", "1 fields where the header has 2"),
    "three classes": ("a,label\n1,x\n2,y\n3,z\n4,x\n5,y\n6,z\n", "3 classes"),
}


@pytest.mark.parametrize("fault", sorted(BAD_DATA))
def test_bad_data_is_one_sentence(zoloss, write_config, tmp_path, fault):
    text, part = BAD_DATA[fault]
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    config = write_config("datasets: {mine: {csv: mine.csv}}\nsplit: {train: 4}\nlearners: [fld]\n")
    if fault == "three classes":
        config.write_text(
            config.read_text(encoding="utf-8").replace("train: 4", "train: 0.5"), encoding="utf-8"
        )
    ended = zoloss("run", config, "--out", tmp_path / "results")
    assert ended.code == 3
    assert part in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_other_bad_input_is_one_sentence(zoloss, write_config, small_config, tmp_path):
    cases = [
        (("run", tmp_path / "none.yaml"), 2, "there is no config"),
        (("run", small_config, "--datasets", "hart"), 2, "did you mean 'heart'?"),
        (("run", small_config, "--learners", "rcd-bias,,"), 2, "separated by commas"),
        (("table", tmp_path / "nowhere"), 4, "there is no folder"),
        (("table", tmp_path), 4, "is not a results folder: it holds"),
        (("compare", tmp_path), 4, "is not a results folder"),
        (("status", tmp_path), 4, "is not a results folder"),
        (
            ("run", write_config("datasets: {m: {csv: gone.csv}}\nlearners: [fld]\n", "gone.yaml")),
            3,
            "there is no file",
        ),
        (("datasets", "fetch", "hart"), 3, "did you mean 'heart'?"),
    ]
    for arguments, code, part in cases:
        ended = zoloss(*arguments)
        assert ended.code == code, (arguments, ended.err)
        assert part in ended.err, arguments
        assert ended.err.count("\n") == 1
        assert "Traceback" not in ended.err


def test_options_are_checked(zoloss, small_config):
    for option in (("--splits", 0), ("--jobs", 0), ("--seed", -1), ("--splits", "x")):
        ended = zoloss("run", small_config, *option)
        assert ended.code == 2
        assert "Traceback" not in ended.err


def test_an_unwritable_results_folder(zoloss, small_config, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    ended = zoloss("run", small_config, "--out", tmp_path / "file" / "results")
    assert ended.code == 4
    assert ended.err.startswith("zoloss: cannot write to") or "is a file" in ended.err


def test_a_full_disk_during_a_run(write_config, tmp_path):
    """A small file system of its own would need root; a file size limit fails the same writes."""
    config = write_config("datasets: [pima]\nsplit: {repeats: 400, seed: 5}\nlearners: [fld]\n")
    results = tmp_path / "results"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    ended = run_zoloss("run", config, "--out", results, preexec_fn=limit)
    assert ended.code == 4, ended.err
    assert "cannot write to" in ended.err
    assert "what was finished before is kept" in ended.err
    assert "Traceback" not in ended.err
    assert len(stored(results)) > 10


def test_debug_shows_the_traceback(tmp_path):
    ended = run_zoloss("--debug", "run", tmp_path / "none.yaml")
    assert "Traceback" in ended.err
    assert "ConfigError" in ended.err


def test_a_damaged_results_folder_is_reported_and_not_mixed_in(zoloss, small_config, tmp_path):
    results = tmp_path / "results"
    zoloss("run", small_config, "--out", results)
    good = zoloss("table", results).out
    first, second = sorted((results / "cells").glob("*.jsonl"))[:2]
    first.write_bytes(first.read_bytes()[:-7])
    second.write_text("someone else's file\n", encoding="utf-8")
    shown = zoloss("table", results)
    assert "has no readable header; left out" in shown.err
    ended = zoloss("run", small_config, "--out", results)
    assert ended.code == 0
    assert "damaged line(s) dropped" in ended.err
    assert "moved to" in ended.err
    assert "17 were done, 7 run" in ended.err
    assert zoloss("table", results).out == good
