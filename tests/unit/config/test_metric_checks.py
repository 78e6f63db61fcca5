"""Metrics that the records of a config could not give are refused before anything runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.experiment.warming import _shorten_settings
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.registry import LEARNERS, MEASURES, METRICS, load_metric

COMMON = "datasets: [heart]\nsplit: {train: 0.8, repeats: 2}\n"
# Fields of records that only some learners report.
OPTIONAL = (
    *("time_to_best", "lower_bound", "iterations", "error_counts", "cost", "counted", "bound"),
    *("time_to_bound", "proof", "n_cones", "part_bound", "n_parts", "success_share", "success_bound"),
)
SOMETIMES = {"time_to_best", "part_bound", "n_parts"}  # the last two with the setting `parts`
ABLE = {
    "cost": "anyboost, cgboost, ecc, ecc-asymmetric, erp",
    "iterations": "adaboost, anyboost, cgboost, adaboost-stump, ecc, ecc-asymmetric, erp",
    "bound_ratio": "mistake-bound, margin-bound, inseparable-bound, stopping-rule",
    "success_share": "rcd-bound",
}


def refuse(zoloss, path, tmp_path, code=2):
    """The one sentence with which both commands refuse a config."""
    checked, run = zoloss("validate", path), zoloss("run", path, "--out", tmp_path / "results")
    assert (checked.code, run.code) == (code, code)
    assert checked.err == run.err
    assert checked.out == run.out == ""
    assert not (tmp_path / "results").exists()
    return run.err


@pytest.mark.parametrize("metric", ABLE)
def test_a_learner_that_does_not_report_it_is_named_with_those_that_do(zoloss, write_config, tmp_path, metric):
    path = write_config(f"metric: {metric}\n{COMMON}learners: {{fld: }}\n")
    field = {"bound_ratio": "counted"}.get(metric, metric)
    assert refuse(zoloss, path, tmp_path) == (
        f"zoloss: {path}:4: learners.fld: 'fld' reports no {field}, which the metric '{metric}' needs; "
        f"those that do: {ABLE[metric]}\n"
    )


def test_only_the_learners_that_lack_it_are_named(zoloss, write_config, tmp_path):
    learners = "learners:\n  a: {learner: anyboost, rounds: 3}\n  b: {learner: stump}\n  c: {learner: fld}\n"
    said = refuse(zoloss, write_config(f"metric: cost\n{COMMON}{learners}"), tmp_path).splitlines()
    assert [line.partition(": ")[2].partition(" reports")[0].split(": ", 1)[1] for line in said] == [
        "learners.b: 'stump'",
        "learners.c: 'fld'",
    ]


@pytest.mark.parametrize(
    ("measures", "metric", "field", "able"),
    [
        ("neighbours", "complexity", "complexity", "complexity"),
        ("complexity", "principal_points", "principal_points", "decomposition"),
        ("neighbours", "auc_least_squares", "least_squares", "contribution"),
        (
            "complexity",
            "auc",
            "outlier_scores",
            "contribution, neighbours, multipliers, leave-one-out, cross-validation",
        ),
    ],
)
def test_measures_that_do_not_measure_it(zoloss, write_config, tmp_path, measures, metric, field, able):
    data = "datasets: {yinyang: {size: 30, flip: {share: 0.1}}}\nsplit: {train: all, repeats: 1}\n"
    path = write_config(f"metric: {metric}\n{data}measures: [{measures}]\n")
    assert refuse(zoloss, path, tmp_path) == (
        f"zoloss: {path}:4: measures.{measures}: '{measures}' reports no {field}, which the metric '{metric}' "
        f"needs; those that do: {able}\n"
    )


def test_wrong_labels_must_be_known_to_be_found(zoloss, write_config, tmp_path):
    text = "metric: auc\ndatasets: [heart]\nsplit: {train: all, repeats: 1}\nmeasures: [neighbours]\n"
    said = refuse(zoloss, write_config(text), tmp_path)
    assert "metric: the metric 'auc' needs wrong labels: add flip to a data set" in said


@pytest.mark.parametrize("key", ["metric", "also"])
def test_scores_are_stored_only_if_the_config_says_so(zoloss, write_config, tmp_path, key):
    text = f"{key}: roc_auc\n{COMMON}learners: [fld]\n"
    said = refuse(zoloss, write_config(text), tmp_path)
    assert f":1: {key}: the metric 'roc_auc' needs scores, which are not stored: add 'keep: scores'" in said
    load_config(write_config(f"keep: scores\n{text}"))
    said = refuse(zoloss, write_config(f"keep: score\n{text}"), tmp_path)
    assert "keep: 'score' cannot be kept; valid: scores, probabilities" in said


def test_several_metrics_are_one_list(zoloss, write_config, tmp_path):
    names = ["balanced_accuracy", "test_error", "f1_macro"]
    for text in (
        f"metrics: [{', '.join(names)}]\n",
        f"metric: {names[0]}\nalso: [{names[1]}, {names[2]}]\n",
    ):
        assert load_config(write_config(f"{text}{COMMON}learners: [fld]\n")).metrics == names
    one = load_config(write_config(f"metrics: [f1]\n{COMMON}learners: [fld]\n"))
    assert (one.metrics, one.also) == (["f1"], None)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("metrics: [f1, f1_marco]", ":1: metrics: unknown metric 'f1_marco'; did you mean 'f1_macro'?"),
        ("metrics: [f1, test_error, f1]", ":1: metrics: 'f1' is listed more than once"),
        ("metrics: f1", ":1: metrics: must be a list of metrics (got 'f1')"),
        ("metrics: []", ":1: metrics: must be a list of metrics (got [])"),
        ("metrics: [f1]\nalso: recall", ":1: metrics: stands for metric and also: leave out also"),
        ("metrics: [f1, r2]", ":1: metrics: the scorer 'r2' of scikit-learn is for regression, and these are"),
        ("metrics: [f1, roc_auc]", ":1: metrics: the metric 'roc_auc' needs scores, which are not stored"),
        ("metrics: [f1, complexity]", ":1: metrics: the metric 'complexity' is not for learners"),
    ],
)
def test_what_is_wrong_in_a_list_of_metrics_is_said(zoloss, write_config, tmp_path, keys, said):
    assert said in refuse(zoloss, write_config(f"{keys}\n{COMMON}learners: [fld]\n"), tmp_path)


def test_learners_for_several_classes_have_scores_of_two(zoloss, write_config, tmp_path):
    learners = "learners: {fld: , ecc: {base: stump, rounds: 2}}\n"
    path = write_config(f"metric: roc_auc\nkeep: scores\n{COMMON}{learners}")
    assert zoloss("run", path, "--out", tmp_path / "results", "--jobs", 1).code == 0
    lines = zoloss("table", tmp_path / "results", "--format", "csv").out.splitlines()
    assert [0.5 < float(line.split(",")[4]) < 1.0 for line in lines[1:]] == [True, True]


@pytest.mark.parametrize("metric", ["f1", "false_positive_rate", "false_negative_rate"])
def test_metrics_of_two_classes_are_not_for_three(zoloss, write_config, tmp_path, metric):
    path = write_config(f"metric: {metric}\ndatasets: [heart, iris]\nsplit: {{repeats: 2}}\nlearners: [ecc]\n")
    for more in ([], ["--dry-run"]):
        ended = zoloss("run", path, "--out", tmp_path / "results", *more)
        assert (ended.code, ended.out) == (3, "")
        assert ended.err == (
            f"zoloss: data set 'iris' has 3 classes, and the metric {metric} is for two: use positive: CLASS "
            "for one class against the rest\n"
        )
    one = path.read_text().replace("[heart, iris]", "{heart: , iris: {positive: Iris-setosa}}")
    one = one.replace("[ecc]", "{ecc: {base: stump, rounds: 2}}")
    assert zoloss("run", write_config(one), "--out", tmp_path / "results", "--jobs", 1).code == 0


@pytest.mark.parametrize("key", ["metric", "also"])
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("balanced_eror", "balanced_error"),
        ("test_errors", "test_error"),
        ("time_to_bets", "time_to_best"),
        ("ROC_AUC", "roc_auc"),
    ],
)
def test_unknown_metrics_are_named_with_the_nearest(zoloss, write_config, tmp_path, key, name, nearest):
    path = write_config(f"{key}: {name}\n{COMMON}learners: [fld]\n")
    said = refuse(zoloss, path, tmp_path)
    assert said == f"zoloss: {path}:1: {key}: unknown metric '{name}'; did you mean '{nearest}'?\n"


@pytest.mark.parametrize("value", ["3", "[test_error]", "{a: b}", "true"])
def test_what_is_no_name_is_no_metric(zoloss, write_config, tmp_path, value):
    said = refuse(zoloss, write_config(f"metric: {value}\n{COMMON}learners: [fld]\n"), tmp_path)
    assert ":1: metric: unknown metric" in said


@pytest.mark.parametrize("metric", [n for n in METRICS.builtin if load_metric(n).part == "test"])
def test_no_metric_of_test_samples_where_all_samples_train(zoloss, write_config, tmp_path, metric):
    keep = "keep: scores\n" if metric == "roc_auc" else ""
    text = f"{keep}datasets: {{heart: , sonar: {{train: all}}}}\nmetric: {metric}\nlearners: [fld]\n"
    said = refuse(zoloss, write_config(text), tmp_path)
    assert f"datasets.sonar.train: all samples train, so there is no {metric}; set metric: to another" in said
    assert "such as train_error, train_01_loss" in said
    text = f"{keep}split: {{train: all}}\ndatasets: [heart]\nmetric: train_error\nlearners: [fld]\n"
    said = refuse(zoloss, write_config(f"also: {metric}\n{text}"), tmp_path)
    assert f"split.train: all samples train, so there is no {metric}; set also: to" in said


def test_a_second_metric_may_be_that_of_some_learners(write_config):
    text = f"also: iterations\n{COMMON}learners: {{fld: , adaboost: {{base: stump, rounds: 3}}}}\n"
    assert load_config(write_config(text)).metrics == ["test_error", "iterations"]


def test_but_not_of_none(zoloss, write_config, tmp_path):
    path = write_config(f"also: iterations\n{COMMON}learners: [fld, stump]\n")
    assert "'fld' reports no iterations, which the metric 'iterations' needs" in refuse(zoloss, path, tmp_path)


def test_old_names_of_metrics_are_read(write_config):
    text = f"metric: seconds\nalso: reached\n{COMMON}learners: [sla]\n"
    assert load_config(write_config(text)).metrics == ["fit_time", "time_to_best"]


# -- what classes say that they report ----------------------------------------------------------------

BASES = {"adaboost", "anyboost", "cgboost", "ecc", "ecc-asymmetric", "erp", "one-vs-one", "one-vs-all", "ecoc"}
POINTS = """
datasets:
  easy: {generator: separable, size: 24, dimensions: 2, margin: 0.2}
  hard: {generator: separable, size: 24, dimensions: 2, margin: 0.2, flipped: 0.2}
