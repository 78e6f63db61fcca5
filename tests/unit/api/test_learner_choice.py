"""The learner that fits a table for which none was named, and time limits that hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zoloss_cli.api import choose as time_budget
from zoloss_cli.api.choose import TimeBudget, choose_learner, limit_learner, list_usual_learners, parse_learner


def test_the_size_chooses_the_learner_and_says_why():
    for size, name, reason in (
        ((270, 13, 2), "pivot", "two classes, 270 samples"),
        ((200, 5_000, 2), "pivot", "two classes, 200 samples"),
        ((1_000_000, 20, 2), "rcd-bias", "1,000,000 samples are many for pivot"),
        ((2_000, 200, 2), "rcd-bias", "2,000 samples of 200 features are many for pivot"),
        ((20_000, 16, 26), "one-vs-one", "26 classes"),
    ):
        chosen, assignments, why = choose_learner(*size)
        assert (chosen, why) == (name, reason)
        parse_learner(chosen, assignments, None)  # valid settings
        names, settings = list_usual_learners(*size)
        assert (names[0], names[-1], len(set(names))) == (name, "majority", len(names))
        assert settings == [f"{name}.{text}" for text in assignments]


def test_what_was_chosen_is_said_and_settings_of_the_user_come_first(zoloss, table):
    rows = [f"{i % 7},{i % 5},{'xyz'[i % 3]}" for i in range(30)]
    path = table("\n".join(["a,b,label", *rows]) + "\n")
    text = zoloss("fit", path, "--no-validate").out
    assert "learner   one-vs-one:rcd-bias (chosen: 3 classes), " in text
    other = json.loads(zoloss("fit", path, "--no-validate", "--set", "base=fld", "--json").out)
    assert other["parameters"]["base"]["learner"] == "fld"
    assert other["chosen"] == "3 classes"
    two = json.loads(zoloss("fit", path, "--no-validate", "--positive", "x", "--json").out)
    assert (two["learner"], two["chosen"]) == ("pivot", "two classes, 30 samples")
    named = json.loads(zoloss("fit", path, "--no-validate", "--learner", "ecc:stump", "--json").out)
    assert named["chosen"] is None


def test_a_time_limit_is_divided_and_what_exceeds_it_is_said(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(time_budget.time, "perf_counter", lambda: clock[0])
    budget = TimeBudget(30.0, start=100.0)
    with budget.measure("reading"):
        clock[0] += 10.0
    assert budget.compute_seconds_left() == pytest.approx(20.0)
    assert budget.compute_seconds_left(0.75) == pytest.approx(15.0)
    with budget.measure("fitting"):
        clock[0] += 22.5
    assert budget.describe_excess() == []  # within a tenth
    assert budget.compute_seconds_left() == pytest.approx(3.0)
    with budget.measure("validation"):
        clock[0] += 12.5
    (sentence,) = budget.describe_excess()
    assert sentence == (
        "45.0 s passed, more than the time limit of 30 s: reading 10.0 s, fitting 22.5 s, validation 12.5 s"
    )
    assert TimeBudget(None).compute_seconds_left() is None
    assert TimeBudget(None).describe_excess() == []


def test_a_learner_without_a_limit_gets_fewer_epochs_where_time_is_short():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), np.arange(500) % 2
    spec = parse_learner("rcd-bias", ["epochs=2000"], None)
    short, notes = limit_learner(spec, 1e-9, X, y)
    assert short.parameters["epochs"] == 1
    assert notes == ["1 of 2,000 epochs, for the time limit"]
    assert limit_learner(spec, 1e6, X, y) == (spec, [])
    assert limit_learner(spec, None, X, y) == (spec, [])
    several = parse_learner("one-vs-one:rcd-bias", [], None)
    assert limit_learner(several, 1e-9, X, y)[0].parameters["base"]["epochs"] == 1
    search = parse_learner("pivot", [], 30.0)
    assert limit_learner(search, 7.5, X, y)[0].parameters["time_limit"] == 7.5
    assert limit_learner(search, 70.0, X, y)[0].parameters["time_limit"] == 30.0
