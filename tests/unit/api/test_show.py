"""One stored task again: its record, its rule, its model, and whether they are what is stored."""

from __future__ import annotations

import csv
import hashlib
import json
import re

import msgspec
import numpy as np
import pytest
from own_rows import refused
from places import TOP
from stored_runs import store_run

from zoloss_cli.api.show import find_stored_task, run_again
from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.report.frame import load_results
from zoloss_cli.utils.imports import allow_code

CONFIG = """
title: Small
datasets: {heart: {}, iris: {}, mine: {csv: mine.csv, missing: impute}, pool: {generator: yinyang, size: 60}}
split: {train: 0.8, repeats: 2, seed: 3}
learners:
  fld: {on: {iris: false}}
  boosted: {learner: adaboost, base: {learner: stump}, rounds: 5, on: {iris: false}}
  several: {learner: ecc, base: {learner: stump}, rounds: 5, on: {heart: false, mine: false, pool: false}}
"""


def write_own_table(path) -> None:
    """A table of numbers, text and missing values."""
    rng = np.random.default_rng(2)
    x, noise, colour = rng.normal(size=60), rng.normal(size=60), rng.choice(["red", "blue", "green"], 60)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "colour", "noise", "class"])
        for i in range(60):
            label = "yes" if x[i] + (colour[i] == "red") > 0.3 else "no"
            writer.writerow(
                ["" if i % 9 == 4 else round(x[i], 3), "" if i % 11 == 5 else colour[i], noise[i], label]
            )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    write_own_table(folder / "mine.csv")
    (folder / "small.yaml").write_text(CONFIG, encoding="utf-8")
    experiment = load_config(folder / "small.yaml")
    store_run(folder / "results", experiment, lambda cell: run_tasks(cell, [0, 1]))
    return folder


@pytest.fixture(scope="module")
def results(place):
    return place / "results"


@pytest.mark.parametrize(
    ("dataset", "learner"),
    [("heart", "fld"), ("iris", "several"), ("mine", "boosted")],
)
def test_a_saved_model_has_the_errors_of_the_record(zoloss, results, place, tmp_path, dataset, learner):
    model = tmp_path / "model.json"
    ended = zoloss.ok("show", dataset, learner, "1", "--results", results, "--model", model)
    assert "stored    the same numbers" in ended.out
    frame = load_results(results).query("dataset == @dataset and learner == @learner and split == 1")
    errors = int(frame.train_errors.iloc[0] + frame.test_errors.iloc[0])
    table = place / "mine.csv" if dataset == "mine" else TOP / "datasets" / f"{dataset}.csv"
    predicted = zoloss.ok("predict", model, table, "--out", tmp_path / "predicted.csv")
    assert re.search(r"(\d+) errors? in", predicted.err)[1] == str(errors)


def test_a_rule_in_the_units_of_the_data(zoloss, results):
    """The weights that are shown give the confusion counts that are shown."""
    shown = run_again(find_stored_task(results, None, "heart", "fld", 0))
    out = zoloss("show", "heart", "fld", "0", "--results", results, "--all").out
    threshold = float(re.search(r"at least (\S+)", out)[1])
    weights = dict(re.findall(r"^(\w+) +(-?[\d.e-]+) +[+-]\d", out, re.M))
    split = shown.fitted.split_data
    X = split.data.X[split.train]
    scores = X @ np.array([float(weights[name]) for name in split.data.features])
    counts = np.zeros((2, 2), int)
    np.add.at(counts, (split.data.y[split.train], (scores >= threshold).astype(int)), 1)
    assert f"record    train_confusion {counts.tolist()}" in out


def test_another_number_is_found(zoloss, tmp_path, small_config):
    def make_records(cell):
        if cell.learner.label != "ave-perc":
            return []
        (record,) = run_tasks(cell, [0])
        return [msgspec.structs.replace(record, test_errors=record.test_errors + 1, test_confusion=None)]

    store_run(tmp_path / "r", load_config(small_config), make_records)
    ended = zoloss("show", "heart", "ave-perc", "0", "--results", tmp_path / "r")
    assert ended.code == 9
    found = re.search(r"test_errors (\d+) is stored, (\d+) now", ended.err)
    assert int(found[1]) == int(found[2]) + 1
    assert "stored    different numbers" in ended.out
    assert "rule      " in ended.out


def test_from_a_config_without_results(zoloss, place, tmp_path):
    ended = zoloss.ok("show", "heart", "fld", "1", "--config", place / "small.yaml")
    assert "stored    no record of this task is stored" in ended.out
    with_results = zoloss("show", "heart", "fld", "1", "--results", place / "results")
    assert ended.out.split("stored")[0] == with_results.out.split("stored")[0]
    model = tmp_path / "pool.json"
    assert zoloss("show", "pool", "fld", "0", "--results", place / "results", "--model", model).code == 0
    assert len(json.loads(model.read_text(encoding="utf-8"))["columns"]) == 2


