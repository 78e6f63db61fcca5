"""Weights of classes and costs of errors in fit: against scikit-learn's weights, and counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from own_rows import refused
from sklearn.utils.class_weight import compute_class_weight

from zoloss_cli.api.fit import Weighting
from zoloss_cli.errors import DataError


@pytest.fixture
def rare(table):
    """190 of one class, 10 of another that is hard to tell from them."""
    rng = np.random.default_rng(4)
    y = np.arange(200) % 20 == 0
    X = rng.normal(size=(200, 2)) + 1.2 * y[:, None]
    rows = [f"{a:.4f},{b:.4f},{'ill' if k else 'fine'}" for (a, b), k in zip(X, y, strict=True)]
    return table("\n".join(["a,b,label", *rows]) + "\n")


def test_balanced_weights_are_those_of_scikit_learn():
    y = np.array([0] * 7 + [1] * 2 + [2] * 3)
    weights = Weighting(("balanced",)).compute(y, ["a", "b", "c"])
    np.testing.assert_allclose(weights, compute_class_weight("balanced", classes=np.arange(3), y=y))
    assert Weighting().compute(y, ["a", "b", "c"]) is None
    given = Weighting(("b=5", "c=0.5")).compute(y, ["a", "b", "c"])
    assert given.tolist() == [1.0, 5.0, 0.5]
    assert Weighting(cost_fn=4.0).compute(y[:9], ["no", "yes"]).tolist() == [1.0, 4.0]
    assert Weighting(cost_fp=3.0).compute(y[:9], ["no", "yes"]).tolist() == [3.0, 1.0]


@pytest.mark.parametrize("learner", ["pivot", "fld", "one-vs-one:fld"])
def test_dear_errors_are_avoided_and_both_rates_are_reported(zoloss, rare, learner):
    command = ["fit", rare, "--learner", learner, "--positive", "ill", "--json"]
    plain, dear = (json.loads(zoloss(*command, *more).out) for more in ([], ["--cost-fn", "25"]))
    assert dear["class_errors"][1] < plain["class_errors"][1]
    wrong = np.array(dear["class_errors"])
    assert dear["weighted_error_rate"] == pytest.approx((wrong @ [1, 25]) / (190 + 10 * 25))
    assert dear["error_rate"] == wrong.sum() / 200
    assert dear["class_weights"] == {"fine": 1.0, "ill": 25.0}
    assert dear["lower_bound"] is None
    matrix = np.array(dear["validation"]["confusion"])
    costs = matrix[0, 1] + 25 * matrix[1, 0]
    rate = costs / (matrix[0].sum() + 25 * matrix[1].sum())
    assert dear["validation"]["weighted_error_rate"] == pytest.approx(rate)
    assert dear["validation"]["class_error_rates"][1] < plain["validation"]["class_error_rates"][1]
    assert "class_weights" not in plain
    assert plain["baseline"] == {"class": "fine", "errors": 10, "error_rate": 10 / 200}
    assert dear["baseline"]["weighted_class"] == "ill"  # its weight is 250, that of the others 190
    assert dear["baseline"]["weighted_error_rate"] == pytest.approx(190 / 440)
    if learner == "fld":
        text = zoloss("fit", rare, "--learner", "fld", "--class-weight", "balanced").out
        assert "% of the weight of the training samples is misclassified" in text
        assert "weights   'fine' 0.5263, 'ill' 10" in text


def test_baselines_stand_beside_errors_by_the_same_weights(zoloss, rare):
    """Errors on 'ill' cost so much that always predicting it is best, and nothing else is: 190 / 10,190."""
    command = ["fit", rare, "--learner", "majority", "--class-weight", "ill=1000"]
    facts = json.loads(zoloss.ok(*command, "--json").out)
    assert facts["validation"]["weighted_error_rate"] == pytest.approx(190 / 10190)
    assert facts["baseline"]["weighted_error_rate"] == pytest.approx(190 / 10190)
    text = zoloss.ok(*command).out
    assert (
        "5.00 % errors if 'fine' is always predicted, 1.86 % by weight ('fine' 1, 'ill' 1000) if 'ill' is"
        in text
    )
    assert "by weight, 1.86 % on held-out samples is no better than always predicting 'ill' (1.86 %)" in text


def test_weights_say_the_same_as_repeated_rows(zoloss, rare, table):
    """No linear rule has a smaller loss: the proved optimum is that of a table with each row five times."""
    lines = rare.read_text().splitlines()
    few = [lines[0], *[line for line in lines[1:] if line.endswith("ill")], *lines[2:20]]
    small = table("\n".join(few) + "\n", "small.csv")
    often = table("\n".join([*few, *[line for line in few if line.endswith("ill")] * 4]) + "\n", "often.csv")
    command = ["--learner", "certify", "--positive", "ill", "--no-validate", "--json", "--scale", "none"]
    weighted = json.loads(zoloss("fit", small, *command, "--class-weight", "ill=5").out)
    repeated = json.loads(zoloss("fit", often, *command).out)
    assert repeated["optimal"]
    total = repeated["n"]
    assert weighted["weighted_error_rate"] == pytest.approx(repeated["errors"] / total)
    assert weighted["weighted_lower_bound"] == pytest.approx(repeated["lower_bound"] / total)


REFUSED = [
    (["--class-weight", "il=3"], 3, "there is no class 'il'; did you mean 'ill'?"),
    (["--class-weight", "ill=3", "--cost-fn", "2"], 2, "set the same weights; give one of them"),
    (["--class-weight", "ill"], 2, "write balanced, or CLASS=WEIGHT with a number above 0"),
    (["--class-weight", "ill=nan"], 2, "write balanced, or CLASS=WEIGHT with a number above 0"),
    (["--class-weight", "ill=1", "--class-weight", "ill=2"], 2, "'ill' is given more than once"),
    (["--class-weight", "balanced", "--class-weight", "ill=2"], 2, "give nothing else"),
    (["--cost-fp", "-1"], 2, "--cost-fp: must be a number above 0"),
    (
        ["--cost-fn", "2", "--learner", "lr"],
        2,
        "the learner 'lr' does not support sample weights; these do: rcd-plain",
    ),
    (["--cost-fn", "2", "--learner", "one-vs-one:lr"], 2, "takes no sample weights"),
]


def test_wrong_weights_are_refused_in_a_sentence(zoloss, rare, tmp_path):
    for options, code, sentence in REFUSED:
        refused(zoloss("fit", rare, *options, "--model", tmp_path / "m.json"), code, sentence)
        assert not (tmp_path / "m.json").exists()


def test_costs_are_for_two_classes():
    with pytest.raises(DataError, match="are for two classes, but there are 3"):
        Weighting(cost_fp=2.0).compute(np.arange(3), ["a", "b", "c"])
