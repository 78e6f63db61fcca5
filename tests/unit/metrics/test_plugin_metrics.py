"""A metric of another package: one file and one registration make it known to configs, runs and reports."""

import json

import pytest
from own_rows import refused
from packages import write_distribution

from zoloss_cli.config.loader import parse_metric
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.registry import METRICS, SCORERS, list_metrics, load_metric

WORST_CLASS = '''
"""Metric `worst_class_error`."""

from zoloss_cli.metrics.base import ErrorRate


class WorstClassError(ErrorRate):
    """Largest share over classes of test samples that are predicted wrongly, in percent."""

    name = "worst_class_error"
    requires = ("test_confusion",)
    part = "test"
    heading = "worst"
    note = "worst: of the class with the most errors"

    def compute(self, record, sizes):
        return max(100.0 * (1 - row[k] / sum(row)) for k, row in enumerate(record.test_confusion) if sum(row))
'''
BROKEN = '''
from zoloss_cli.metrics.base import Metric


class Misnamed(Metric):
    """A metric of another name."""

    name = "tea"

    def compute(self, record, sizes):
        return 0.0


class Foreign:
    """No metric."""


class Abstract(Metric):
    """A metric that computes nothing."""

    name = "abstract"


class Undirected(Metric):
    """A metric whose values are better somewhere."""

    name = "undirected"
    direction = "up"

    def compute(self, record, sizes):
        return 0.0


class Raising(Metric):
    """A metric that cannot be computed."""

    name = "raising"
    requires = ("train_errors",)

    def compute(self, record, sizes):
        raise ZeroDivisionError("of nothing")


def function():
    """No class."""
'''
CONFIG = """
title: Theirs
metric: worst_class_error
also: test_error
datasets: [heart, iris]
split: {train: 0.8, repeats: 3, seed: 3}
learners: {ecc: {base: stump, rounds: 3}, one-vs-one: {base: stump}}
"""


def forget():
    for cached in ("plugins", "_registrations"):
        METRICS.__dict__.pop(cached, None)
    load_metric.cache_clear()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package of some modules whose entry points are these metrics."""

    def install_package(modules, metrics):
        site = tmp_path / "site"
        write_distribution(site, "theirs", {"metrics": metrics})
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(site)
        forget()

    yield install_package
    forget()


def test_config_run_and_reports_know_it(zoloss, install, write_config, small_config, tmp_path):
    install({"worst_class_error": WORST_CLASS}, {"worst_class_error": "worst_class_error:WorstClassError"})
    assert list_metrics() == [*METRICS.builtin, *SCORERS, "worst_class_error"]
    assert "worst_class_error" in json.loads(zoloss("schema").out)["properties"]["metric"]["enum"]
    config, out = write_config(CONFIG, "theirs.yaml"), tmp_path / "results"
    assert zoloss("run", config, "--out", out, "--jobs", 1).code == 0
    expected = {}
    for path in (out / "cells").glob("*.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        worst = [
            max(100 - 100 * row[k] / sum(row) for k, row in enumerate(r["test_confusion"]) if sum(row))
            for r in records
        ]
        dataset, learner = path.name.split(".")[:2]
        expected[dataset, learner.removesuffix("-stump")] = sum(worst) / len(worst)
    shown = zoloss.ok("table", out)
    assert "AdaBoost.ECC worst" in shown.out
    assert "(worst: of the class with the most errors)" in shown.out
    lines = [line.split(",") for line in zoloss("table", out, "--format", "csv").out.splitlines()[1:]]
    theirs = {(line[1], line[2]): float(line[4]) for line in lines if line[3] == "worst_class_error"}
    assert theirs == pytest.approx(expected, rel=1e-5)
    assert len(lines) == 2 * len(theirs) == 8
    assert sum(line[6] == "1" for line in lines if line[3] == "worst_class_error") >= 2
    assert "4/4" in zoloss("status", out).out
    # Once it is no longer installed, its results are left out.
    assert zoloss("run", small_config, "--out", out, "--jobs", 1, "--splits", 2).code == 0
    (tmp_path / "site" / "theirs-1.0.dist-info" / "entry_points.txt").write_text("", encoding="utf-8")
    forget()
    shown = zoloss.ok("table", out)
    assert "Small" in shown.out
    assert ".json is not a manifest of this version of zoloss (unknown metric 'worst_class_error'" in shown.err


FAULTS = {
    "foreign": ("broken:Foreign", "is not a metric: it must be a class derived from zoloss_cli.metrics"),
    "function": ("broken:function", "is not a metric: it must be a class derived from"),
    "misnamed": ("broken:Misnamed", "must have the name 'misnamed', as its entry point says"),
    "abstract": ("broken:Abstract", "has no method compute"),
    "undirected": ("broken:Undirected", "must have the direction 'lower', 'higher', or None if no value is"),
}


@pytest.fixture
def broken(install):
    targets = {name: target for name, (target, _) in FAULTS.items()}
    install({"broken": BROKEN}, targets | {"raising": "broken:Raising"})


def test_a_broken_one_is_one_sentence_when_it_is_used(zoloss, broken, write_config, tmp_path):
    for name, (target, reason) in FAULTS.items():
        config = write_config(CONFIG.replace("metric: worst_class_error", f"metric: {name}"))
        ended = zoloss("run", config, "--out", tmp_path / "results")
        said = f"the metric '{name}' of the package theirs 1.0 (entry point {name} = {target}) {reason}"
        refused(ended, 2, said)
    # One that fails on a record.
    config, out = write_config("metric: raising\ndatasets: [heart]\nlearners: [fld]\n"), tmp_path / "results"
    assert zoloss("run", config, "--out", out, "--jobs", 1, "--splits", 2).code == 0
    ended = zoloss("table", out)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == "zoloss: the metric 'raising' cannot be computed: ZeroDivisionError: of nothing\n"


def test_broken_ones_are_in_nobodys_way_and_not_listed(zoloss, broken, write_config):
    assert zoloss("schema").code == 0
    ended = zoloss("validate", write_config("metric: auc\ndatasets: [heart]\nlearners: [fld]\n"))
    assert ended.code == 2
    assert "the metric 'auc' does not apply to learners; valid: test_error, " in ended.err
    assert "misnamed" not in ended.err
    text = "split: {train: all}\ndatasets: [heart]\nlearners: [fld]\n"
    assert "set metric: to another metric, such as train_error" in zoloss("validate", write_config(text)).err


def test_a_name_of_ours_stays_ours(install):
    install({"worst_class_error": WORST_CLASS}, {"test_error": "worst_class_error:WorstClassError"})
    assert type(load_metric("test_error")).__module__ == "zoloss_cli.metrics.errors"
    with pytest.warns(UserWarning, match="'test_error' is zoloss's own"):
        parse_metric("metric", "test_error", InlineErrorCollector("a config"))
