"""Predictions for new tables: missing values, unknown levels, kept columns; by the rule that was fitted."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
from own_rows import refused
from sklearn.impute import SimpleImputer

LINES = "1,red,no 2,,no ,red,no 2.5,red,no 7,blue,yes 8,blue,yes ,,yes 9,green,yes"
ROWS = [line.split(",") for line in LINES.split()]
TRAINING = "id,size,colour,label\n" + "".join(f"n{i},{a},{c},{k}\n" for i, (a, c, k) in enumerate(ROWS))
NEW = "size,id,colour\n3,k1,red\n,k2,blue\n4,k3,\n5,k4,pink\n"
LEVELS = ["blue", "green", "red"]


@pytest.fixture
def fit(zoloss, table, tmp_path):
    def run(*options):
        path = tmp_path / "m.json"
        zoloss.ok("fit", table(TRAINING), "--learner", "fld", "--model", path, "--force", *options)
        return path

    return run


def read_rows(ended) -> list[dict[str, str]]:
    assert ended.code == 0, ended.err
    return list(csv.DictReader(io.StringIO(ended.out)))


def score_by_hand(model: dict, size: float, level: str | None, gaps: tuple[bool, bool]) -> float:
    """Return the score of a row from the numbers in the model file."""
    x = {"size": size, "size missing": gaps[0], "colour missing": gaps[1]}
    x |= {f"colour={each}": each == level for each in LEVELS}
    values = np.array([float(x[name]) for name in model["features"]])
    return model["score_at_centre"] + (values - model["scaling"]["centre"]) @ np.array(model["weights"])


@pytest.mark.parametrize("policy", ["impute", "indicator", "zero"])
def test_gaps_are_filled_as_the_model_says(zoloss, table, fit, policy):
    path = fit("--missing", policy, "--id", "id")
    model = json.loads(path.read_text())
    known = np.array([[float(a) if a else np.nan] for a, _, _ in ROWS])
    median = SimpleImputer(strategy="median").fit(known).statistics_[0]
    fill, mode = (0.0, None) if policy == "zero" else (median, "red")
    rows = read_rows(zoloss("predict", path, table(NEW, "new.csv")))
    wanted = [
        score_by_hand(model, 3.0, "red", (False, False)),
        score_by_hand(model, fill, "blue", (True, False)),
        score_by_hand(model, 4.0, mode, (False, True)),
        score_by_hand(model, 5.0, mode, (False, True)),  # a level that is not known, as if it were missing
    ]
    np.testing.assert_allclose([float(row["score"]) for row in rows], wanted, rtol=1e-12)
    assert [row["prediction"] for row in rows] == ["yes" if score >= 0 else "no" for score in wanted]
    assert "reason" not in rows[0]


def test_a_level_that_was_not_there_is_missing_none_or_an_error(zoloss, table, fit):
    path, new = fit("--missing", "impute", "--id", "id"), table(NEW, "new.csv")
    model = json.loads(path.read_text())
    ended = zoloss("predict", path, new)
    assert "1 row with a level of 'colour' unseen in training, read as missing values" in ended.err
    ignored = read_rows(zoloss("predict", path, new, "--unknown", "ignore"))
    assert float(ignored[3]["score"]) == pytest.approx(score_by_hand(model, 5.0, None, (False, False)))
    assert ignored[:3] == read_rows(ended)[:3]
    refused(zoloss("predict", path, new, "--unknown", "error"), 3, ":5: column 'colour' holds 'pink', a level")
    refused(zoloss("predict", path, new, "--unknown", "ignor"), 2, "--unknown", "did you mean 'ignore'?")
    numeric = fit("--missing", "impute", "--id", "id", "--drop", "colour")
    ended = zoloss("predict", numeric, new, "--unknown", "ignore")
    refused(ended, 2, "--unknown ignore: the model has no columns of text")


def test_ids_and_kept_columns_are_copied(zoloss, table, fit):
    path, new = fit("--missing", "impute", "--id", "id"), table(NEW, "new.csv")
    rows = read_rows(zoloss("predict", path, new, "--keep", "colour,size"))
    assert list(rows[0]) == ["id", "colour", "size", "prediction", "score"]
    kept = [f"{row['size']},{row['id']},{row['colour']}" for row in rows]
    assert kept == NEW.splitlines()[1:]
    refused(zoloss("predict", path, new, "--keep", "colr"), 3, "no column 'colr', which --keep names")
    odd = table("size,colour,score\n1,red,5\n", "odd.csv")
    refused(zoloss("predict", path, odd, "--keep", "score"), 2, "--keep: 'score' is also a column")


def test_a_new_table_from_standard_input(zoloss, table, fit, monkeypatch):
    path = fit("--missing", "impute", "--id", "id")
    rows = read_rows(zoloss("predict", path, table(NEW, "new.csv")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NEW.encode())))
    assert read_rows(zoloss("predict", path, "-")) == rows
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    refused(zoloss("predict", path, "-"), 3, "standard input is empty")
