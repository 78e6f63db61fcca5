"""`zoloss path`: errors of scoring systems against their size, the suggestion, and bad input."""

from __future__ import annotations

import json
import shlex
import sys

import numpy as np
import pytest
from own_rows import GOOD, refused

from zoloss_cli.api.choose import ScoringOptions
from zoloss_cli.api.path import PathRequest, PathStep, SizePath, parse_sizes
from zoloss_cli.data.user_table import read_for_training

QUICK = ("--set", "steps=5", "--set", "nodes=2000")


@pytest.fixture
def mine(table):
    """Two columns that matter and one that does not."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (200, 3))
    y = X[:, 0] + X[:, 1] + rng.integers(0, 2, 200) > 3
    rows = [",".join([*map(str, x), "yes" if label else "no"]) for x, label in zip(X, y, strict=True)]
    return table("\n".join(["a,b,noise,label", *rows]) + "\n")


def test_errors_fall_with_the_size(zoloss, mine, tmp_path):
    figure = tmp_path / "path.svg"
    ended = zoloss.ok("path", mine, "--max-terms", "1..3", *QUICK, "--json", "--out", figure)
    assert figure.read_bytes().startswith(b"<?xml")
    found = json.loads(ended.out)
    steps = found["steps"]
    assert [step["max_terms"] for step in steps] == [1, 2, 3]
    errors = [step["errors"] for step in steps]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]
    assert all(step["optimal"] for step in steps[:2])
    most = min((step["validated_error_rate"], step["stderr"]) for step in steps)
    small = next(step for step in steps if step["validated_error_rate"] <= sum(most))
    assert found["suggested"] == small["max_terms"]
    text = zoloss("path", mine, "--max-terms", "1..3", *QUICK)
    assert f"suggested {found['suggested']} term" in text.out
    for step in steps:
        assert f"{100 * step['validated_error_rate']:.2f} ± {100 * step['stderr']:.2f}" in text.out
    again = zoloss("path", mine, "--max-terms", "1..3", *QUICK, "--out", figure)
    assert (again.code, again.out) == (7, "")


def test_the_suggested_command_is_whole(zoloss, mine):
    options = ["--monotone", "a:+,b:+", "--max-points", "2", "--positive", "no", "--drop", "noise", *QUICK]
    ended = zoloss.ok("path", mine, "--max-terms", "1..2", *options, "--seed", "3")
    command = shlex.split(ended.out.splitlines()[-1])
    assert command[:3] == ["zoloss", "fit", str(mine)]
    found = json.loads(zoloss.ok(*command[1:], "--json", "--no-validate").out)
    assert (found["features"], found["positive"], found["seed"]) == (["a", "b"], "no", 3)
    kept = {"max_points": 2, "monotone": ["a:+", "b:+"], "steps": 5, "nodes": 2000}
    assert kept.items() <= found["parameters"].items()


def test_a_step_of_the_path_is_the_fit_of_its_size(zoloss, mine):
    (step,) = json.loads(zoloss("path", mine, "--max-terms", "3..3", *QUICK, "--json").out)["steps"]
    fitted = json.loads(zoloss("fit", mine, "--learner", "scoring", "--max-terms", 3, *QUICK, "--json").out)
    assert step["errors"] == fitted["errors"]
    assert step["validated_error_rate"] == pytest.approx(fitted["validation"]["error_rate"], abs=0.01)


def test_the_suggestion_is_within_one_standard_error():
    def step(size, *rates):
        return PathStep(size, size, 0, 10, True, rates)

    path = SizePath(None, (step(1, 0.4, 0.4), step(2, 0.25, 0.15), step(3, 0.2, 0.1)), None)
    assert (path.best.size, path.suggested.size) == (3, 2)
    assert path.best.stderr == pytest.approx(np.std([0.2, 0.1], ddof=1) / np.sqrt(2))


def test_ctrl_c_shows_the_sizes_that_are_done(mine):
    seen = []

    def report(size):
        seen.append(size)
        if size == 3:
            raise KeyboardInterrupt

    request = PathRequest((1, 2, 3, 4), ScoringOptions(), ["steps=5", "nodes=100"])
    with pytest.raises(KeyboardInterrupt):
        PathRequest((3, 4), ScoringOptions(), ["steps=5"]).run(read_for_training(mine), report)
    path = request.run(read_for_training(mine), report)
    assert [step.size for step in path.steps] == [1, 2]
    assert path.notes[-1] == "interrupted: the sizes from 3 on are left out"


def test_sizes_are_read():
    for text, sizes in (("1..3", (1, 2, 3)), (" 2, 8,4", (2, 4, 8)), ("3", (1, 2, 3))):
        assert parse_sizes(text) == sizes


BAD_OPTIONS = [
    (["--max-terms", "many"], 2, "--max-terms: 'many' is not a range of sizes; write it as 1..10"),
    (["--max-terms", "5..2"], 2, "--max-terms: '5..2' must be sizes from 1 to 100"),
    (["--max-terms", "1..99999999999"], 2, "must be sizes from 1 to 100"),
    (["--max-terms", "1..30"], 3, "--max-terms is 30, more than the 9 conditions of its 3 columns"),
    (["--set", "max_terms=3"], 2, "--max-terms sets the sizes of a path"),
    (["--out", "path.docx"], 7, "a figure is written as one of"),
]


def test_bad_input_is_one_sentence(zoloss, mine):
    for options, code, sentence in BAD_OPTIONS:
        refused(zoloss("path", mine, *options), code, sentence)


@pytest.mark.parametrize(
    "command",
    [["fit", "--no-validate", "--learner", "fld"], ["path", "--max-terms", "1", *QUICK], ["complexity"]]
    + [["prune", "--dry-run", "--by", "neighbours"]],
)
def test_guesses_come_before_the_result(zoloss, table, monkeypatch, command):
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    out = zoloss.ok(command[0], table(GOOD), *command[1:]).out
    assert 0 <= out.index("label: 'label' (guessed; --label to change)") < out.index("30 samples, 2 features")
