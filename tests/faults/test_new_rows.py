"""New rows that a model cannot predict: one sentence each, nothing written."""

from __future__ import annotations

import pytest
from own_rows import refused


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A,colour\n1,red\n", ["has no column 'a'; did you mean 'A'?"]),
        ("b\n1\n", ["has no column 'a'", "has no column 'colour'"]),
        ("a,colour\n1,red\n2,rde\n", [":3: column 'colour' holds 'rde'", "did you mean 'red'?"]),
        ("a,colour\n1,red\nx,red\n", [":3: column 'a' holds the text 'x' where a number is needed"]),
        ("a,colour\n1,red\n,red\n", [":3: column 'a' has no value"]),
        ("a,colour\n1,\n", [":2: column 'colour' has no value"]),
        ("a,colour\n1,red\n1\n", [":3: 1 fields where the header has 2"]),
        ("a,colour\n", ["a header but no rows"]),
        ("a,a,colour\n1,1,red\n", ["the column 'a' 2 times"]),
        ("a,colour,label\n1,red,z\n", [":2: column 'label' holds the class 'z'", "valid: x, y"]),
        ("", ["is empty"]),
    ],
)
def test_new_rows_that_do_not_fit_the_model(zoloss, table, model, tmp_path, text, parts):
    new, out = table(text, "new.csv"), tmp_path / "p.csv"
    refused(zoloss("predict", model, new, "--out", out), 3, str(new), *parts, faults=None)
    assert not out.exists()


def test_new_rows_out_of_any_scale(zoloss, table, tmp_path):
    model = tmp_path / "m.json"
    tiny = table("a,label\n1e-9,x\n2e-9,y\n4e-9,y\n")
    assert zoloss("fit", tiny, "--learner", "fld", "--model", model).code == 0
    new = table("a\n1e-9\n1.7e308\n", "new.csv")
    refused(zoloss("predict", model, new), 3, ":3: the values are too large for a finite score")


def test_rows_without_a_label_are_predicted_but_not_counted(zoloss, table, model):
    ended = zoloss("predict", model, table("label,colour,a\n,red,1\nx,red,5\n", "new.csv"))
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 3
    assert "errors in 1 rows with a label" in ended.err


def test_new_rows_that_no_classifier_can_place(zoloss, table, classifier, tmp_path):
    tiny = table("a,label\n1e-9,x\n2e-9,y\n4e-9,z\n")
    assert zoloss("fit", tiny, "--learner", "one-vs-one:fld", "--model", tmp_path / "tiny.json").code == 0
    new = table("a\n1e-9\n1.7e308\n", "new.csv")
    refused(zoloss("predict", tmp_path / "tiny.json", new), 3, ":3: the values are too large for a finite")
    path = classifier("ecc:stump")
    unknown = table("a,b,label\n1,2,x\n1,2,w\n", "new.csv")
    refused(zoloss("predict", path, unknown), 3, ":3: column 'label' holds the class 'w'", "valid: x, y, z")


def test_values_beyond_computing_are_one_sentence(zoloss, table, classifier):
    model = classifier("one-vs-one:fld")
    new = table("a,b\n1,2\n1e308,3\n", "new.csv")
    refused(zoloss("predict", model, new), 3, str(new), "too large")
