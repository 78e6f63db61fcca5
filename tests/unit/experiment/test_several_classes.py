"""Data sets of several classes from config to comparison: predefined parts, settings by data set, one split."""

import numpy as np
import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import load_data
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.fitting import _build_folds, tune
from zoloss_cli.experiment.plan import plan, select_part
from zoloss_cli.experiment.task import run_task

SMALL = """
published: {paper: li-thesis-2006, table: "4.2"}
datasets:
  vowel: {train: predefined}
  iris:
split: {train: 0.9, repeats: 3, seed: 2006}
learners:
  one-vs-one/one-vs-all:stump: {learner: one-vs-one, best_of: {learner: [one-vs-one, one-vs-all]}, base: stump}
  ecc:rand-half:stump: {learner: ecc, partition: rand-half, base: stump, rounds: 5, on: {iris: {rounds: 7}}}
"""


def cell_of(experiment, label, dataset):
    return next(c for c in plan(experiment) if (c.learner.label, c.data.name) == (label, dataset))


def test_a_given_part_is_the_first_rows_in_every_repeat(write_config):
    cell = cell_of(load_config(write_config(SMALL)), "ecc:rand-half:stump", "vowel")
    for k in range(3):
        train, test = cell.rule.select_indices(990, "vowel", k)
        np.testing.assert_array_equal(train, np.arange(528))
        np.testing.assert_array_equal(test, np.arange(528, 990))
    assert cell.identity["split"] == {"train": 528, "test": None, "seed": 2006, "given": True}
    assert run_task(cell, 0).test_errors != run_task(cell, 1).test_errors  # another seed of the learner


def test_what_is_not_random_runs_once_on_a_given_part(write_config):
    experiment = load_config(write_config(SMALL))
    repeats = {(c.learner.label, c.data.name): c.repeats for c in plan(experiment)}
    assert repeats == {
        ("one-vs-one/one-vs-all:stump", "vowel"): 1,
        ("one-vs-one/one-vs-all:stump", "iris"): 3,
        ("ecc:rand-half:stump", "vowel"): 3,
        ("ecc:rand-half:stump", "iris"): 3,
    }
    text = SMALL.replace("predefined}", "predefined, repeats: 9}")
    experiment = load_config(write_config(text))
    assert cell_of(experiment, "ecc:rand-half:stump", "vowel").repeats == 9
    more = select_part(experiment, [], [], 20, None)  # the command line counts more
    assert sorted({c.repeats for c in plan(more)}) == [1, 20]


def test_other_settings_on_one_data_set(write_config):
    experiment = load_config(write_config(SMALL))
    rounds = {c.data.name: c.learner.parameters["rounds"] for c in plan(experiment) if "ecc" in c.learner.label}
    assert rounds == {"vowel": 5, "iris": 7}
    text = SMALL.replace("on: {iris: {rounds: 7}}", "on: {iris: {best_of: {rounds: [2, 3]}}}")
    cells = [c for c in plan(load_config(write_config(text))) if "ecc" in c.learner.label]
    assert [(c.data.name, c.learner.choice) for c in cells] == [
        ("vowel", ""),
        ("iris", "rounds=2"),
        ("iris", "rounds=3"),
    ]


def test_mistakes_are_named(write_config):
    for old, new, message in (
        ("iris:\n", "iris: {train: predefined}\n", "data set 'iris' has no training part of its own"),
        ("predefined}", "predefined, test: 5}", "with 'train: predefined' the test part is predefined, too"),
        ("predefined}", "predfined}", "a count of at least 2, 'predefined', or 'all' (got 'predfined')"),
        ("predefined}", "predefined, noise: {fraction: 0.1}}", "noise cannot be added to a predefined"),
        ("{iris: {rounds: 7}}", "{irs: {rounds: 7}}", "no data set 'irs'; did you mean 'iris'?"),
        ("{iris: {rounds: 7}}", "[iris]", "must be a mapping from data sets to the settings"),
        ("{iris: {rounds: 7}}", "{iris: {round: 7}}", "unknown key 'round'; did you mean 'rounds'?"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_config(write_config(SMALL.replace(old, new)))
        assert message in str(caught.value)


def test_held_out_parts_of_the_tuning(write_config):
    text = """
datasets: {vowel: {train: predefined}}
split: {repeats: 2}
tuning: {folds: 4, held_out: 0.3}
learners:
  one-vs-one: {base: svm-perceptron, tune: {base.C: [0.001, 8.0]}}
"""
    (cell,) = plan(load_config(write_config(text)))
    assert cell.repeats == 2  # what is held out is random
    folds = _build_folds(cell, load_data(cell.data), np.arange(528), 0)
    assert [(len(y), len(y_held_out)) for _, y, _, y_held_out in folds] == [(370, 158)] * 4
    assert len({y_held_out.tobytes() for *_, y_held_out in folds}) == 4
    assert tune(cell, 0).choice == "base.C=8.0"
    record = run_task(cell, 0)
    assert (record.choice, record.test_errors) == ("base.C=8.0", 173)
