"""Model files that were edited, cut short or are something else: one sentence each."""

import json

import pytest
from own_rows import COLOURS, SEVERAL, refused

from zoloss_cli.api.models import read_model
from zoloss_cli.errors import ModelError

EDITS = [
    ("format", 2, "'format' is 2, but zoloss"),
    ("kind", "tree", "'kind'"),
    ("weights", [1.0], "'weights' has 1 numbers for 3 features"),
    ("weights", [1.0, float("nan"), 2.0], "'weights.1': input should be a finite number"),
    ("weights", [1.0, "2", 2.0], "'weights.1': input should be a valid number (got '2')"),
    ("weights", [1.0, 2.0, 2.0], "'bias' does not follow from weights"),
    ("bias", float("inf"), "'bias': input should be a finite number"),
    ("score_at_centre", 10**400, "'score_at_centre'"),
    ("scaling", {"how": "standard", "centre": [0.0], "spread": [1.0]}, "'scaling.centre' has 1 numbers"),
    ("scaling", {"how": "standard", "centre": [0.0]}, "the key 'scaling.spread' is missing"),
    ("classes", ["y", "y"], "'classes' names 'y' twice"),
    ("positive", "x", "'positive' is not the second of 'classes'"),
    ("labels", ["x", "w"], "'labels' does not hold the positive class"),
    ("features", ["a"], "'features' does not name the features of 'columns'"),
    ("columns", [{"name": "a", "kind": "category"}], "'a' is a category, but its levels do not match"),
    ("columns", [{"name": "a", "kind": "number"}] * 2, "names a column or a level more than once"),
    ("columns", [{"name": "a", "kind": "date"}], "'columns.0.kind'"),
    ("missing", "skip", "'missing'"),
    ("missing", "impute", "'a' has a 'fill' that does not match its kind and 'missing'"),
    ("columns", [{"name": "a", "kind": "number", "fill": 1.0}], "'a' has a 'fill' that does not match"),
    ("columns", [{"name": "a", "kind": "number", "indicator": True}], "'a' has an 'indicator', but 'missing'"),
    ("sha256", 5, "'sha256': input should be a valid string"),
    ("seed", 77, "the file was changed after it was fitted; fit the model again, or"),
    ("weight", [1.0], "unknown key 'weight'; did you mean 'weights'?"),
]


def test_models_that_were_edited(zoloss, table, model):
    content = json.loads(model.read_text())
    for key, value, part in EDITS:
        model.write_text(json.dumps(content | {key: value}))
        refused(zoloss("predict", model, table(COLOURS)), 6, str(model), part)
    for key in content.keys() - {"sha256"}:
        model.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        refused(zoloss("predict", model, table(COLOURS)), 6, f"the key '{key}' is missing")


def test_models_whose_fill_is_none_of_the_column(zoloss, table, tmp_path):
    path, own = tmp_path / "m.json", table(COLOURS)
    assert zoloss("fit", own, "--learner", "fld", "--missing", "impute", "--model", path).code == 0
    assert zoloss("predict", path, own).code == 0
    text = path.read_text()
    for place, fill in [(0, "red"), (0, float("inf")), (0, None), (1, 1.0), (1, "pink"), (1, None)]:
        content = json.loads(text)
        content["columns"][place]["fill"] = fill
        path.write_text(json.dumps(content))
        refused(zoloss("predict", path, own), 6, "fill", faults=None)


def test_files_that_are_no_models(zoloss, table):
    for text, part in (
        ("", ":1: not valid JSON"),
        ('{"format": 1,\n "kind"}', ":2: not valid JSON"),
        ("[]", "is not a model file"),
        ("{}", "is not a model file"),
        ("3", "is not a model file"),
        ("[" * 100_000, "not"),
        (b"\xff\xfe", "is not a model file"),
        (COLOURS, ":1: not valid JSON"),
    ):
        refused(zoloss("predict", table(text, "m.json"), table(COLOURS)), 6, part)


def first_member(content: dict, **changes) -> dict:
    members = content["learned"]["members"]
    return content["learned"] | {"members": [members[0] | changes, *members[1:]]}


LINEAR = {"kind": "linear", "bias": 0.0, "weights": [1.0, 2.0]}


