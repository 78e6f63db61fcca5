"""Model files that were edited, cut short or are something else: one sentence each."""

from __future__ import annotations

import json

import pytest
from own_rows import COLOURS, SEVERAL, refused

from zoloss_cli.api.model_files import read_model
from zoloss_cli.errors import ModelError


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("format", 2, "'format' is 2, but zoloss"),
        ("format", None, "'format' is None"),
        ("kind", "tree", "'kind'"),
        ("weights", [1.0], "'weights' has 1 numbers for 3 features"),
        ("weights", [1.0, float("nan"), 2.0], "'weights.1': input should be a finite number"),
        ("weights", [1.0, "2", 2.0], "'weights.1': input should be a valid number (got '2')"),
        ("weights", [1.0, 2.0, 2.0], "'bias' does not follow from weights"),
        ("weights", [1e308, 1e308, 1e308], "'bias' does not follow"),
        ("bias", 0.5, "'bias' does not follow"),
        ("bias", float("inf"), "'bias': input should be a finite number"),
        ("score_at_centre", 10**400, "'score_at_centre'"),
        ("scaling", {"how": "standard", "centre": [0.0], "spread": [1.0]}, "'scaling.centre' has 1 numbers"),
        ("scaling", {"how": "standard", "centre": [0.0]}, "the key 'scaling.spread' is missing"),
        ("classes", ["x"], "'classes'"),
        ("classes", ["y", "y"], "'classes' names 'y' twice"),
        ("positive", "x", "'positive' is not the second of 'classes'"),
        ("labels", ["x", "w"], "'labels' does not hold the positive class"),
        ("features", ["a"], "'features' does not name the features of 'columns'"),
        ("columns", [], "'columns'"),
        ("columns", [{"name": "a", "kind": "category"}], "'a' is a category, but its levels do not match"),
        ("columns", [{"name": "a", "kind": "number"}] * 2, "names a column or a level more than once"),
        ("columns", [{"name": "a", "kind": "date"}], "'columns.0.kind'"),
        ("missing", "skip", "'missing'"),
        ("missing", "impute", "'a' has a 'fill' that does not match its kind and 'missing'"),
        ("columns", [{"name": "a", "kind": "number", "fill": 1.0}], "'a' has a 'fill' that does not match"),
        (
            "columns",
            [{"name": "a", "kind": "number", "indicator": True}],
            "'a' has an 'indicator', but 'missing'",
        ),
        ("id", 5, "'id': input should be a valid string"),
        ("sha256", 5, "'sha256': input should be a valid string"),
        ("sha256", "", "the file was changed after it was fitted"),
        ("seed", 77, "the file was changed after it was fitted; fit the model again, or"),
        ("weight", [1.0], "unknown key 'weight'; did you mean 'weights'?"),
    ],
)
def test_models_that_were_edited(zoloss, table, model, key, value, part):
    content = json.loads(model.read_text())
    model.write_text(json.dumps(content | {key: value}))
    refused(zoloss("predict", model, table(COLOURS)), 6, str(model), part)


@pytest.mark.parametrize(
    ("place", "fill"), [(0, "red"), (0, float("inf")), (0, None), (1, 1.0), (1, "pink"), (1, None)]
)
def test_models_whose_fill_is_none_of_the_column(zoloss, table, tmp_path, place, fill):
    path = tmp_path / "m.json"
    own = table(COLOURS)
    assert zoloss("fit", own, "--learner", "fld", "--missing", "impute", "--model", path).code == 0
    assert zoloss("predict", path, own).code == 0
    content = json.loads(path.read_text())
    content["columns"][place]["fill"] = fill
    path.write_text(json.dumps(content))
    refused(zoloss("predict", path, own), 6, "fill", faults=None)


