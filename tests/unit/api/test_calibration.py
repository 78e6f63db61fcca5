"""Probabilities: scikit-learn's own calibration as oracle, the model file, and what predict writes."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from own_rows import build_clouds, write_clouds
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV

from zoloss_cli.api import validation
from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.validation import FoldPlan, calibrate, draw_folds
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.registry import make_learner


class UnitLength(ClassifierMixin, BaseEstimator):
    """A learner on scaled features whose weights have length 1, as scikit-learn's calibration would see it."""

    def __init__(self, name: str = "fld"):
        self.name = name

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.X_ = X
        self.learner_ = make_learner(self.name, {}).fit(scale_parts(X, X, "standard")[0], y)
        return self

    def decision_function(self, X):
        scores = self.learner_.decision_function(scale_parts(self.X_, X, "standard")[1])
        return scores / np.linalg.norm(self.learner_.coef_) if hasattr(self.learner_, "coef_") else scores

    def predict(self, X):
        raise AssertionError("only scores are calibrated")


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(("name", "n_classes"), [("fld", 2), ("one-vs-one:fld", 3)])
def test_probabilities_are_those_of_scikit_learn_on_the_same_folds(method, name, n_classes):
    data = build_clouds(150, n_classes)
    spec = parse_learner(name, [], None)
    parts = draw_folds(data.y, 5, np.random.default_rng([data.seed, validation.SEED_WORD, 0]))
    every = np.arange(len(data.y))
    folds = [(np.setdiff1d(every, part), part) for part in parts]
    base = UnitLength(name) if n_classes == 2 else _Several(spec)
    oracle = CalibratedClassifierCV(base, method=method, cv=folds, ensemble=False).fit(data.X, data.y)
    fitted = oracle.calibrated_classifiers_[0].estimator
    length = np.linalg.norm(fitted.learner_.coef_) if n_classes == 2 else 1.0

    found = calibrate(method, n_classes, float(length), FoldPlan(spec, 5, 1, 5), data)
    new = np.random.default_rng(9).normal(size=(40, 3))
    expected = oracle.predict_proba(new)
    probabilities = found.compute(fitted.decision_function(new) * length)
    np.testing.assert_allclose(probabilities, expected if n_classes > 2 else expected[:, 1], atol=1e-9)


class _Several(UnitLength):
    def __init__(self, spec: LearnerSpec | None = None):
        self.spec = spec

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y), X
        learner = make_learner(self.spec.learner, self.spec.parameters, 0)
        self.learner_ = learner.fit(scale_parts(X, X, "standard")[0], y)
        return self


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_with_a_calibration_predicts_probabilities(zoloss, table, tmp_path, method, n_classes):
    data = build_clouds(150, n_classes)
    path, model = table(write_clouds(data)), tmp_path / "m.json"
    learner = "rcd-bias" if n_classes == 2 else "one-vs-one:fld"
    command = ["fit", path, "--learner", learner, "--calibrate", method, "--model", model, "--no-validate"]
    ended = zoloss.ok(*command)
    assert f"scores    converted to probabilities by {method} calibration" in ended.out
    assert ("isotonic calibration of 150 samples is likely to overfit" in ended.err) == (method == "isotonic")
    rows = list(csv.DictReader(io.StringIO(zoloss("predict", model, path).out)))
    names = ["probability"] if n_classes == 2 else [f"probability=c{k}" for k in range(3)]
    assert [key for key in rows[0] if key.startswith("probability")] == names
    shown = np.array([[float(row[name]) for name in names] for row in rows])
    assert shown.min() >= 0.0
    assert shown.max() <= 1.0
    if n_classes == 2:
        scores = np.array([float(row["score"]) for row in rows])
        assert np.all(np.diff(shown[np.argsort(scores), 0]) >= 0.0)  # the larger the score, the likelier
        assert shown[data.y == 1].mean() > shown[data.y == 0].mean() + 0.1
    else:
        np.testing.assert_allclose(shown.sum(axis=1), 1.0)


def test_a_calibration_is_part_of_the_digest_and_checked(zoloss, table, tmp_path):
    path, model = table(write_clouds(build_clouds(150))), tmp_path / "m.json"
    fit = ("fit", path, "--learner", "fld", "--model", model, "--no-validate")
    zoloss(*fit)
    assert "calibration" not in json.loads(model.read_text(encoding="utf-8"))
    assert zoloss("predict", model, path).out.startswith("prediction,score\n")
    zoloss(*fit, "--calibrate", "sigmoid", "--force")
    content = json.loads(model.read_text(encoding="utf-8"))
    content["calibration"]["curves"][0]["slope"] *= 2
    model.write_text(json.dumps(content), encoding="utf-8")
    assert "the file was changed after it was fitted" in zoloss("predict", model, path).err
    assert zoloss("predict", model, path, "--trust").code == 0
    content["calibration"]["curves"] *= 2
    model.write_text(json.dumps(content), encoding="utf-8")
    assert "'calibration': 2 curves for 2 classes" in zoloss("predict", model, path, "--trust").err
    content["calibration"]["curves"] = [{"kind": "isotonic", "scores": [1.0, 0.0], "values": [0.1, 0.9]}]
    model.write_text(json.dumps(content), encoding="utf-8")
    assert "do not rise" in zoloss("predict", model, path, "--trust").err


def test_too_few_samples_of_a_class_are_refused_before_the_fit(zoloss, table, tmp_path):
    text = write_clouds(build_clouds(40)).replace(",c1", ",c0", 17)
    ended = zoloss("fit", table(text), "--calibrate", "sigmoid", "--model", tmp_path / "m.json")
    assert (ended.code, ended.out, (tmp_path / "m.json").exists()) == (3, "", False)
    assert "--calibrate: the class 'c1' has 3 samples, and at least 5 of each class are needed" in ended.err
    wrong = zoloss("fit", table(text), "--calibrate", "sigmoyd")
    assert wrong.code == 2
    assert "--calibrate: 'sigmoyd' is not valid; did you mean 'sigmoid'?" in wrong.err
