"""`zoloss fit --learner scoring`: the card on a terminal and in files, its model, and bad input."""

from __future__ import annotations

import html
import json

import numpy as np
import pandas as pd
import pytest
from own_rows import build_clouds, refused, write_clouds

QUICK = ("--learner", "scoring", "--set", "steps=20")
HOSTILE = "<b>&amp;|_$\\"


@pytest.fixture
def patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    n = 120
    frame = pd.DataFrame({"age": rng.integers(20, 90, n), "sex": rng.choice(["male", "female"], n)})
    frame[HOSTILE] = rng.integers(0, 3, n)
    frame["ill"] = np.where(frame["age"] + 20 * frame[HOSTILE] + rng.normal(0, 10, n) > 75, "yes", "no")
    frame.to_csv("patients.csv", index=False)
    return frame


def fit(zoloss, *more):
    return zoloss("fit", "patients.csv", "--label", "ill", *QUICK, *more)


def test_a_card_is_shown_with_its_risks(zoloss, patients):
    ended = fit(zoloss, "--max-terms", 3, "--max-points", 4, "--json", "--no-validate")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    card = found["card"]
    assert found["optimal"]
    assert found["proof"] == "all supports"
    assert found["scale"] == "none"
    assert len(card["terms"]) <= 3
    totals = np.full(len(patients), float(card["start"]))
    for term in card["terms"]:
        name, _, cut = term["condition"].partition(" >= ")
        column = patients["sex"] == name[4:] if name.startswith("sex=") else patients[name] >= float(cut)
        totals += term["points"] * column
    sick = patients["ill"] == "yes"
    assert found["errors"] == int(((totals >= card["threshold"]) != sick).sum())
    assert sum(row["samples"] for row in card["totals"]) == len(patients)
    for row in card["totals"]:
        own = (totals >= row["low"]) & (totals <= row["high"])
        assert (row["samples"], row["positives"]) == (own.sum(), (own & sick).sum())
        assert row["interval"][0] <= row["risk"] <= row["interval"][1]
    text = fit(zoloss, "--max-terms", 3, "--max-points", 4)
    assert (
        f"every rule of at most 3 terms with points from -4 to 4 makes at least {found['errors']} errors"
        in text.out
    )
    assert "validated " in text.out
    assert f"the points of the conditions that hold sum up to {card['threshold']} or more" in text.out


def test_totals_start_at_0_and_risks_rise_on_held_out_samples(zoloss, patients):
    """Each sample is on the side of the threshold on which the card of its fold predicted it."""
    command = ["--positive", "no", "--max-terms", 4, "--json"]  # the older, the more ill: negative points
    found = json.loads(fit(zoloss, *command).out)
    card, matrix = found["card"], np.array(found["validation"]["confusion"])
    repeats = found["validation"]["repeats"]
    assert repeats > 1
    assert min(term["points"] for term in card["terms"]) < 0 < card["start"]
    assert card["totals"][0]["low"] >= 0
    assert card["held_out"]
    risks = [row["risk"] for row in card["totals"]]
    assert risks == sorted(risks)
    for side, is_side in ((0, False), (1, True)):
        rows = [row for row in card["totals"] if (row["low"] >= card["threshold"]) == is_side]
        assert sum(row["samples"] for row in rows) == matrix[:, side].sum()
        assert sum(row["positives"] for row in rows) == matrix[1, side]
    shares = np.array([row["positives"] / max(row["samples"], 1) for row in card["totals"]])
    counts = [row["samples"] for row in card["totals"]]
    assert np.average(risks, weights=counts) == pytest.approx(np.average(shares, weights=counts))
    text = fit(zoloss, *command[:-1], "--no-validate").out
    assert f"start{card['start']:+d}" in text.replace(" ", "")
    assert f"where {card['start']} and the points of the conditions" in text
    assert "(training samples by their total; on new samples, risks may differ; risk: " in text
    trained = json.loads(fit(zoloss, *command, "--no-validate").out)["card"]["totals"]
    assert sum(row["samples"] for row in trained) == len(patients)
    assert [row["risk"] for row in trained] == sorted(row["risk"] for row in trained)