CLASSIFIER_EDITS = {  # by learner: what is changed, and what is wrong then
    "ecc:stump": [
        (lambda c: {"versions": c["versions"] | {"stump": "1"}}, "'versions' has '1' for 'stump'"),
        (lambda c: {"versions": {"ecc": "2"}}, "'versions' has None for 'stump', but zoloss"),
        (lambda c: {"learner": "eccc"}, "unknown learner 'eccc'; did you mean 'ecc'?"),
        (lambda c: {"learner": "stump"}, "'parameters'"),
        (lambda c: {"parameters": c["parameters"] | {"rounds": 0}}, "greater than or equal to 1"),
        (lambda c: {"parameters": c["parameters"] | {"base": "stmp"}}, "did you mean 'stump'?"),
        (lambda c: {"classes": ["x", "y"], "positive": "y"}, "there are 3 words but 2 classes"),
        (lambda c: {"classes": ["x", "y", "w"]}, "of more than two 'classes', 'labels' must hold all"),
        (lambda c: {"positive": "x"}, "of more than two 'classes'"),
        (lambda c: {"learned": LINEAR}, "'ecc' needs the kind 'code' (got 'linear')"),
        (
            lambda c: {"learned": c["learned"] | {"members": [LINEAR] * 4}},
            "'stump' needs the kind 'stump' (got 'linear')",
        ),
        (lambda c: {"learned": {"kind": "tree"}}, "'learned': input tag 'tree'"),
        (
            lambda c: {"learned": c["learned"] | {"members": c["learned"]["members"][1:]}},
            "there are 4 letters of a word but 3 members but 4 coefficients",
        ),
        (lambda c: {"learned": c["learned"] | {"words": ["+-+x"] * 3}}, "words.0': string should"),
        (lambda c: {"learned": first_member(c, feature=2)}, "2 is not one of the 2 features"),
        (lambda c: {"learned": first_member(c, direction=2)}, "direction': input should be -1 or 1"),
        (lambda c: {"learned": first_member(c, threshold=float("nan"))}, "a finite number"),
        (lambda c: {"learned": first_member(c, more=1)}, "unknown key 'learned.code.members.0"),
    ],
    "one-vs-all:fld": [(lambda c: {"learned": first_member(c, weights=[1.0])}, "1 weights but 2 features")],
    "one-vs-all:adaboost-stump": [(lambda c: {"learned": first_member(c, features=[0])}, "1 features but")],
    "one-vs-one:svm-perceptron": [
        (lambda c: {"points": c["points"][1:]}, "is not one of the"),
        (lambda c: {"learned": first_member(c, points=[])}, "0 points but"),
    ],
}


@pytest.mark.parametrize("learner", CLASSIFIER_EDITS)
def test_classifiers_that_were_edited(zoloss, table, classifier, learner):
    path = classifier(learner)
    content = json.loads(path.read_text())
    for change, part in CLASSIFIER_EDITS[learner]:
        path.write_text(json.dumps(content | change(content)))
        refused(zoloss("predict", path, table(SEVERAL)), 6, str(path), part, faults=None)
    for key in content.keys() - {"sha256"}:
        path.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        refused(zoloss("predict", path, table(SEVERAL)), 6, f"the key '{key}' is missing", faults=None)


@pytest.mark.parametrize("learner", ["one-vs-one:fld", "ecc:stump"])
def test_every_changed_digit_is_found(classifier, learner):
    path = classifier(learner)
    text = path.read_text()
    assert not read_model(path).notes
    places = [(at, digit) for at, digit in enumerate(text) if digit.isdigit()]
    assert len(places) > 100
    for at, digit in places:
        path.write_text(f"{text[:at]}{(int(digit) + 1) % 10}{text[at + 1 :]}")
        with pytest.raises(ModelError, match="json"):
            read_model(path)


def test_a_model_that_was_changed_on_purpose_can_be_trusted(zoloss, table, classifier):
    path = classifier("ecc:stump")
    before = zoloss("predict", path, table(SEVERAL))
    content = json.loads(path.read_text())
    content["learned"]["coefficients"][0] += 1.0
    path.write_text(json.dumps(content))
    refused(zoloss("predict", path, table(SEVERAL)), 6, "was changed after it was fitted", "--trust")
    ended = zoloss.ok("predict", path, table(SEVERAL), "--trust")
    assert f"{path} was changed after it was fitted, and is used as it is" in ended.err
    assert ended.out != before.out


def test_a_model_without_a_digest_is_read_with_a_note(zoloss, table, model):
    before = zoloss("predict", model, table(COLOURS))
    content = json.loads(model.read_text())
    model.write_text(json.dumps(dict(reversed(content.items())), indent=7))  # the same, laid out anew
    assert zoloss("predict", model, table(COLOURS)) == before
    del content["sha256"]
    model.write_text(json.dumps(content))
    ended = zoloss("predict", model, table(COLOURS))
    assert (ended.code, ended.out) == (0, before.out)
    assert ended.err == (
        f"zoloss: {model} has no key 'sha256', so it is unknown whether it was changed since it was fitted\n"
        + before.err
    )
