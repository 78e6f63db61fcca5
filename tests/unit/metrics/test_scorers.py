"""Scorers of scikit-learn from stored records, against the same scorers asked of real classifiers."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import datasets as sk_datasets
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import count_confusion, fit_task, run_task
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import (
    METRICS,
    OF_PREDICTIONS,
    OF_PROBABILITIES,
    OF_TWO_CLASSES,
    SCORERS,
    explain_unknown_metric,
    load_metric,
)
from zoloss_cli.report.runs import CellResult
from zoloss_cli.results.record import FitRecord


def build_record(classifier, X, y, n_classes):
    """What a task would store of a classifier's test samples."""
    predicted = classifier.predict(X)
    fields = {"test_confusion": count_confusion(y, predicted, n_classes)}
    if n_classes == 2:
        scores = (
            classifier.decision_function(X)
            if hasattr(classifier, "decision_function")
            else classifier.predict_proba(X)[:, 1]
        )
        fields["test_scores"] = tuple(scores[y == k].tolist() for k in (0, 1))
    if hasattr(classifier, "predict_proba"):
        probabilities = classifier.predict_proba(X)
        fields["test_probabilities"] = [probabilities[y == k].tolist() for k in range(n_classes)]
    return FitRecord(0, 0, int(np.count_nonzero(predicted != y)), **fields)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("classifier", [LogisticRegression(max_iter=500), GaussianNB(), LinearSVC()], ids=repr)
def test_stored_records_give_what_the_scorer_says_of_the_classifier(classifier, n_classes):
    """Logistic regression has both responses, naive Bayes only probabilities, the SVM only scores."""
    load = {2: sk_datasets.load_breast_cancer, 3: sk_datasets.load_iris}[n_classes]
    X, y = load(return_X_y=True)
    X = X[:, : 5 - n_classes]
    order = np.random.default_rng(3).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    classifier = classifier.fit(X[train], y[train])
    record = build_record(classifier, X[test], y[test], n_classes)
    seen = set()
    for name in SCORERS:
        metric = load_metric(name)
        if metric.explain_missing([record]):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the two best of two classes are always right
            expected = sk.get_scorer(name)(classifier, X[test], y[test])
        assert metric.compute(record, Sizes(len(train), len(test))) == pytest.approx(expected), name
        seen.add(name)
    assert seen >= set(OF_PREDICTIONS) - (set(OF_TWO_CLASSES) if n_classes > 2 else set())
    has_probabilities = hasattr(classifier, "predict_proba")
    assert (seen >= set(OF_PROBABILITIES)) == has_probabilities
    assert ("average_precision" in seen) == (n_classes == 2)


def draw_pairs(n_classes):
    label = st.integers(0, n_classes - 1)
    return st.tuples(st.just(n_classes), st.lists(st.tuples(label, label), min_size=1, max_size=30))


FUNCTIONS = {
    "balanced_accuracy": sk.balanced_accuracy_score,
    "accuracy": sk.accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "f1_macro": lambda y, p: sk.f1_score(y, p, average="macro"),
    "recall_weighted": lambda y, p: sk.recall_score(y, p, average="weighted"),
    "jaccard_micro": lambda y, p: sk.jaccard_score(y, p, average="micro"),
}


@given(st.integers(2, 4).flatmap(draw_pairs))
def test_counts_say_as_much_as_the_predictions(drawn):
    """Also where a class has no sample or is never predicted, for which scikit-learn has its conventions."""
    n_classes, pairs = drawn
    y, predicted = np.array(pairs).T
    record = FitRecord(
        0, 0, int(np.sum(y != predicted)), test_confusion=count_confusion(y, predicted, n_classes)
    )
    for name, function in FUNCTIONS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function(y, predicted)
        assert load_metric(name).compute(record, Sizes(1, len(y))) == pytest.approx(expected), name


def test_every_scorer_of_the_installed_scikit_learn_is_known_or_refused():
    others = set(sk.get_scorer_names()) - {*SCORERS, *METRICS.builtin}
    assert [name for name in others if "the scikit-learn scorer" not in explain_unknown_metric(name)] == []
    assert {"f1", "roc_auc"}.isdisjoint(SCORERS)  # zoloss's own: in percent, and with ties that count one half
    with pytest.raises(ConfigError, match=r"the scikit-learn scorer 'rand_score' is for clustering"):
        load_metric("rand_score")


