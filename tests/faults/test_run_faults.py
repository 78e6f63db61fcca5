"""Runs that meet bad input, failing learners, dying workers, kills and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-m", "zoloss_cli"]


def start(*arguments, **more):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def read_errors(results):
    """By hand, so that it does not matter who can read what."""
    errors = {}
    for path in (results / "cells").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            record = json.loads(line)
            if "failed" not in record:
                errors[path.name, record["split"]] = (record["train_errors"], record["test_errors"])
    return errors


SLOW = (
    "datasets: [pima]\nsplit: {repeats: 40, seed: 5}\nlearners: {pocket: {epochs: 800, seeding: fld}, fld: }\n"
)


def wait_for_records(results, count, process):
    for _ in range(600):
        lines = [p.read_bytes().count(b"\n") - 1 for p in (results / "cells").glob("*.jsonl")]
        if sum(lines) >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the run stored nothing in 30 s")


@pytest.mark.parametrize("after", [1, 12])
def test_killed_runs_continue_to_the_same_table(zoloss, write_config, tmp_path, after):
    config, results, whole = write_config(SLOW), tmp_path / "killed", tmp_path / "whole"
    process = start("run", config, "--out", results)
    wait_for_records(results, after, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)  # returns when the workers, which hold its pipes, are gone too
    kept = read_errors(results)
    assert 0 < len(kept) < 80
    assert zoloss("run", config, "--out", results).code == 0
    assert zoloss("run", config, "--out", whole).code == 0
    assert read_errors(results) == read_errors(whole)
    assert kept.items() <= read_errors(results).items()
    assert zoloss("table", results).out == zoloss("table", whole).out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_finished_and_says_how_to_continue(write_config, tmp_path, how):
    config, results = write_config(SLOW), tmp_path / "results"
    process = start("run", config, "--out", results, start_new_session=True)
    wait_for_records(results, 3, process)
    began = time.monotonic()
    os.killpg(process.pid, how)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 10  # a hang, not a benchmark
    assert process.returncode == 130
    assert "tasks to go; continue with: zoloss run" in err
    assert "Traceback" not in err
    assert len(read_errors(results)) >= 3


@pytest.mark.parametrize("later", [0.0, 0.5, 1.0, 2.0])
def test_an_interrupt_while_workers_start_is_no_traceback(write_config, tmp_path, later):
    config, results = write_config(SLOW.replace("fld: }", "sla: }")), tmp_path / "results"
    process = start("run", config, "--out", results, start_new_session=True)
    while not (results / "runs").is_dir() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(later)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_two_runs_into_one_folder(zoloss, write_config, tmp_path):
    config, results = write_config(SLOW.replace("repeats: 40", "repeats: 4000")), tmp_path / "results"
    process = start("run", config, "--out", results)
    try:
        wait_for_records(results, 1, process)
        second = zoloss("run", config, "--out", results)
        assert second.code == 4
        assert "another run is writing" in second.err
    finally:
        process.kill()
        process.communicate(timeout=30)


RAISING = """
from zoloss_cli.learners.base import LinearLearner
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
def plugin_package(tmp_path, monkeypatch):
    """A third party's package, found through its entry points by this process and by workers."""
    folder = tmp_path / "site"
    info = folder / "thirdparty-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "thirdparty.py").write_text(RAISING, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[zoloss.learners]\nraising = thirdparty:Raising\ndying = thirdparty:Dying\n", encoding="utf-8"
    )
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def test_a_learner_that_raises_is_reported_and_tried_again(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 12}\nlearners: [raising, fld]\n")
    results = tmp_path / "results"
    process = start("run", config, "--out", results, "--jobs", 2, env=plugin_package)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 5, err
    assert "tasks failed (each is tried again in the next run)" in err
    assert "raising on heart, split" in err
    assert "ArithmeticError: no luck" in err
    assert "Traceback" not in err
    errors = read_errors(results)
    assert sum("fld" in name for name, _ in errors) == 12
    failed = 24 - len(errors)
    assert failed > 0
    process = start("run", config, "--out", results, env=plugin_package)
    _, err = process.communicate(timeout=120)
    assert f"{len(errors)} were done, 0 run" in err
    assert process.returncode == 5


def test_a_base_learner_that_fails_is_reported_with_its_round(zoloss, write_config, tmp_path):
    config = write_config(
        "datasets: [heart]\nsplit: {repeats: 2}\npreprocess: {scale: none}\nlearners:\n"
        "  boosted: {learner: adaboost, rounds: 5, base: {learner: sgd-ls, epochs: 20, rate: 5.0}}\n"
    )
    ended = zoloss("run", config, "--out", tmp_path / "results", "--jobs", 1)
    assert ended.code == 5
    assert (
        "boosted on heart, split 0: RuntimeError: AdaBoostClassifier: its base learner sgd-ls failed"
        in ended.err
    )
    assert "in round 1: MarginSGDClassifier: the weights are no longer finite" in ended.err


def test_fail_fast_stops_early(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 300}\nlearners: [raising]\n")
    process = start("run", config, "--out", tmp_path / "r", "--jobs", 1, "--fail-fast", env=plugin_package)
    process.communicate(timeout=120)
    assert process.returncode == 5
    assert len(read_errors(tmp_path / "r")) < 250


def test_a_worker_that_dies_takes_no_other_task_with_it(write_config, tmp_path, plugin_package):
    config = write_config("datasets: [heart]\nsplit: {repeats: 6}\nlearners: [dying, fld]\n")
    results = tmp_path / "results"
    process = start("run", config, "--out", results, "--jobs", 2, env=plugin_package)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 5, err
    assert "its worker process died" in err
    errors = read_errors(results)
    assert sum("fld" in name for name, _ in errors) == 6
    assert sum("dying" in name for name, _ in errors) >= 1


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
        (("table", tmp_path), 4, "is no results folder: it holds"),
        (("compare", tmp_path), 4, "is no results folder"),
        (("status", tmp_path), 4, "is no results folder"),
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
    import resource

    config, results = write_config(SLOW.replace("repeats: 40", "repeats: 400")), tmp_path / "results"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    process = start("run", config, "--out", results, "--learners", "fld", preexec_fn=limit)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4, err
    assert "cannot write to" in err
    assert "what was finished before is kept" in err
    assert "Traceback" not in err
    assert len(list_stored(results)) > 10


def list_stored(results):
    from zoloss_cli.results.store import read_cell_file

    return [
        k for p in (results / "cells").glob("*.jsonl") for k in read_cell_file(p, p.name.split(".")[-2]).records
    ]


def test_debug_shows_the_traceback(tmp_path):
    process = start("--debug", "run", tmp_path / "none.yaml")
    _, err = process.communicate(timeout=60)
    assert "Traceback" in err
    assert "ConfigError" in err


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
