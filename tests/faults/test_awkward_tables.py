"""Awkward but ordinary tables: each gives a right answer, or one sentence that names what to do."""

import io
import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from own_rows import refused

N = 120
DAYS = pd.date_range("2021-03-01", periods=N)


class Answer(NamedTuple):
    """What `fit` has to find: samples, features and errors at most; and a part of what it has to say."""

    features: int
    note: str = ""
    samples: int = N
    classes: int = 2
    errors: int = 6


class Refusal(NamedTuple):
    """What `fit` has to say."""

    part: str


class Case(NamedTuple):
    """A table, the options it is read with, and what is to come of it."""

    build: Callable[[], str | bytes]
    expected: Answer | Refusal
    options: tuple[str, ...] = ()
    name: str = "mine.csv"


def build_frame(**columns) -> pd.DataFrame:
    """Two features that tell two classes apart with a gap between, and what else is given."""
    rng = np.random.default_rng(8)
    y = np.arange(N) % 2
    a, b = rng.normal(size=N) + 8 * y, rng.normal(size=N)
    return pd.DataFrame({"a": a.round(4), "b": b.round(4), **columns, "label": np.where(y == 1, "yes", "no")})


def write(frame: pd.DataFrame, **options) -> str:
    return frame.to_csv(index=False, **options)


def add(**columns) -> Callable[[], str]:
    return lambda: write(build_frame(**columns))


def build_gaps() -> str:
    frame = build_frame(colour=np.where(np.arange(N) % 3, "red", "blue").astype(object))
    frame.loc[::10, "b"] = np.nan
    frame.loc[::15, "colour"] = None
    return write(frame)


def build_classes(count: int, name: Callable[[int], str]) -> str:
    k = np.arange(4 * N) % count
    angle = 2 * np.pi * k / count
    noise = np.random.default_rng(1).normal(size=(2, 4 * N)) * 0.01
    frame = pd.DataFrame({"a": 10 * np.cos(angle) + noise[0], "b": 10 * np.sin(angle) + noise[1]})
    return write(frame.assign(label=[name(each) for each in k]))


def build_imbalanced() -> str:
    y = np.arange(505) % 101 == 0
    a = np.random.default_rng(2).normal(size=505) + 12 * y
    return write(pd.DataFrame({"a": a, "label": np.where(y, "rare", "usual")}))


def build_wide() -> str:
    X = np.random.default_rng(3).normal(size=(200, 5000)).round(2)
    X[:, 7] = 30 * (np.arange(200) % 2) - 15
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(5000)])
    return write(frame.assign(label=np.arange(200) % 2))


def build_workbook() -> bytes:
    file = io.BytesIO()
    build_frame().to_excel(file, index=False)
    return file.getvalue()


SEVERAL = ("--learner", "one-vs-one:fld")
PERCEPTRON = ("--learner", "pocket", "--set", "epochs=30")
TEXT_DATES = [f"{day:%d/%m/%Y}" for day in DAYS]
CODES = [f"P-{i:04d}" for i in range(N)]
MONTHS = [f"2021-{1 + i % 12:02d}-01" for i in range(N)]

