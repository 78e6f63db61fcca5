"""Metrics that the records of a config could not give are refused before anything runs."""

from dataclasses import replace

import pytest
from cases import parse_cases

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
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


def refuse(zoloss, path, tmp_path):
    """The one sentence with which both commands refuse a config."""
    checked, run = zoloss("validate", path), zoloss("run", path, "--out", tmp_path / "results")
    assert (checked.code, checked.out) == (2, "")
    assert run == checked
    assert not (tmp_path / "results").exists()
    return run.err


def test_a_learner_that_does_not_report_it_is_named_with_those_that_do(zoloss, write_config, tmp_path):
    able = [name for name, entry in LEARNERS.items() if "counted" in entry.learner_class.reports]
    path = write_config(f"metric: bound_ratio\n{COMMON}learners: {{fld: }}\n")
    assert refuse(zoloss, path, tmp_path) == (
        f"zoloss: {path}:4: learners.fld: 'fld' reports no counted, which the metric 'bound_ratio' needs; "
        f"those that do: {', '.join(able)}\n"
    )


def test_only_the_learners_that_lack_it_are_named(zoloss, write_config, tmp_path):
    learners = "learners:\n  a: {learner: anyboost, rounds: 3}\n  b: {learner: stump}\n  c: {learner: fld}\n"
    said = refuse(zoloss, write_config(f"metric: cost\n{COMMON}{learners}"), tmp_path).splitlines()
    assert [line.split(": ")[2] for line in said] == ["learners.b", "learners.c"]
    # A second metric may be that of some learners, but not of none.
    assert load_config(write_config(f"also: cost\n{COMMON}{learners}")).metrics == ["test_error", "cost"]
    path = write_config(f"also: cost\n{COMMON}learners: [fld, stump]\n")
    assert "'fld' reports no cost, which the metric 'cost' needs" in refuse(zoloss, path, tmp_path)


def test_measures_that_do_not_measure_it(zoloss, write_config, tmp_path):
    data = "datasets: {yinyang: {size: 30, flip: {share: 0.1}}}\nsplit: {train: all, repeats: 1}\n"
    path = write_config(f"metric: auc\n{data}measures: [complexity]\n")
    able = [name for name, entry in MEASURES.items() if "outlier_scores" in entry.learner_class.reports]
    assert refuse(zoloss, path, tmp_path) == (
        f"zoloss: {path}:4: measures.complexity: 'complexity' reports no outlier_scores, which the metric "
        f"'auc' needs; those that do: {', '.join(able)}\n"
    )


def test_several_metrics_are_one_list_and_old_names_are_read(write_config):
    for text, names in (
        ("metrics: [balanced_accuracy, test_error, f1]\n", ["balanced_accuracy", "test_error", "f1"]),
        ("metric: f1\nalso: [test_error, recall]\n", ["f1", "test_error", "recall"]),
        ("metrics: [f1]\n", ["f1"]),
        ("metric: seconds\nalso: reached\n", ["fit_time", "time_to_best"]),
    ):
        assert load_config(write_config(f"{text}{COMMON}learners: [sla]\n")).metrics == names


FAULTS = r"""
metric: auc\ndatasets: [heart]\nsplit: {train: all, repeats: 1}\nmeasures: [neighbours]
  | :1: metric: the metric 'auc' needs flipped labels: add flip to a data set
metric: roc_auc\n@[fld]
  | :1: metric: the metric 'roc_auc' needs scores, which are not stored: add 'keep: scores'
keep: score\n@[fld] | :1: keep: 'score' cannot be kept; valid: scores, probabilities
metrics: [f1, f1_marco]\n@[fld] | :1: metrics: unknown metric 'f1_marco'; did you mean 'f1_macro'?
metrics: [f1, test_error, f1]\n@[fld] | :1: metrics: 'f1' is listed more than once
metrics: f1\n@[fld] | :1: metrics: must be a list of metrics (got 'f1')
metrics: [f1]\nalso: recall\n@[fld] | :1: metrics: replaces metric and also: leave out also
metrics: [f1, r2]\n@[fld] | :1: metrics: the scikit-learn scorer 'r2' is for regression, which zoloss
metrics: [f1, complexity]\n@[fld] | :1: metrics: the metric 'complexity' does not apply to learners
metric: 3\n@[fld] | :1: metric: unknown metric
also: ROC_AUC\n@[fld] | :1: also: unknown metric 'ROC_AUC'; did you mean 'roc_auc'?
"""


def test_wrong_metrics_are_refused(zoloss, write_config, tmp_path):
    for text, message in parse_cases(FAULTS):
        assert message in refuse(zoloss, write_config(text), tmp_path)
    assert load_config(write_config("keep: scores\nmetric: roc_auc\ndatasets: [heart]\nlearners: [fld]\n"))


def test_metrics_of_two_classes_are_not_for_three(zoloss, write_config, tmp_path):
    run = ("run", "--out", tmp_path / "results", "--dry-run")
    text = "metric: false_positive_rate\ndatasets: [heart, iris]\nlearners: [ecc]\n"
    ended = zoloss(*run, write_config(text))
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "zoloss: data set 'iris' has 3 classes, but the metric false_positive_rate is for two: use positive: "
        "CLASS for one class against the rest\n"
    )
    text = text.replace("[heart, iris]", "{heart: , iris: {positive: Iris-setosa}}")
    assert zoloss(*run, write_config(text)).code == 0


def test_no_metric_of_test_samples_where_all_samples_train(write_config):
    for metric in (name for name in METRICS.builtin if load_metric(name).part == "test"):
        text = (
            f"keep: scores\ndatasets: {{heart: , sonar: {{train: all}}}}\nmetric: {metric}\nlearners: [fld]\n"
        )
        with pytest.raises(ConfigError) as refused:
            load_config(write_config(text))
        start = f"datasets.sonar.train: all samples train, so there is no {metric}; set metric: to another"
        assert f"{start} metric, such as train_error, train_01_loss" in str(refused.value)
    text = "also: test_error\nsplit: {train: all}\ndatasets: [heart]\nmetric: train_error\nlearners: [fld]\n"
    with pytest.raises(ConfigError, match=r"split\.train: all samples train, so there is no test_error"):
        load_config(write_config(text))


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


def test_measures_report_what_their_class_says(write_config):
    settings = {"contribution": "{permutations: 3}", "decomposition": "{clusters: 5}"}
    fields = ("complexity", "principal_points", "principal_subsets", "outlier_scores", "least_squares")
    data = "datasets: {yinyang: {size: 30, flip: {share: 0.1}}}\nsplit: {train: all, repeats: 1}\n"
    for name in MEASURES.builtin:
        path = write_config(f"metric: fit_time\n{data}measures: {{{name}: {settings.get(name, '')}}}\n")
        measured = PooledMeasurement([run_task(plan(load_config(path))[0], 0)])
        reported = {field for field in fields if getattr(measured, field) is not None}
        assert reported == set(MEASURES[name].learner_class.reports), name
