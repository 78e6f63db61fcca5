"""Metrics of predictions and scores against scikit-learn: on random ones, and on those of real tasks."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import count_confusion, fit_task, run_task
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import load_metric
from zoloss_cli.results.record import FitRecord


def compute(name, record):
    n_test = sum(map(sum, record.test_confusion))
    return load_metric(name).compute(record, Sizes(1, n_test))


def compute_by_sklearn(name, y, predicted):
    """The same from labels, in percent; where scikit-learn has no number of its own, that of no samples."""
    if name == "balanced_error":
        with warnings.catch_warnings():  # it says that a predicted class may have no sample
            warnings.simplefilter("ignore")
            return 100 * (1 - sk.balanced_accuracy_score(y, predicted))
    if name == "f1":
        return 100 * sk.f1_score(y, predicted, zero_division=0.0)
    if name == "test_error":
        return 100 * sk.zero_one_loss(y, predicted)
    positive = 1 if name == "false_negative_rate" else 0
    if positive not in y:
        return 0.0
    return 100 * (1 - sk.recall_score(y, predicted, pos_label=positive))


TWO_CLASSES = ("balanced_error", "false_positive_rate", "false_negative_rate", "f1", "test_error")


def draw_labels(n_classes):
    label = st.integers(0, n_classes - 1)
    return st.lists(st.tuples(label, label), min_size=1, max_size=40)


def build_record(y, predicted, n_classes):
    errors = int(np.count_nonzero(y != predicted))
    return FitRecord(0, 0, errors, test_confusion=count_confusion(y, predicted, n_classes))


@given(st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), draw_labels(n))))
def test_rates_of_two_and_more_classes(drawn):
    n_classes, pairs = drawn
    y, predicted = np.array(pairs).T
    record = build_record(y, predicted, n_classes)
    assert record.test_confusion == sk.confusion_matrix(y, predicted, labels=range(n_classes)).tolist()
    for name in TWO_CLASSES if n_classes == 2 else ("balanced_error", "test_error"):
        assert compute(name, record) == pytest.approx(compute_by_sklearn(name, y, predicted)), name


CONFIG = """
keep: scores
metric: roc_auc
datasets:
  heart:
  flipped: {dataset: heart, flip: {share: 0.2}}
  noisy: {dataset: sonar, noise: {fraction: 0.3}}
split: {train: 0.7, repeats: 3, seed: 5}
learners:
  fld:
  pocket: {epochs: 5}
  stump:
  adaboost: {base: stump, rounds: 6}
  perceptron: {epochs: 1}
  svm-perceptron: {C: 1.0}
"""
SEVERAL = """
metric: balanced_error
datasets: [iris, glass, heart]
split: {train: 0.6, repeats: 2, seed: 5}
learners:
  ecc: {base: stump, rounds: 5}
  one-vs-one: {base: stump}
"""


def plan_cells(write_config, text):
    return plan(load_config(write_config(text)))


def test_records_of_tasks_give_what_scikit_learn_says_of_the_predictions(write_config):
    for cell in plan_cells(write_config, CONFIG):
        record, fitted = run_task(cell, 2), fit_task(cell, 2)
        data, learner = fitted.split_data, fitted.learner
        X, y = data.scale(data.data.X[data.test]), data.data.truth[data.test]
        predicted = learner.predict(X)
        for name in TWO_CLASSES:
            expected = compute_by_sklearn(name, y, predicted)
            assert compute(name, record) == pytest.approx(expected), (cell.filename, name)
        area = sk.roc_auc_score(y, learner.decision_function(X))
        assert compute("roc_auc", record) == pytest.approx(area)
        assert list(map(len, record.test_scores)) == np.bincount(y).tolist()
        for one_class in ((record.test_scores[0], []), ([], record.test_scores[1])):
            alone = FitRecord(0, 0, 0, test_scores=one_class)
            assert load_metric("roc_auc").compute(alone, Sizes(1, 1)) == 0.5
        assert record.test_confusion == sk.confusion_matrix(y, predicted).tolist()
        X, y = data.scale(data.data.X[data.train]), data.data.y[data.train]
        assert record.train_confusion == sk.confusion_matrix(y, learner.predict(X)).tolist()
        # A margin of 0 is an error in training, though it predicts the positive class.
        zeros = np.count_nonzero((learner.decision_function(X) == 0.0) & (y == 1))
        assert count_wrong(record.train_confusion) + zeros == record.train_errors, cell.filename


def test_confusion_counts_of_several_classes(write_config):
    for cell in plan_cells(write_config, SEVERAL):
        record, fitted = run_task(cell, 1), fit_task(cell, 1)
        data, labels = fitted.split_data, range(len(fitted.split_data.data.classes))
        for confusion, errors, indices in (
            (record.train_confusion, record.train_errors, data.train),
            (record.test_confusion, record.test_errors, data.test),
        ):
            y, predicted = data.data.y[indices], fitted.learner.predict(data.scale(data.data.X[indices]))
            assert confusion == sk.confusion_matrix(y, predicted, labels=labels).tolist()
            assert count_wrong(confusion) == errors


def count_wrong(confusion):
    return sum(map(sum, confusion)) - int(np.trace(confusion))


def test_without_keep_no_scores_are_stored_and_with_it_nothing_else_changes(write_config):
    text = "datasets: [heart]\nsplit: {repeats: 2}\nlearners: [fld]\n"
    (plain,), (kept,) = (plan_cells(write_config, more + text) for more in ("", "keep: scores\n"))
    assert plain.key == kept.key
    without, scored = run_task(plain, 1), run_task(kept, 1)
    assert without.test_scores is None
    same = set(FitRecord.__struct_fields__) - {"test_scores", "fit_time", "wall_time"}
    assert all(getattr(without, name) == getattr(scored, name) for name in same)


def test_scores_are_added_to_a_run_that_has_none_but_not_to_several_classes(zoloss, write_config, tmp_path):
    text, out = "datasets: [heart, iris]\nsplit: {repeats: 2}\nlearners: [majority]\n", tmp_path / "results"
    assert zoloss("run", write_config(text), "--out", out, "--jobs", 1).code == 0
    errors = zoloss("table", out, "--format", "csv").out
    scored = write_config(f"keep: scores\n{text}")
    assert "4 tasks: 2 were done, 2 run" in zoloss("run", scored, "--out", out, "--jobs", 1).err
    assert zoloss("table", out, "--format", "csv").out == errors
    assert "4 were done, 0 run" in zoloss("run", scored, "--out", out, "--jobs", 1).err
