"""Metrics of predictions and scores against scikit-learn: on random ones, and on those of real tasks."""

from __future__ import annotations

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


@given(draw_labels(2))
def test_rates_of_two_classes(pairs):
    y, predicted = np.array(pairs).T
    record = build_record(y, predicted, 2)
    assert record.test_confusion == sk.confusion_matrix(y, predicted, labels=[0, 1]).tolist()
    for name in TWO_CLASSES:
        assert compute(name, record) == pytest.approx(compute_by_sklearn(name, y, predicted)), name


@given(st.integers(3, 5).flatmap(lambda n: st.tuples(st.just(n), draw_labels(n))))
def test_rates_of_several_classes(drawn):
    n_classes, pairs = drawn
    y, predicted = np.array(pairs).T
    record = build_record(y, predicted, n_classes)
    assert record.test_confusion == sk.confusion_matrix(y, predicted, labels=range(n_classes)).tolist()
    for name in ("balanced_error", "test_error"):
        assert compute(name, record) == pytest.approx(compute_by_sklearn(name, y, predicted)), name


scores = st.lists(st.integers(-4, 4).map(lambda x: x / 4) | st.floats(-2, 2), min_size=1, max_size=20)


@given(scores, scores)
def test_areas_under_the_curve(negative, positive):
    """Ties, which small integers often have, count one half."""
    record = FitRecord(0, 0, 0, test_scores=(negative, positive))
    labels = [0] * len(negative) + [1] * len(positive)
    area = load_metric("roc_auc").compute(record, Sizes(1, len(labels)))
    assert area == pytest.approx(sk.roc_auc_score(labels, negative + positive))


@given(scores)
def test_one_class_alone_is_told_by_chance(alone):
    for both in ((alone, []), ([], alone)):
        assert load_metric("roc_auc").compute(FitRecord(0, 0, 0, test_scores=both), Sizes(1, 1)) == 0.5


# -- real tasks ---------------------------------------------------------------------------------------

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


@pytest.fixture
def tasks(write_config):
    """Records of two splits of every cell, with true and predicted labels, and scores where there are some."""
    found = []
    for cell in plan_cells(write_config, CONFIG):
        for split in (0, 2):
            found.append((cell, run_task(cell, split), fit_task(cell, split)))
    return found


def test_records_of_tasks_give_what_scikit_learn_says_of_the_predictions(tasks):
    for cell, record, fitted in tasks:
        data, learner = fitted.split_data, fitted.learner
        X, y = data.scale(data.data.X[data.test]), data.data.truth[data.test]
        predicted = learner.predict(X)
        for name in TWO_CLASSES:
            expected = compute_by_sklearn(name, y, predicted)
            assert compute(name, record) == pytest.approx(expected), (cell.filename, name)
        area = sk.roc_auc_score(y, learner.decision_function(X))
        assert compute("roc_auc", record) == pytest.approx(area)
        negative, positive = record.test_scores
        assert (len(negative), len(positive)) == (np.sum(y == 0), np.sum(y == 1))


def test_confusion_counts_of_tasks_add_up_to_sizes_and_errors(tasks):
    for cell, record, fitted in tasks:
        data, learner = fitted.split_data, fitted.learner
        X, y = data.scale(data.data.X[data.train]), data.data.y[data.train]
        for confusion, labels, indices in (
            (record.train_confusion, y, data.train),
            (record.test_confusion, data.data.truth[data.test], data.test),
        ):
            assert [sum(counts) for counts in confusion] == np.bincount(labels, minlength=2).tolist()
            assert sum(map(sum, confusion)) == len(indices)
        assert count_wrong(record.test_confusion) == record.test_errors
        # A margin of 0 is an error in training, though it predicts the positive class.
        zeros = np.count_nonzero((learner.decision_function(X) == 0.0) & (y == 1))
        assert count_wrong(record.train_confusion) + zeros == record.train_errors, cell.filename


def test_confusion_counts_of_several_classes(write_config):
    for cell in plan_cells(write_config, SEVERAL):
        record, fitted = run_task(cell, 1), fit_task(cell, 1)
        data, learner = fitted.split_data, fitted.learner
        n_classes = len(data.data.classes)
        for confusion, errors, indices in (
            (record.train_confusion, record.train_errors, data.train),
            (record.test_confusion, record.test_errors, data.test),
        ):
            y, predicted = data.data.y[indices], learner.predict(data.scale(data.data.X[indices]))
            assert confusion == sk.confusion_matrix(y, predicted, labels=range(n_classes)).tolist()
            assert count_wrong(confusion) == errors
            assert sum(map(sum, confusion)) == len(indices)
        assert compute("balanced_error", record) == pytest.approx(
            compute_by_sklearn("balanced_error", y, predicted)
        )


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


def test_scores_are_added_to_a_run_that_has_none(zoloss, write_config, tmp_path):
    text, out = "datasets: [heart]\nsplit: {repeats: 4}\nlearners: [fld]\n", tmp_path / "results"
    assert zoloss("run", write_config(text), "--out", out, "--jobs", 1).code == 0
    errors = zoloss("table", out, "--format", "csv").out
    scored = write_config(f"keep: scores\nmetric: roc_auc\nalso: test_error\n{text}")
    ended = zoloss("run", scored, "--out", out, "--jobs", 1)
    assert "4 tasks: 0 were done, 4 run" in ended.err
    shown = zoloss("table", out, "--format", "csv").out
    auc, error = (line.split(",") for line in shown.splitlines()[1:])
    assert auc[3] == "roc_auc"
    assert 0.5 < float(auc[4]) < 1.0
    assert error[4:6] == errors.splitlines()[1].split(",")[4:6]
    assert "4 were done, 0 run" in zoloss("run", scored, "--out", out, "--jobs", 1).err


def test_several_classes_have_no_scores_to_wait_for(zoloss, write_config, tmp_path):
    learners = "learners: {majority: , ecc: {base: stump, rounds: 2}}\n"
    text = f"keep: scores\ndatasets: [iris]\nsplit: {{repeats: 2}}\n{learners}"
    for done in (0, 4):
        ended = zoloss("run", write_config(text), "--out", tmp_path / "r", "--jobs", 1)
        assert f"4 tasks: {done} were done, {4 - done} run" in ended.err
