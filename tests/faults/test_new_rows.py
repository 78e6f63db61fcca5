"""New rows that a model cannot predict: one sentence each, nothing written."""

import csv
import io

from own_rows import refused


def test_new_rows_that_do_not_fit_the_model(zoloss, table, model, tmp_path):
    out = tmp_path / "p.csv"
    for text, *parts in (
        ("A,colour\n1,red\n", "has no column 'a'; did you mean 'A'?"),
        ("b\n1\n", "has no column 'a'", "has no column 'colour'"),
        ("a,colour\n1,red\n2,rde\n", ":3: column 'colour' holds 'rde'", "did you mean 'red'?"),
        ("a,colour\n1,red\n,red\n", ":3: column 'a' has no value"),
        ("a,colour\n1,red\n1\n", ":3: 1 fields where the header has 2"),
        ("a,colour\n", "a header but no rows"),
        ("a,a,colour\n1,1,red\n", "the column 'a' 2 times"),
    ):
        new = table(text, "new.csv")
        ended = zoloss("predict", model, new, "--out", out, "--unknown", "error")
        refused(ended, 3, str(new), *parts, faults=None)
        assert not out.exists()


def test_a_row_without_a_prediction_is_blank_and_says_why(zoloss, table, model):
    reasons = {
        "2,rde": "column 'colour' holds 'rde', a level unseen in training; did you mean 'red'?",
        "x,red": "column 'a' holds the text 'x' where a number is needed",
        "inf,red": "column 'a' is inf, not a finite number",
        ",red": "column 'a' has no value",
        "1,": "column 'colour' has no value",
    }
    ended = zoloss("predict", model, table("\n".join(["a,colour", "1,red", *reasons, "3,blue\n"]), "new.csv"))
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [bool(each["prediction"]) for each in rows] == [True, *[False] * 5, True]
    assert [bool(each["score"]) for each in rows] == [True, *[False] * 5, True]
    assert [each["reason"] for each in rows] == ["", *reasons.values(), ""]
    said = "5 of 7 rows have no prediction; the column 'reason' says why, as in line 3: "
    assert said + reasons["2,rde"] in ended.err
    alone = table("a,colour\n,red\n", "alone.csv")
    refused(zoloss("predict", model, alone), 3, f"{alone}:2: column 'a' has no value")


def test_a_class_that_the_model_does_not_know_is_an_error_of_its_own(zoloss, table, model):
    ended = zoloss("predict", model, table("a,colour,label\n1,red,x\n1,red,z\n", "new.csv"))
    assert len(ended.out.splitlines()) == 3
    assert "1 errors in 2 rows with a label (50.00 %)" in ended.err
    assert (
        ":3: column 'label' holds the class 'z', which the model does not know; 1 row with such classes"
        in ended.err
    )


def test_new_rows_out_of_any_scale(zoloss, table, tmp_path):
    new = table("a\n1e-9\n1.7e308\n", "new.csv")
    for learner, label, n_columns in (("fld", "y", 3), ("one-vs-one:fld", "z", 5)):
        model = tmp_path / f"{label}.json"
        tiny = table(f"a,label\n1e-9,x\n2e-9,y\n4e-9,{label}\n")
        assert zoloss("fit", tiny, "--learner", learner, "--model", model).code == 0
        last = zoloss("predict", model, new).out.splitlines()[2]
        assert last == "," * (n_columns - 1) + "the values are too large for a finite score"
        ended = zoloss("predict", model, new, "--unknown", "error")
        refused(ended, 3, ":3: the values are too large for a finite")


def test_rows_without_a_label_are_predicted_but_not_counted(zoloss, table, model):
    ended = zoloss.ok("predict", model, table("label,colour,a\n,red,1\nx,red,5\n", "new.csv"))
    assert len(ended.out.splitlines()) == 3
    assert "errors in 1 rows with a label" in ended.err
