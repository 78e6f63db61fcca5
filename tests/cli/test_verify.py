"""`zoloss fit --certificate` and `zoloss verify`, and what they say about bad input."""

from __future__ import annotations

import gzip
import json

import pandas as pd
import pytest
from own_rows import refused

FIT = ("fit", "iris", "--positive", "Iris-versicolor", "--features", "sepal_width,petal_width", "--no-validate")
PROOF = "proof.json.gz"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_proof_is_written_and_accepted_and_refused_if_it_was_changed(zoloss, here):
    ended = zoloss.ok(*FIT, "--learner", "certify", "--set", "steps=500", "--certificate", PROOF)
    assert "at least 36 errors, by cones of directions: proved optimal" in ended.out
    assert "zoloss verify proof.json.gz" in ended.err
    checked = zoloss.ok("verify", PROOF, "iris")
    assert "at least 36 errors: proved" in checked.out
    assert "makes 36 errors: proved optimal" in checked.out
    refused(zoloss(*FIT, "--learner", "certify", "--certificate", PROOF), 7, "proof.json.gz exists")
    content = json.loads(gzip.decompress((here / PROOF).read_bytes()))
    content["bound"] += 1
    (here / "changed.json").write_text(json.dumps(content))  # it need not be compressed
    ended = zoloss("verify", "changed.json", "iris")
    assert (ended.code, ended.out) == (6, "")
    assert ended.err == "zoloss: changed.json: does not prove its bound: it claims 37, and proves 36\n"


def write_table(path, lines):
    path.write_text("\n".join(["x,z,label", *lines]) + "\n")
    return path.name


def test_tables_and_weights_that_have_no_proof(zoloss, here):
    """Each is refused in one sentence, before the search and without a file."""
    (here / "none.csv").write_text("label\na\nb\n")
    inf = write_table(here / "inf.csv", ["1,2,a", "inf,3,b", "2,4,a"])
    nan = write_table(here / "nan.csv", ["1,2,a", "nan,3,b", "2,4,a"])
    many = write_table(here / "many.csv", [f"{i % 7},{i % 11},{'ab'[i % 2]}" for i in range(100_001)])
    few = write_table(here / "few.csv", ["1,2,a", "2,3,b", "2,4,a", "1,1,b"])
    for arguments, words in (
        (("none.csv",), "none.csv has a label column but no features"),
        ((inf,), "inf.csv:3: column 'x' is inf, not a finite number"),
        ((nan,), "nan.csv:3: column 'x' has no value"),
        ((many,), "many.csv has 100,001 samples, and a certificate covers at most 100,000"),
        (
            (few, "--cost-fp", "1", "--cost-fn", "3.14159265358979"),
            "are not integer multiples of a common unit",
        ),
        ((few, "--learner", "pivot"), "add --learner certify"),
    ):
        ended = zoloss("fit", "--learner", "certify", "--no-validate", "--certificate", PROOF, *arguments)
        assert ended.code != 0
        assert (ended.out, ended.err.count("\n")) == ("", 1), ended.err
        assert words in ended.err
        assert not (here / PROOF).exists()


def test_time_that_is_too_short_for_a_search_proves_what_equal_rows_do(zoloss, here):
    fit = ("fit", "iris", "--positive", "Iris-versicolor", "--no-validate")
    ended = zoloss.ok(*fit, "--learner", "certify", "--certificate", PROOF, "--time-limit", "0.0001")
    assert "bound     none was proved: the time limit was reached" in ended.out
    assert "proves nothing yet: allow more time" in ended.err
    assert "at least 0 errors: proved (equal rows)" in zoloss("verify", PROOF, "iris").out
    data = write_table(here / "equal.csv", ["1,2,a", "1,2,b", "1,2,a"])
    assert (
        zoloss("fit", data, "--learner", "certify", "--no-validate", "--certificate", "equal.json.gz").code == 0
    )
    assert "at least 1 error: proved (equal rows)" in zoloss("verify", "equal.json.gz", data).out


def test_files_that_are_cut_off_swollen_or_nested(zoloss, here):
    content = gzip.compress(json.dumps({"format": "zoloss certificate", "version": 3}).encode())
    for name, bad, words in (
        ("cut.json.gz", content[:-9], "is damaged: it is cut off"),
        ("swollen.json.gz", gzip.compress(b" " * 11_000_000), "unpacks to more than 10,000,000 bytes"),
        ("bad.json.gz", b"nothing", "is damaged, or not a certificate"),
        ("fields.json.gz", content, "is damaged: KeyError: 'table'"),
        ("old.json", b'{"format": "zoloss certificate", "version": 1}', "has format version 1"),
        ("half.json", b'{"bound": 0.5}', "has the number 0.5: its numbers must be integers"),
    ):
        (here / name).write_bytes(bad)
        refused(zoloss("verify", name, "iris"), 6, f"zoloss: {name}: ", words)


def test_a_certificate_of_other_data(zoloss, here):
    data = write_table(here / "one.csv", ["1,2,a", "2,3,b", "2,4,a", "1,1,b", "3,3,a"])
    assert zoloss("fit", data, "--learner", "certify", "--no-validate", "--certificate", PROOF).code == 0
    other = write_table(here / "two.csv", ["1,2,a", "2,3,b", "2,4,a", "1,1,b", "3,4,a"])
    for name, words in (
        (other, "proof.json.gz: is about other data than this table"),
        ("heart", "is about other data"),
        ("absent.csv", "there is no file absent.csv"),
    ):
        ended = zoloss("verify", PROOF, name)
        assert ended.code != 0
        assert (ended.out, ended.err.count("\n")) == ("", 1), ended.err
        assert words in ended.err


def test_the_lines_say_what_the_bound_is_about(zoloss, here):
    (here / "own.csv").write_text("id,x,kind,label\n1,0.5,a,n\n2,0.5,a,y\n3,?,b,y\n4,2.5,b,n\n5,1,a,y\n")
    options = ("--drop", "id", "--missing", "impute", "--cost-fn", "2", "--cost-fp", "1")
    zoloss.ok("fit", "own.csv", "--learner", "certify", *options, "--no-validate", "--certificate", PROOF)
    lines = zoloss("verify", PROOF, "own.csv").out.splitlines()
    assert lines[:4] == [
        "samples   5; 3 are positive: 'label' is 'y'",
        "features  x, kind=a, kind=b (not used: id)",
        "missing   values are read as x: 0.75",
        "weights   an error on a positive sample counts 2, on another 1",
    ]
    assert lines[4].startswith("bound     every linear rule loses at least 1 of weight: proved")


def test_tables_of_other_kinds_are_checked_too(zoloss, here):
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.30000000000000004, 4.5], "label": ["a", "b", "a", "b"]})
    for name, write in (("csv.gz", frame.to_csv), ("parquet", frame.to_parquet), ("xlsx", frame.to_excel)):
        write(f"own.{name}", index=False)
        fit = ("fit", f"own.{name}", "--learner", "certify", "--no-validate")
        assert zoloss(*fit, "--certificate", f"{name}.json.gz").code == 0
        checked = zoloss("verify", f"{name}.json.gz", f"own.{name}")
        assert "makes at least 1 error: proved" in checked.out, checked.err