def test_models_without_a_key(zoloss, table, model):
    content = json.loads(model.read_text())
    for key in content.keys() - {"sha256"}:
        model.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        refused(zoloss("predict", model, table(COLOURS)), 6, f"the key '{key}' is missing")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ":1: not valid JSON"),
        ('{"format": 1,\n "kind"}', ":2: not valid JSON"),
        ("[]", "is not a model file"),
        ("{}", "is not a model file"),
        ("3", "is not a model file"),
        ("[" * 100_000, "not"),
        (b"\xff\xfe", "is not a model file"),
        (COLOURS, ":1: not valid JSON"),
    ],
)
def test_files_that_are_no_models(zoloss, table, text, part):
    refused(zoloss("predict", table(text, "m.json"), table(COLOURS)), 6, part)


def test_model_paths(zoloss, table, model, tmp_path):
    refused(zoloss("predict", tmp_path / "mm.json", table(COLOURS)), 6, "there is no model file", "'m.json'?")
    refused(zoloss("predict", tmp_path, table(COLOURS)), 6, "cannot be read: Is a directory")


def first_member(content: dict, **changes) -> dict:
    members = content["learned"]["members"]
    return content["learned"] | {"members": [members[0] | changes, *members[1:]]}


LINEAR = {"kind": "linear", "bias": 0.0, "weights": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("learner", "change", "part"),
    [
        ("ecc:stump", lambda c: {"versions": c["versions"] | {"stump": "1"}}, "'versions' has '1' for 'stump'"),
        ("ecc:stump", lambda c: {"versions": {"ecc": "2"}}, "'versions' has None for 'stump', but zoloss"),
        ("ecc:stump", lambda c: {"versions": 2}, "'versions': input should be a valid dict"),
        ("ecc:stump", lambda c: {"learner": "eccc"}, "unknown learner 'eccc'; did you mean 'ecc'?"),
        ("ecc:stump", lambda c: {"learner": "stump"}, "'parameters'"),
        ("ecc:stump", lambda c: {"learner": "adaboost"}, "'parameters'"),
        ("ecc:stump", lambda c: {"parameters": c["parameters"] | {"rounds": 0}}, "greater than or equal to 1"),
        ("ecc:stump", lambda c: {"parameters": c["parameters"] | {"base": "stmp"}}, "did you mean 'stump'?"),
        ("ecc:stump", lambda c: {"classes": ["x", "y"], "positive": "y"}, "there are 3 words but 2 classes"),
        ("ecc:stump", lambda c: {"classes": ["x", "y", "y"]}, "'classes' names 'y' twice"),
        (
            "ecc:stump",
            lambda c: {"classes": ["x", "y", "w"]},
            "of more than two 'classes', 'labels' must hold all",
        ),
        ("ecc:stump", lambda c: {"positive": "x"}, "of more than two 'classes'"),
        (
            "ecc:stump",
            lambda c: {"scaling": c["scaling"] | {"spread": [1.0]}},
            "'scaling.spread' has 1 numbers",
        ),
        ("ecc:stump", lambda c: {"learned": LINEAR}, "the kind 'linear' stands where 'ecc' needs 'code'"),
        (
            "ecc:stump",
            lambda c: {"learned": c["learned"] | {"members": [LINEAR] * 4}},
            "the kind 'linear' stands where 'stump' needs 'stump'",
        ),
        ("ecc:stump", lambda c: {"learned": {"kind": "tree"}}, "'learned': input tag 'tree'"),
        (
            "ecc:stump",
            lambda c: {"learned": c["learned"] | {"members": c["learned"]["members"][1:]}},
            "there are 4 letters of a word but 3 members but 4 coefficients",
        ),
        ("ecc:stump", lambda c: {"learned": c["learned"] | {"words": ["+-+x"] * 3}}, "words.0': string should"),
        ("ecc:stump", lambda c: {"learned": first_member(c, feature=2)}, "2 is not one of the 2 features"),
        ("ecc:stump", lambda c: {"learned": first_member(c, feature=-1)}, "-1 is not one of the 2 features"),
        (
            "ecc:stump",
            lambda c: {"learned": first_member(c, direction=2)},
            "direction': input should be -1 or 1",
        ),
        ("ecc:stump", lambda c: {"learned": first_member(c, threshold=float("nan"))}, "a finite number"),
        ("ecc:stump", lambda c: {"learned": first_member(c, more=1)}, "unknown key 'learned.code.members.0"),
        ("one-vs-all:fld", lambda c: {"learned": first_member(c, weights=[1.0])}, "1 weights but 2 features"),
        ("one-vs-all:adaboost-stump", lambda c: {"learned": first_member(c, features=[0])}, "1 features but"),
        ("one-vs-one:svm-perceptron", lambda c: {"points": c["points"][1:]}, "is not one of the"),
        ("one-vs-one:svm-perceptron", lambda c: {"points": [[1.0]]}, "'learned': "),
        ("one-vs-one:svm-perceptron", lambda c: {"learned": first_member(c, points=[])}, "0 points but"),
    ],
)
def test_classifiers_that_were_edited(zoloss, table, classifier, learner, change, part):
    path = classifier(learner)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | change(content)))
    refused(zoloss("predict", path, table(SEVERAL)), 6, str(path), part, faults=None)


