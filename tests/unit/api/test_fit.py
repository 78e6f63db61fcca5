"""zoloss fit and predict on tables of your own: units, model files, output."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.fit import fit_table
from zoloss_cli.api.rules import convert_to_original_units, round_weights
from zoloss_cli.data.splits import compute_scaling, scale_parts
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.registry import make_learner

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


@settings(deadline=None, max_examples=30)
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


@pytest.mark.parametrize("name", ["pivot", "fld", "stump"])
def test_fit_model_predict_is_one_round(zoloss, table, noisy, tmp_path, name):
    text = noisy_csv(noisy).replace("label\n", "kind,label\n", 1)
    for k, kind in enumerate(("x", "y", "z", "x")):  # a column of text as well
        text = text.replace(",good\n", f",{kind},GOOD\n", 9 + k).replace(",bad\n", f",{kind},BAD\n", 11 + k)
    text = text.replace(",good\n", ",z,GOOD\n").replace(",bad\n", ",y,BAD\n")
    path, model, out = table(text), tmp_path / "m.json", tmp_path / "p.csv"
    ended = zoloss.ok("fit", path, "--learner", name, "--model", model, "--json")
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


def test_json_is_all_that_stdout_holds_and_the_text_says_the_same(zoloss, table):
    path = table(COLOURS)
    (line,) = zoloss("fit", path, "--json").out.splitlines()
    facts = json.loads(line)
    assert (facts["learner"], facts["n"], facts["d"], facts["errors"]) == ("pivot", 5, 4, 0)
    assert facts["classes"] == ["no", "yes"]
    bagged = json.loads(zoloss("fit", path, "--json", "--learner", "adaboost").out)
    assert [bagged[key] for key in ("weights", "bias", "lower_bound", "optimal")] == [None] * 4
    text = zoloss("fit", path, "--positive", "no").out
    for part in (
        "5 samples, 4 features, label 'label'",
        "'yes' (2 samples) and 'no' (3 samples, positive)",
        "0 of 5 training samples (0.00 %)",
        "proved optimal",
        "'colour' has one indicator, 1 or 0, for each of: blue, green, red",
        "rule      'no' where the sum of weight times feature is at least",
    ):
        assert part in text
    boosted = zoloss("fit", path, "--learner", "adaboost", "--set", "base=stump").out
    assert "learner   adaboost:stump" in boosted
    assert "rule" not in boosted


def test_the_same_seed_gives_the_same_rule(zoloss, table, noisy):
    path = table(noisy_csv(noisy))
    command = ["fit", path, "--json", "--learner", "rcd-bias", "--set", "epochs=20", "--seed"]
    one, again, other = (json.loads(zoloss(*command, seed).out) for seed in (1, 1, 2))
    assert one["weights"] == again["weights"] != other["weights"]
    confusions = [each["validation"]["confusion"] for each in (one, again, other)]
    assert confusions[0] == confusions[1] != confusions[2]


def test_ctrl_c_prints_the_best_so_far_with_a_note(zoloss, table, noisy, monkeypatch):
    looks = iter(range(10**9))

    def interrupted(self):
        # Not while kernels are loaded.
        if self.time_limit is not None and 60.0 < self.time_limit < 77.0 and next(looks) >= 3:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(SearchProgress, "should_stop", interrupted)
    ended = zoloss.ok("fit", table(noisy_csv(noisy)), "--json", "--time-limit", 77, "--no-validate")
    facts = json.loads(ended.out)
    assert facts["errors"] < 60
    assert "interrupted after" in facts["notes"][-1]
    assert "interrupted after" in ended.err
