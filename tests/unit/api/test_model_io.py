"""Models of learners that are not linear rules: what is read again answers exactly as what was fitted."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.fit import fit_table
from zoloss_cli.api.models import read_model, render_model
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.data.user_table import read_for_training

QUICK = {"epochs": 20, "rounds": 6}
SEVERAL = [
    *("ecc:stump", "ecc-asymmetric:stump", "erp:rcd-bias", "one-vs-one:soft-svm", "ecoc:stump"),
    *("one-vs-all:adaboost-stump", "ecc:adaboost:stump", "one-vs-one:cgboost:stump"),
    *("one-vs-one:svm-perceptron", "erp:svm-perceptron"),
]
FOR_TWO = [
    *("adaboost:rcd-bias", "adaboost-stump", "svm-perceptron", "anyboost:stump", "cgboost:pocket"),
    *("voted-perc", "ecc:stump", "one-vs-one:fld"),
]


def numbers(seed: int, n: int, names: list[str]) -> tuple[np.ndarray, list[str]]:
    """Overlapping clouds, one a class, with features of very different units."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(names)
    X = rng.normal(size=(n, 3)) + 1.5 * np.random.default_rng(0).normal(size=(len(names), 3))[y]
    return X * [1.0, 1e-4, 1e5] + [0.0, 0.0, 3e6], [names[k] for k in y]


def as_csv(X: np.ndarray, labels: list[str]) -> str:
    rows = [",".join([*map(repr, x.tolist()), label]) for x, label in zip(X, labels, strict=True)]
    return "\n".join(["a,b,c,label", *rows]) + "\n"


@pytest.fixture
def fitted_on(table):
    def fit(name: str, classes: list[str], scaling: str = "standard"):
        own = read_for_training(table(as_csv(*numbers(1, 90, classes))))
        known = parse_learner(name, [], None).parameters
        settings = [f"{key}={value}" for key, value in QUICK.items() if key in known]
        return fit_table(own, parse_learner(name, settings, None), None, scaling, 1)

    return fit


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
def test_what_is_read_again_answers_exactly_as_what_was_fitted(fitted_on, tmp_path, scaling):
    names = ["erp:stump", "one-vs-all:svm-perceptron"] if scaling == "none" else SEVERAL
    for name in names:
        same_answers(fitted_on(name, ["x", "y", "z", "w"], scaling), tmp_path)
    for name in FOR_TWO if scaling != "none" else []:
        same_answers(fitted_on(name, ["x", "y"], scaling), tmp_path)


def same_answers(fitted, folder) -> None:
    path = folder / "m.json"
    path.write_text(render_model(fitted, "error"), encoding="utf-8")
    model = read_model(path)
    new, _ = numbers(2, 400, fitted.classes)
    scaled = scale_parts(fitted.table.X, new, fitted.scaling)[1]
    scores = model.rule.score(new)
    np.testing.assert_array_equal(scores, fitted.estimator.decision_function(scaled))
    np.testing.assert_array_equal(model.rule.classify(scores), fitted.estimator.predict(scaled))
    assert len(np.unique(model.rule.classify(scores))) > 1
    assert list(model.classes) == fitted.classes


def test_a_person_can_compute_the_predictions_from_the_file(zoloss, table, tmp_path):
    """Scale, ask the stumps, compare with the words: in plain Python."""
    path, saved, out = table(as_csv(*numbers(3, 60, ["10", "9", "2"]))), tmp_path / "m.json", tmp_path / "p.csv"
    ended = zoloss.ok("fit", path, "--learner", "erp:stump", "--set", "rounds=8", "--model", saved, "--json")
    facts = json.loads(ended.out)
    assert (facts["classes"], facts["positive"]) == (["2", "9", "10"], None)
    content = json.loads(saved.read_text(encoding="utf-8"))
    learned, centre, spread = content["learned"], content["scaling"]["centre"], content["scaling"]["spread"]
    assert content["versions"].keys() == {"erp", "stump"}
    done = zoloss.ok("predict", saved, path, "--out", out)
    answers = list(csv.DictReader(out.open()))
    assert list(answers[0]) == ["prediction", "score=2", "score=9", "score=10"]
    wrong = 0
    for row, answer in zip(csv.DictReader(path.open()), answers, strict=True):
        x = [(float(row[name]) - c) / s for name, c, s in zip("abc", centre, spread, strict=True)]
        distances = [0.0] * 3
        for t, (stump, alpha) in enumerate(zip(learned["members"], learned["coefficients"], strict=True)):
            above = stump["threshold"] is None or x[stump["feature"]] >= stump["threshold"]
            said = stump["direction"] if above else -stump["direction"]
            for k, word in enumerate(learned["words"]):
                distances[k] += alpha * (1 - {"-": -1, "0": 0, "+": 1}[word[t]] * said) / 2
        assert [float(answer[f"score={name}"]) for name in content["classes"]] == [-d for d in distances]
        assert answer["prediction"] == content["classes"][distances.index(min(distances))]
        wrong += answer["prediction"] != row["label"]
    assert facts["errors"] == wrong > 0
    assert f"{wrong} errors in 60 rows with a label" in done.err