split: {repeats: 1}
preprocess: {scale: none}
"""


@pytest.mark.parametrize("name", LEARNERS.builtin)
def test_learners_report_what_their_class_says(write_config, name):
    base = "{base: stump}" if name in BASES else ""
    reported = set()
    for cell in plan(load_config(write_config(f"{POINTS}learners: {{{name}: {base}}}\n"))):
        short = _shorten_settings(cell.learner.parameters)
        short |= {"time_limit": 0.5} if "time_limit" in short else {}
        settings = tuple((k, short.get(k, v) if k != "base" else v) for k, v in cell.learner.settings)
        record = run_task(replace(cell, learner=cell.learner.model_copy(update={"settings": settings})), 0)
        reported |= {field for field in OPTIONAL if getattr(record, field) is not None}
    declared = set(LEARNERS[name].learner_class.reports)
    assert reported <= declared, "its class does not say so"
    assert declared - reported <= SOMETIMES, "it reports less than its class says"


@pytest.mark.parametrize("name", MEASURES.builtin)
def test_measures_report_what_their_class_says(write_config, name):
    settings = {"contribution": "{permutations: 3}", "decomposition": "{clusters: 5}"}.get(name, "")
    text = (
        "metric: fit_time\ndatasets: {yinyang: {size: 30, flip: {share: 0.1}}}\n"
        f"split: {{train: all, repeats: 1}}\nmeasures: {{{name}: {settings}}}\n"
    )
    (cell,) = plan(load_config(write_config(text)))
    measured = PooledMeasurement([run_task(cell, 0)])
    fields = ("complexity", "principal_points", "principal_subsets", "outlier_scores", "least_squares")
    assert {field for field in fields if getattr(measured, field) is not None} == set(
        MEASURES[name].learner_class.reports
    )