def test_a_bound_of_0_is_none(zoloss, table, tmp_path):
    """With a condition between any two samples, none is unavoidable."""
    own = ["--max-terms", 1, "--set", "nodes=0", "--set", "max_thresholds=60", "--out", tmp_path / "card.md"]
    ended = zoloss("fit", table(write_clouds(build_clouds(60))), *QUICK, *own, "--no-validate")
    assert "bound     no bound above 0 is known: optimality not proved; more nodes (--set nodes=)" in ended.out
    assert "misclassifies 0" not in (tmp_path / "card.md").read_text()


def test_a_card_is_written_and_escaped(zoloss, patients, tmp_path):
    contents = {}
    for name in ("card.html", "card.tex", "card.md", "card.svg", "card.png"):
        ended = fit(zoloss, "--require", HOSTILE, "--no-validate", "--out", name)
        assert ended.code == 0, ended.err
        assert f"the card is in {name}" in ended.err
        contents[name] = (tmp_path / name).read_bytes()
    assert f"<td>{html.escape(HOSTILE)} &gt;= ".encode() in contents["card.html"]
    assert HOSTILE.encode() not in contents["card.html"]
    escaped = rb"\textless{}b\textgreater{}\&amp;\textbar{}\_\$\textbackslash{}"
    assert escaped in contents["card.tex"]
    assert b"<b>" not in contents["card.md"]
    again = fit(zoloss, "--no-validate", "--out", name)
    assert (again.code, again.out) == (7, "")
    assert f"{name} exists; --force overwrites it" in again.err
    assert fit(zoloss, "--no-validate", "--out", name, "--force").code == 0


def test_a_model_predicts_as_it_was_fitted(zoloss, patients, tmp_path):
    ended = fit(
        zoloss, "--no-validate", "--model", "mine.json", "--monotone", "age:+", "--forbid", "sex", "--json"
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    predicted = zoloss.ok("predict", "mine.json", "patients.csv")
    assert f"{found['errors']} errors in 120 rows" in predicted.err
    content = json.loads((tmp_path / "mine.json").read_text())
    assert content["learned"]["kind"] == "scoring"
    assert content["parameters"]["monotone"] == ["age:+"]
    for key, value, words in (
        ("features", [99], "features"),
        ("points", [2**60], "too large"),
        ("cuts", [], "cuts"),
    ):
        changed = json.loads((tmp_path / "mine.json").read_text())
        changed["learned"][key] = value * len(changed["learned"]["points"])
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        ended = zoloss("predict", "changed.json", "patients.csv", "--trust")
        refused(ended, 6, "'learned'", words, faults=None)


BAD_OPTIONS = [
    (["--max-terms", "50"], 3, "--max-terms is 50, more than the 7 conditions of its 3 columns"),
    (["--require", "agge"], 3, "require: there is no feature 'agge'; did you mean 'age'?"),
    (["--require", "age", "--forbid", "age"], 3, "'age' is both required and forbidden"),
    (
        ["--require", "age,sex", "--max-terms", "1"],
        3,
        "2 columns are required, and at most 1 terms are allowed",
    ),
    (["--monotone", "age"], 3, "monotone: 'age' is not a name with a sign"),
    (["--monotone", "age:+,age:-"], 3, "'age' has both signs"),
    (["--set", "penalty=-1"], 2, "--set penalty: input should be greater than or equal to 0"),
    (["--set", "conditions=row"], 2, "did you mean 'raw'?"),
    (["--scale", "minmax"], 2, "--scale: the conditions of 'scoring' are in the table's units"),
    (["--out", "card.docx"], 7, "ends in .docx; a card is written as one of .html, .tex, .md"),
    (["--max-terms", "3", "--set", "max_terms=4"], 2, "'max_terms' is set more than once"),
]


def test_bad_input_is_one_sentence(zoloss, patients, tmp_path):
    for options, code, sentence in BAD_OPTIONS:
        refused(fit(zoloss, *options), code, sentence)
    for option in (["--max-terms", "3"], ["--out", "card.html"]):
        ended = zoloss("fit", "patients.csv", "--label", "ill", "--learner", "pivot", *option)
        refused(ended, 2, "add --learner scoring")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


def test_tables_without_conditions(zoloss, table):
    same = table("a,b,label\n" + "1,x,yes\n1,x,no\n" * 10, "same.csv")
    refused(zoloss("fit", same, *QUICK), 3, "all samples are equal")
    many = table(
        "a,label\n" + "".join(f"name{i},{'yes' if i % 2 else 'no'}\n" for i in range(10_000)), "many.csv"
    )
    refused(zoloss("fit", many, *QUICK), 3, "10000 levels")