def test_classifiers_without_a_key(zoloss, table, classifier):
    path = classifier("ecc:stump")
    content = json.loads(path.read_text())
    for key in content.keys() - {"sha256"}:
        path.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        ended = zoloss("predict", path, table(SEVERAL))
        refused(ended, 6, f"the key '{key}' is missing", faults=None)


def change_each_digit(text: str) -> list[str]:
    """The text with one digit changed, once for each of its digits."""
    digits = [(at, digit) for at, digit in enumerate(text) if digit.isdigit()]
    return [f"{text[:at]}{(int(digit) + 1) % 10}{text[at + 1 :]}" for at, digit in digits]


@pytest.mark.parametrize("learner", ["fld", "ecc:stump", "one-vs-one:svm-perceptron"])
def test_every_changed_digit_is_found(zoloss, table, classifier, tmp_path, learner):
    if learner == "fld":
        path = tmp_path / "m.json"
        assert zoloss("fit", table(COLOURS), "--learner", learner, "--model", path).code == 0
    else:
        path = classifier(learner)
    text = path.read_text()
    assert not read_model(path).notes
    changed = change_each_digit(text)
    assert len(changed) > 100
    for other in changed:
        path.write_text(other)
        with pytest.raises(ModelError, match="json"):
            read_model(path)


def test_a_file_that_is_only_laid_out_anew_was_not_changed(zoloss, table, model):
    content = json.loads(model.read_text())
    before = zoloss("predict", model, table(COLOURS))
    model.write_text(json.dumps(dict(reversed(content.items())), indent=7))
    assert zoloss("predict", model, table(COLOURS)) == before


def test_a_model_that_was_changed_on_purpose_can_be_trusted(zoloss, table, classifier):
    path = classifier("ecc:stump")
    before = zoloss("predict", path, table(SEVERAL))
    content = json.loads(path.read_text())
    content["learned"]["coefficients"][0] += 1.0
    path.write_text(json.dumps(content))
    refused(zoloss("predict", path, table(SEVERAL)), 6, "was changed after it was fitted", "--trust")
    ended = zoloss("predict", path, table(SEVERAL), "--trust")
    assert ended.code == 0
    assert f"{path} was changed after it was fitted, and is used as it is" in ended.err
    assert ended.out != before.out


def test_a_model_without_a_digest_is_read_with_a_note(zoloss, table, model):
    before = zoloss("predict", model, table(COLOURS))
    model.write_text(json.dumps({k: v for k, v in json.loads(model.read_text()).items() if k != "sha256"}))
    ended = zoloss("predict", model, table(COLOURS))
    assert (ended.code, ended.out) == (0, before.out)
    assert ended.err == (
        f"zoloss: {model} has no key 'sha256', so it is unknown whether it was changed since it was fitted\n"
        + before.err
    )
