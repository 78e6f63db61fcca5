"""Runs that meet bad input, failing learners, dying workers and full disks."""

import resource
import signal
from collections import Counter

from own_rows import refused
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


def test_what_raises_or_kills_its_worker_is_reported_alone_and_tried_again(write_config, tmp_path):
    learners = {"raising": "thirdparty:Raising", "dying": "thirdparty:Dying"}
    write_distribution(tmp_path / "site", "thirdparty", {"learners": learners})
    (tmp_path / "site" / "thirdparty.py").write_text(RAISING, encoding="utf-8")
    config = write_config("datasets: [heart]\nsplit: {repeats: 6}\nlearners: [raising, dying, fld]\n")
    results = tmp_path / "results"
    command = ["run", config, "--out", results, "--jobs", 2]
    ended = run_zoloss(*command, env=environment(tmp_path / "site"))
    assert ended.code == 5, ended.err
    assert "tasks failed (the next run retries them)" in ended.err
    assert " on heart, split" in ended.err
    assert "Traceback" not in ended.err
    for name, reason in (("raising", "ArithmeticError: no luck"), ("dying", "its worker process died")):
        (path,) = (results / "cells").glob(f"heart.{name}.*")
        assert reason in path.read_text(encoding="utf-8")
    counts = Counter(name.split(".")[1] for name, _ in stored(results))
    assert counts["fld"] == 6
    assert 1 <= counts["raising"] < 6
    assert 1 <= counts["dying"] < 6


def test_a_base_learner_that_fails_is_named_with_its_round_and_may_end_the_run(zoloss, write_config, tmp_path):
    config = write_config(
        "datasets: [heart]\nsplit: {repeats: 60}\npreprocess: {scale: none}\nlearners:\n"
        "  boosted: {learner: adaboost, rounds: 5, base: {learner: sgd-ls, epochs: 20, rate: 5.0}}\n"
        "  fld:\n"
    )
    ended = zoloss("run", config, "--out", tmp_path / "results", "--jobs", 1, "--fail-fast")
    assert ended.code == 5
    assert (
        "boosted on heart, split 0: ValueError: AdaBoostClassifier: its base learner sgd-ls failed" in ended.err
    )
    assert "in round 1: MarginSGDClassifier: the weights are no longer finite" in ended.err
    assert len(stored(tmp_path / "results")) < 60
    ended = zoloss("run", config, "--out", tmp_path / "results", "--jobs", 1, "--splits", 2)
    assert ended.code == 5
    assert "2 tasks failed (the next run retries them)" in ended.err


def test_other_bad_input_is_one_sentence(zoloss, write_config, small_config, tmp_path):
    cases = [
        (("run", tmp_path / "none.yaml"), 2, "there is no config"),
        (("run", small_config, "--datasets", "hart"), 2, "did you mean 'heart'?"),
        (("run", small_config, "--learners", "rcd-bais"), 2, "did you mean 'rcd-bias'?"),
        (("run", small_config, "--learners", "rcd-bias,,"), 2, "separated by commas"),
        (("run", small_config, "--out", tmp_path / "small.yaml" / "results"), 4, "small.yaml"),
        (("table", tmp_path / "nowhere"), 4, "there is no folder"),
        (("table", tmp_path), 4, "is not a results folder: it holds"),
        (
            ("run", write_config("datasets: {m: {csv: gone.csv}}\nlearners: [fld]\n", "gone.yaml")),
            3,
            "there is no file",
        ),
        (("datasets", "fetch", "hart"), 3, "did you mean 'heart'?"),
    ]
    for arguments, code, part in cases:
        refused(zoloss(*arguments), code, part, faults=None)


def test_a_full_disk_during_a_run(write_config, tmp_path):
    """A small file system of its own would need root; a file size limit fails the same writes."""
    config = write_config("datasets: [pima]\nsplit: {repeats: 400, seed: 5}\nlearners: [fld]\n")
    results = tmp_path / "results"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    ended = run_zoloss("run", config, "--out", results, "--jobs", "1", preexec_fn=limit)
    assert ended.code == 4, ended.err
    assert "cannot write to" in ended.err
    assert "finished tasks are kept" in ended.err
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
    ended = zoloss.ok("run", small_config, "--out", results)
    assert "damaged line(s) dropped" in ended.err
    assert "moved to" in ended.err
    assert "17 were done, 7 run" in ended.err
    assert zoloss("table", results).out == good
