"""zoloss fit and predict on tables of your own: units, model files, output."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.fit import fit_table
from zoloss_cli.api.model_files import read_model
from zoloss_cli.api.rules import convert_to_original_units, round_weights
from zoloss_cli.data.splits import compute_scaling, scale_parts
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.registry import make_learner
from zoloss_cli.utils.files import shipped_folder

COLOURS = "size,colour,label\n1,red,no\n2,blue,yes\n3,green,yes\n1.5,red,no\n2.5,blue,no\n"


def noisy_csv(noisy) -> str:
    X, y = noisy
    rows = [[*map(repr, x.tolist()), "good" if k else "bad"] for x, k in zip(X, y, strict=True)]
    return "\n".join(",".join(row) for row in [["a", "b", "c", "d", "label"], *rows]) + "\n"


@st.composite
def tables(draw):
    """Features of very different units, one of them constant, and a noisy linear label."""
    n, d = draw(st.integers(6, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    units = 10.0 ** rng.integers(-6, 7, d)
    X = rng.standard_normal((n, d)) * units + rng.choice([0.0, 1.0, 300.0], d) * units
    if draw(st.booleans()):
        X = np.round(X / units) * units  # many equal values, as in counts and codes
    y = (((X - X.mean(axis=0)) / units) @ rng.standard_normal(d) + rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    return np.column_stack([X, np.full(n, 7.7)]), y


@settings(deadline=None, max_examples=60)
@given(tables(), st.sampled_from(["standard", "minmax", "none"]), st.sampled_from(["rcd-bias", "pivot", "lr"]))
def test_the_rule_in_original_units_answers_as_the_scaled_learner(made, how, name):
    X, y = made
    scaled = scale_parts(X, X, how)[0]
    quick = {"epochs": 5} if name == "rcd-bias" else {"steps": 200} if name == "pivot" else {}
    learner = make_learner(name, quick, 1)
    try:
        learner.fit(scaled, y)
    except ValueError:  # LIBLINEAR may give up on features that are not scaled, and says so
        assume(how != "none")
        raise
    features = [str(i) for i in range(X.shape[1])]
    coefficients, intercept = learner.coef_[0], learner.intercept_[0]
    rule = convert_to_original_units(coefficients, intercept, *compute_scaling(X, how), features)
    # What is no nearer to the boundary than rounding must be the same: by the rule, and by hand.
    size = np.abs(learner.coef_[0]) @ np.abs(scaled).T + abs(learner.intercept_[0])
    clear = np.abs(learner.decision_function(scaled)) > 1e-9 * size
    expected = learner.predict(scaled)
    assert np.array_equal((rule.score(X) >= 0)[clear], expected[clear])
    assert np.array_equal((X @ rule.weights + rule.bias >= 0)[clear], expected[clear])
    np.testing.assert_allclose(rule.score(X), learner.decision_function(scaled), atol=1e-12 * size.max())
    if how != "none":
        assert rule.weights[-1] == 0.0


def test_a_rule_far_from_zero_loses_no_digits():
    """Values such as 1e9 + 0.001 k: plain arithmetic sees a thousandth of them only."""
    X = 1e9 + 0.001 * np.arange(20.0)[:, None]
    centre, spread = compute_scaling(X, "standard")
    rule = convert_to_original_units(np.array([1.0]), 0.01, centre, spread, ["t"])
    np.testing.assert_array_equal(rule.score(X), 0.01 + (X - centre)[:, 0] * (1.0 / spread[0]))
    assert (rule.score(X) >= 0).tolist() == [False] * 10 + [True] * 10


def test_the_printed_rule_has_as_few_digits_as_keep_its_answers():
    rule = np.array([1.0, 2.0 / 3.0]), 0.123456789
    assert round_weights(*rule, np.array([[1.0, 1.0]]), np.array([True])) == (["1", "0.6667"], "0.1235")
    close = np.array([[0.123456788, 0.0], [0.12345679, 0.0]])
    weights, threshold = round_weights(*rule, close, np.array([False, True]))
    assert (close @ np.array(weights, float) >= float(threshold)).tolist() == [False, True]
    assert len(threshold) > len("0.1235")


@pytest.mark.parametrize("name", ["pivot", "rcd-bias", "soft-svm", "fld", "stump", "pocket"])
def test_fit_model_predict_is_one_round(zoloss, table, noisy, tmp_path, name):
    text = noisy_csv(noisy).replace("label\n", "kind,label\n", 1)
    for k, kind in enumerate(("x", "y", "z", "x")):  # a column of text as well
        text = text.replace(",good\n", f",{kind},GOOD\n", 9 + k).replace(",bad\n", f",{kind},BAD\n", 11 + k)
    text = text.replace(",good\n", ",z,GOOD\n").replace(",bad\n", ",y,BAD\n")
    path, model, out = table(text), tmp_path / "m.json", tmp_path / "p.csv"
    ended = zoloss("fit", path, "--learner", name, "--model", model, "--json")
    assert ended.code == 0, ended.err
    facts = json.loads(ended.out)
    done = zoloss("predict", model, path, "--out", out)
    assert (done.code, done.out) == (0, "")
    rows = list(csv.DictReader(out.open()))
    assert list(rows[0]) == ["prediction", "score"]
    own = read_for_training(path)
    fitted = fit_table(own, parse_learner(name, [], None), None, "standard", 1)
    np.testing.assert_array_equal([float(r["score"]) for r in rows], fitted.rule.score(own.X))
    predicted = np.array([r["prediction"] for r in rows])
    scaled = scale_parts(own.X, own.X, "standard")[0]
    learner = make_learner(name, {}, 1).fit(scaled, fitted.y)
    np.testing.assert_array_equal(predicted, np.array(["BAD", "GOOD"])[learner.predict(scaled)])
    wrong = int(np.sum(predicted != np.array(own.labels)))
    assert f"{wrong} errors in 120 rows with a label" in done.err
    assert facts["errors"] == wrong == fitted.errors
    assert facts["features"] == ["a", "b", "c", "d", "kind=x", "kind=y", "kind=z"]


def test_the_model_is_readable(zoloss, table, tmp_path):
    model = tmp_path / "m.json"
    assert zoloss("fit", table(COLOURS), "--learner", "certify", "--model", model).code == 0
    content = json.loads(model.read_text(encoding="utf-8"))
    assert (content["format"], content["learner"], content["positive"]) == (1, "certify", "yes")
    assert content["columns"][1] == {"name": "colour", "kind": "category", "levels": ["blue", "green", "red"]}
    assert content["scaling"]["how"] == "standard"
    assert content["training"]["errors"] == content["training"]["lower_bound"] == 0
    assert content["training"]["optimal"] is True
    own = read_for_training(table(COLOURS))
    by_hand = own.X @ content["weights"] + content["bias"]
    assert (by_hand > 0).tolist() == [label == "yes" for label in own.labels]
    np.testing.assert_allclose(read_model(model).rule.score(own.X), by_hand, atol=1e-12)


def test_json_is_all_that_stdout_holds(zoloss, table):
    ended = zoloss("fit", table(COLOURS), "--json")
    assert len(ended.out.splitlines()) == 1
    facts = json.loads(ended.out)
    wanted = "learner n d errors error_rate lower_bound optimal seconds weights bias features classes positive"
    assert set(wanted.split()) <= set(facts)
    assert (facts["learner"], facts["n"], facts["d"], facts["errors"]) == ("pivot", 5, 4, 0)
    assert facts["classes"] == ["no", "yes"]
    bagged = json.loads(zoloss("fit", table(COLOURS), "--json", "--learner", "adaboost").out)
    assert [bagged[key] for key in ("weights", "bias", "lower_bound", "optimal")] == [None] * 4
    perceptron = json.loads(zoloss("fit", table(COLOURS), "--json", "--learner", "ave-perc").out)
    assert perceptron["lower_bound"] is None
    assert len(perceptron["weights"]) == 4


def test_the_text_says_rows_classes_errors_bound_and_rule(zoloss, table):
    text = zoloss("fit", table(COLOURS), "--positive", "no").out
    assert "5 samples, 4 features, label 'label'" in text
    assert "'yes' (2 samples) and 'no' (3 samples, positive)" in text
    assert "0 of 5 training samples (0.00 %)" in text
    assert "proved optimal" in text
    assert "'colour' has one indicator, 1 or 0, for each of: blue, green, red" in text
    assert "rule      'no' where the sum of weight times feature is at least" in text
    assert "colour=green" in text
    boosted = zoloss("fit", table(COLOURS), "--learner", "adaboost", "--set", "base=stump").out
    assert "learner   adaboost:stump" in boosted
    assert "rule" not in boosted


def test_features_that_are_all_constant_leave_the_larger_class(zoloss, table):
    facts = json.loads(zoloss("fit", table("a,c,label\n3,p,x\n3,p,y\n3,p,y\n"), "--json").out)
    assert (facts["errors"], facts["optimal"], facts["weights"]) == (1, True, [0.0, 0.0])
    assert facts["bias"] > 0.0


def test_one_class_against_the_rest_and_its_errors_later(zoloss, table, tmp_path):
    path, model = table("a,label\n1,x\n2,y\n3,z\n9,y\n"), tmp_path / "m.json"
    facts = json.loads(zoloss("fit", path, "--positive", "z", "--model", model, "--json").out)
    assert facts["classes"] == ["rest", "z"]
    assert facts["errors"] == 1
    assert "1 errors in 4 rows with a label" in zoloss("predict", model, path).err


def test_one_row_without_a_label_is_enough_to_predict(zoloss, table, tmp_path):
    model = tmp_path / "m.json"
    zoloss("fit", table("a,b,label\n1,0,x\n2,0,y\n"), "--model", model)
    ended = zoloss("predict", model, table("b;a\n0;5\n", "new.csv"))
    assert (ended.code, ended.err) == (0, "")
    (row,) = csv.DictReader(io.StringIO(ended.out))
    assert row["prediction"] == "y"
    assert float(row["score"]) > 0


def test_missing_values_of_new_rows_are_as_in_training(zoloss, table, tmp_path):
    model, new = tmp_path / "m.json", table("a,c\n,?\n", "new.csv")
    zoloss("fit", table("a,c,label\n-1,p,x\n1,q,y\n?,q,y\n"), "--missing", "zero", "--model", model)
    assert zoloss("predict", model, new).code == 0
    zoloss("fit", table("a,c,label\n-1,p,x\n1,q,y\n"), "--model", model, "--force")
    assert ":2: column 'a' has no value" in zoloss("predict", model, new).err


def test_parameters_are_read_as_yaml():
    spec = parse_learner("rcd-bias", ["epochs=30", "seeding=fld"], None)
    assert (spec.parameters["epochs"], spec.parameters["seeding"]) == (30, "fld")
    assert parse_learner("soft-svm", ["C=[1e-3, 2]"], None).parameters["C"] == [0.001, 2.0]
    assert parse_learner("pivot", [], 2.5).parameters["time_limit"] == 2.5
    boosted = parse_learner("adaboost", ["base={learner: pocket, epochs: 7}", "rounds=3"], None).parameters
    assert (boosted["base"]["epochs"], boosted["rounds"]) == (7, 3)


def test_the_same_seed_gives_the_same_rule(zoloss, table, noisy):
    path = table(noisy_csv(noisy))
    one, again, other = (
        json.loads(
            zoloss("fit", path, "--json", "--learner", "rcd-bias", "--seed", s, "--set", "epochs=20").out
        )
        for s in (1, 1, 2)
    )
    assert one["weights"] == again["weights"] != other["weights"]


def test_ctrl_c_prints_the_best_so_far_with_a_note(zoloss, table, noisy, monkeypatch):
    looks = iter(range(10**9))

    def interrupted(self):
        if (
            self.time_limit is not None and 60.0 < self.time_limit < 77.0 and next(looks) >= 3
        ):  # not while kernels are loaded
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(SearchProgress, "should_stop", interrupted)
    ended = zoloss("fit", table(noisy_csv(noisy)), "--json", "--time-limit", 77, "--no-validate")
    assert ended.code == 0
    facts = json.loads(ended.out)
    assert facts["errors"] < 60
    assert "interrupted after" in facts["notes"][-1]
    assert "interrupted after" in ended.err


def test_a_terminal_sees_the_search(zoloss, table, noisy, monkeypatch):
    from zoloss_cli.learners.search import progress as search

    monkeypatch.setattr(search, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ended = zoloss("fit", table(noisy_csv(noisy)), "--json", "--set", "steps=1000")
    assert "PivotClassifier: best " in ended.err
    json.loads(ended.out)


def test_help_has_examples(zoloss):
    for command in ("fit", "predict"):
        assert "Examples" in zoloss(command, "--help").out


def test_breast_with_its_serial_number_needs_ten_errors(zoloss):
    data = shipped_folder("datasets") / "breast_id.csv"
    facts = json.loads(
        zoloss("fit", data, "--learner", "certify", "--time-limit", 600, "--no-validate", "--json").out
    )
    assert (facts["n"], facts["d"], facts["errors"], facts["optimal"]) == (683, 10, 10, True)
