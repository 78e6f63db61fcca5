"""Model files as objects, beside what `zoloss predict` writes."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from zoloss_cli import load_model
from zoloss_cli.errors import DataError, ModelError


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """(A folder with a table of numbers and text, the table as a DataFrame)."""
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=80).round(3), "colour": rng.choice(["red", "blue", "green"], 80)}
    )
    frame["label"] = np.where((frame["colour"] == "red") ^ (frame["size"] > 1.0), "yes", "no")
    frame.to_csv(folder / "mixed.csv", index=False)
    return folder, frame


@pytest.fixture(scope="module")
def model_file(mixed):
    from typer.testing import CliRunner

    from zoloss_cli.cli.app import app

    folder, _ = mixed
    words = ["fit", folder / "mixed.csv", "--learner", "pocket", "--calibrate", "sigmoid", "--no-validate"]
    ended = CliRunner().invoke(app, [*map(str, words), "--model", str(folder / "mixed.json")])
    assert ended.exit_code == 0, ended.output
    return folder / "mixed.json"


def test_predictions_are_those_of_the_command(zoloss, mixed, model_file):
    folder, frame = mixed
    ended = zoloss("predict", model_file, folder / "mixed.csv")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    model = load_model(model_file)
    shuffled = frame[["label", "colour", "size"]]  # in another order, and with a column that is not a feature
    assert model.predict(shuffled).tolist() == [row["prediction"] for row in rows]
    scores = [float(row["score"]) for row in rows]
    assert model.decision_function(shuffled).tolist() == pytest.approx(scores)
    positive = [float(row["probability"]) for row in rows]
    probabilities = model.predict_proba(shuffled)
    assert probabilities[:, 1].tolist() == pytest.approx(positive)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert "classes=['no', 'yes']" in repr(model)


def test_an_array_has_the_columns_of_the_model(mixed, model_file):
    _, frame = mixed
    model = load_model(model_file)
    values = frame[["size", "colour"]].to_numpy(dtype=object)
    assert model.predict(values).tolist() == model.predict(frame).tolist()
    assert model.predict(frame.astype({"colour": "category"})).tolist() == model.predict(frame).tolist()


WRONG = [
    (lambda frame: frame.drop(columns="size"), "X has no column 'size'"),
    (lambda frame: frame.replace("red", "rad"), "X:.*column 'colour' holds 'rad', a level unseen"),
    (lambda frame: frame.assign(size=np.nan), "column 'size' has no value"),
    (lambda frame: frame.assign(size="big"), "column 'size' holds the text 'big' where a number is needed"),
    (lambda frame: frame.iloc[:0], "X has no samples"),
    (lambda frame: frame[["size"]].to_numpy(), "X must have two dimensions and 2 columns"),
    (lambda frame: pd.concat([frame, frame["size"]], axis=1), "X has the column 'size' twice"),
    (lambda frame: frame.assign(size=np.inf), "too large for a finite score"),
]


def test_samples_that_cannot_be_predicted_are_one_sentence(mixed, model_file):
    for change, message in WRONG:
        with pytest.raises(DataError, match=message) as refused:
            load_model(model_file).predict(change(mixed[1]))
        assert "\n" not in str(refused.value)


def test_model_files_that_are_none(tmp_path, model_file):
    with pytest.raises(ModelError, match="there is no model file"):
        load_model(tmp_path / "none.json")
    changed = tmp_path / "changed.json"
    changed.write_text(
        model_file.read_text().replace('"missing": "error"', '"missing":  "error"').replace("red", "rot")
    )
    with pytest.raises(ModelError, match="was changed after it was fitted"):
        load_model(changed)
    with pytest.warns(UserWarning, match="was changed after it was fitted, and is used as it is"):
        load_model(changed, trust=True)