CASES = {
    "plain": Case(add(), Answer(2, "label: 'label' (guessed; --label to change)")),
    "dates": Case(add(day=TEXT_DATES), Refusal("it looks like dates: leave it out with --drop 'day'")),
    "few dates": Case(add(month=MONTHS), Answer(14, "'month' looks like dates ('2021-01-01')")),
    "dates as numbers": Case(
        add(day=[int(f"{day:%Y%m%d}") for day in DAYS]), Answer(3, "'day' looks like dates written as year")
    ),
    "ids": Case(add(id=np.arange(N) + 1000), Answer(3, "--drop 'id', or --id 'id'")),
    "ids named": Case(add(id=np.arange(N) + 1000), Answer(2), ("--id", "id")),
    "ids as text": Case(add(patient=CODES), Refusal("it looks like ids: leave it out with --drop 'patient'")),
    "ids as text, few": Case(
        lambda: write(build_frame(patient=CODES)[:60]),
        Answer(62, "'patient' has a different text in every row", 60),
    ),
    "ids that repeat": Case(
        add(patient=np.arange(N) // 2), Answer(2, "not unique: 60 rows repeat"), ("--id", "patient")
    ),
    "free text": Case(
        add(note=[f"said {i % 110}" for i in range(N)]), Refusal("--drop 'note', or merge rare levels")
    ),
    "truth values": Case(add(flag=np.arange(N) % 3 == 0), Answer(4)),
    "an empty column, filled": Case(
        add(empty=""),
        Refusal("'empty' has no values at all; leave it out with --drop"),
        ("--missing", "impute"),
    ),
    "an empty column, rows dropped": Case(
        add(empty=""), Refusal("leave out columns such as 'empty' with --drop"), ("--missing", "drop")
    ),
    "missing, dropped": Case(build_gaps, Answer(4, samples=104), ("--missing", "drop")),
    "missing, filled": Case(build_gaps, Answer(4), ("--missing", "impute")),
    "missing, marked": Case(build_gaps, Answer(6), ("--missing", "indicator")),
    "imbalance": Case(build_imbalanced, Answer(1, samples=505)),
    "one class left": Case(
        lambda: write(build_frame().assign(b=np.where(np.arange(N) % 2, np.nan, 1.0))),
        Refusal("without the 60 rows that were left out, holds one class only"),
        ("--missing", "drop"),
    ),
    "three classes": Case(
        lambda: build_classes(3, "abc".__getitem__), Answer(2, samples=4 * N, classes=3, errors=0), SEVERAL
    ),
    "a continuous label": Case(
        lambda: write(build_frame().drop(columns="label")), Refusal("name the column of classes with --label")
    ),
    "years as labels": Case(
        lambda: write(build_frame().assign(label=np.arange(N) + 1900)), Refusal("of classes with --label")
    ),
    "a label in front": Case(
        lambda: write(build_frame().rename(columns={"label": "Class"})[["Class", "a", "b"]]),
        Answer(2, "label: 'Class' (guessed; --label to change)"),
    ),
    "wide": Case(build_wide, Answer(5000, samples=200, errors=0), PERCEPTRON),
    "the index of a data frame": Case(
        lambda: build_frame().to_csv(), Answer(2, "which has no name and counts")
    ),
    "quotes": Case(lambda: write(build_frame(c="p, q"), quoting=1), Answer(3)),
    "parquet": Case(
        lambda: build_frame(flag=np.arange(N) % 3 == 0).to_parquet(), Answer(4), name="mine.parquet"
    ),
    "a workbook": Case(build_workbook, Answer(2), name="mine.xlsx"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_awkward_table_has_an_answer_or_one_sentence(zoloss, table, tmp_path, name):
    case = CASES[name]
    path = table(case.build(), case.name)
    learner = () if "--learner" in case.options else ("--learner", "fld")
    ended = zoloss("fit", path, *learner, *case.options, "--json", "--model", tmp_path / "m.json")
    if isinstance(case.expected, Refusal):
        refused(ended, 3, case.expected.part)
        assert not (tmp_path / "m.json").exists()
        return
    assert ended.code == 0, ended.err
    facts, expected = json.loads(ended.out), case.expected
    found = (facts["n"], len(facts["features"]), len(facts["classes"]))
    assert found == (expected.samples, expected.features, expected.classes)
    assert facts["errors"] <= expected.errors
    assert expected.note in ended.err
    ended = zoloss.ok("predict", tmp_path / "m.json", path)
    predicted = pd.read_csv(io.StringIO(ended.out), dtype=str, keep_default_na=False)
    answered = predicted["prediction"] != ""
    assert answered.sum() == facts["n"]
    assert ("reason" in predicted) == bool((~answered).any()) == bool(facts["dropped"])
    assert f"{facts['errors']:,} errors in {facts['n']:,} rows with a label" in ended.err