def test_what_is_not_there(zoloss, results):
    for arguments, message in (
        (["hart", "fld", "0"], "has no data set 'hart'; did you mean 'heart'?"),
        (["heart", "fdl", "0"], "has no learner 'fdl' on heart; did you mean 'fld'?"),
        (["heart", "several", "0"], "has no learner 'several' on heart; valid: fld, adaboost:stump, boosted"),
        (["heart", "fld", "2"], "'small' has the splits 0 to 1 of fld on heart, and no split 2"),
        (["heart", "fld", "0", "--table", "II"], "there is no table 'II' in these results"),
        (["heart", "fld", "0", "--config", "x.yaml"], "omit --results and --table"),
    ):
        ended = zoloss("show", *arguments, "--results", results)
        refused(ended, 2 if "--config" in arguments else 4, message)
    ended = zoloss("show", "heart", "adaboost:stump", "0", "--results", results)
    assert "'adaboost:stump' is not a linear rule" in ended.out


def test_the_best_of_several_settings_is_shown(tmp_path, write_config):
    text = (
        "title: Best\ndatasets: [heart]\nsplit: {repeats: 2}\n"
        "learners: {ave-perc: {best_of: {epochs: [1, 30, 2]}}}\n"
    )
    experiment = load_config(write_config(text, "best.yaml"))
    store_run(tmp_path / "r", experiment, lambda cell: run_tasks(cell, [0, 1]))
    frame = load_results(tmp_path / "r")
    means = frame.groupby("variant", observed=True)["test_error"].mean()
    address = find_stored_task(tmp_path / "r", None, "heart", "ave-perc", 0)
    assert address.cell.learner.choice == means.idxmin()


def test_runs_that_disagree_must_be_told_apart(tmp_path, write_config, small_config):
    first = load_config(small_config)
    text = small_config.read_text(encoding="utf-8").replace("epochs: 10", "epochs: 11")
    second = load_config(write_config(text, "other.yaml"))
    for experiment in (first, second):
        store_run(tmp_path / "r", experiment, lambda cell: [])
    with pytest.raises(ResultsError, match="name one with --table: other, small"):
        find_stored_task(tmp_path / "r", None, "heart", "ave-perc", 0)
    epochs = find_stored_task(tmp_path / "r", "other", "heart", "ave-perc", 0).cell.learner.parameters["epochs"]
    assert epochs == 11
    assert find_stored_task(tmp_path / "r", None, "heart", "rcd-bias", 0).stored is None


def test_a_task_of_another_version_is_refused(tmp_path, small_config, monkeypatch):
    experiment = load_config(small_config)
    store_run(tmp_path / "r", experiment, lambda cell: [])
    from zoloss_cli import AveragedPerceptronClassifier

    monkeypatch.setattr(AveragedPerceptronClassifier, "version", 99)
    assert plan(experiment)[1].identity["version"] == 99
    with pytest.raises(ResultsError, match="no longer what 'small' ran"):
        find_stored_task(tmp_path / "r", None, "heart", "ave-perc", 0)


def test_measures_are_shown_and_are_no_models(zoloss, tmp_path, write_config):
    text = (
        "title: M\ndatasets: {iris: {positive: Iris-setosa}}\nmeasures: {complexity: {}}\n"
        "metric: complexity\nsplit: {repeats: 1}\n"
    )
    store_run(tmp_path / "m", load_config(write_config(text)), lambda cell: run_tasks(cell, [0]))
    ended = zoloss.ok("show", "iris", "complexity", "0", "--results", tmp_path / "m")
    assert "record    complexity " in ended.out
    assert "the same numbers" in ended.out
    ended = zoloss("show", "iris", "complexity", "0", "--results", tmp_path / "m", "--model", tmp_path / "x")
    refused(ended, 2, "is a measure of data")


MEAN_DIFFERENCE = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Halfway(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        first, second = (X[y == k].mean(axis=0) for k in self.classes_)
        self.w_, self.middle_ = second - first, (first + second) / 2
        return self

    def predict(self, X):
        return self.classes_[((X - self.middle_) @ self.w_ >= 0).astype(int)]

class Failing(Halfway):
    def fit(self, X, y):
        raise RuntimeError("not today")
"""


def test_classes_of_others(zoloss, tmp_path, write_config):
    (tmp_path / "mine.py").write_text(MEAN_DIFFERENCE, encoding="utf-8")
    config = write_config(
        "title: O\ndatasets: [heart]\nsplit: {repeats: 1}\nlearners: {half: {learner: 'mine.py:Halfway'}, "
        "failing: {learner: 'mine.py:Failing'}, lr: {learner: sklearn.linear_model.LogisticRegression}}\n"
    )
    with allow_code():
        store_run(tmp_path / "r", load_config(config), lambda cell: run_tasks(cell, [0]))

    def show(learner, *options):
        return zoloss("show", "heart", learner, "0", "--results", tmp_path / "r", *options)

    for shown in (show("lr"), show("half", "--allow-code")):
        assert shown.code == 0, shown.err
        assert "the same numbers" in shown.out
    for options, code, message in (
        (["half"], 2, "--allow-code"),
        (["failing", "--allow-code"], 3, "failing on heart, split 0, fails: RuntimeError: not today"),
        (["lr", "--model", tmp_path / "m.json"], 2, "only zoloss's own learners"),
    ):
        ended = show(*options)
        assert (ended.code, message in ended.err) == (code, True)
    frame = load_results(tmp_path / "r").set_index("learner")
    assert frame.failed["failing"] == "RuntimeError: not today"
    assert frame.learner_package["half"] == hashlib.sha256(MEAN_DIFFERENCE.encode()).hexdigest()
    assert frame.learner_package["lr"].startswith("scikit-learn")