def test_what_is_not_defined_is_no_number():
    """The third class of the second split has no test sample, so none can be above or below the others.

    The logarithmic loss is still defined, if it is told of the class.
    """
    first, second = [[0.9, 0.1, 0.0]], [[0.2, 0.7, 0.1]]
    parts = ([first, second, [[0.1, 0.2, 0.7]]], [first, second, []])
    records = [FitRecord(k, 0, 0, test_probabilities=p) for k, p in enumerate(parts)]
    cell, metric = CellResult(records, [0, 1], Sizes(8, 3)), load_metric("roc_auc_ovr")
    assert metric.compute(records[0], Sizes(8, 3)) == 1.0
    assert math.isnan(metric.compute(records[1], Sizes(8, 2)))
    assert cell.explain_missing("roc_auc_ovr") == ""
    assert cell.get("roc_auc_ovr") is None
    assert cell.get_stat("roc_auc_ovr") is None
    assert cell.explain_missing("roc_auc_ovr") == "it is not defined in 1 of its 2 splits"
    losses = -np.log([0.9, 0.7, 0.7]).mean(), -np.log([0.9, 0.7]).mean()
    assert cell.get("neg_log_loss") == pytest.approx([-loss for loss in losses])
    assert cell.get("top_k_accuracy") == [1.0, 1.0]


CONFIG = "keep: probabilities\nmetric: neg_log_loss\ndatasets: [heart]\nsplit: {repeats: 2}\n"


def give_probabilities(self, X):
    positive = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
    return np.column_stack([1.0 - positive, positive])


def test_tasks_store_what_the_scorer_needs(write_config, monkeypatch):
    monkeypatch.setattr(FLDClassifier, "predict_proba", give_probabilities, raising=False)
    (cell,) = plan(load_config(write_config(f"{CONFIG}learners: [fld]\n")))
    assert cell.keep == {"test_scores", "test_probabilities"}
    record, fitted = run_task(cell, 1), fit_task(cell, 1)
    data = fitted.split_data
    X, y = data.scale(data.data.X[data.test]), data.data.truth[data.test]
    expected = -sk.log_loss(y, fitted.learner.predict_proba(X))
    assert load_metric("neg_log_loss").compute(record, Sizes(1, 1)) == pytest.approx(expected)
    assert load_metric("average_precision").compute(record, Sizes(1, 1)) == pytest.approx(
        sk.average_precision_score(y, fitted.learner.decision_function(X))
    )


def test_a_learner_without_probabilities_leaves_its_column_empty(zoloss, write_config, tmp_path, monkeypatch):
    monkeypatch.setattr(FLDClassifier, "predict_proba", give_probabilities, raising=False)
    path, out = write_config(f"{CONFIG}also: test_error\nlearners: [fld, stump]\n"), tmp_path / "results"
    sentence = (
        "learners.stump: 'stump' has no predict_proba, so its column has no neg_log_loss; other columns are"
    )
    assert sentence in zoloss("validate", path).err
    monkeypatch.setattr("zoloss_cli.experiment.scheduler.Scheduler.run", run_here)
    ended = zoloss.ok("run", path, "--out", out, "--jobs", 1)
    assert sentence in ended.err
    assert "4 were done, 0 run" in zoloss("run", path, "--out", out, "--jobs", 1).err
    shown = zoloss("table", out).out
    note = "no neg_log_loss of stump on heart: its records hold no test_probabilities, because its learner"
    assert note in shown
    other = write_config("datasets: [heart]\nsplit: {repeats: 2}\nlearners: [rcd-bias]\n", "other.yaml")
    monkeypatch.undo()
    assert zoloss("run", other, "--out", out, "--jobs", 1).code == 0
    refused = zoloss("table", out, "--table", "other", "--metrics", "neg_log_loss")
    assert f"add 'keep: probabilities' to its config, and run: zoloss run {other} --out {out}" in refused.err


def run_here(self):
    """Run all tasks in this process, whose classes are changed."""
    from zoloss_cli.experiment.scheduler import ChunkResult
    from zoloss_cli.experiment.task import run_tasks

    for part in self.pending:
        if part.splits:
            splits = [part.splits.popleft() for _ in range(len(part.splits))]
            yield ChunkResult(part, run_tasks(part.cell, splits))


def test_probabilities_must_be_provided_and_kept(zoloss, write_config):
    said = zoloss("validate", write_config(f"{CONFIG}learners: [fld]\n"))
    assert said.code == 2
    assert "learners.fld: 'fld' has no predict_proba, which the metric 'neg_log_loss' needs" in said.err
    said = zoloss("validate", write_config(f"{CONFIG.replace('probabilities', 'scores')}learners: [fld]\n"))
    assert "the metric 'neg_log_loss' needs probabilities, which are not stored: add 'keep: prob" in said.err
