"""Columns: the label, those that options name, spellings of labels, and filled values."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.impute import SimpleImputer

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import CsvData
from zoloss_cli.data.columns import ColumnSelection, choose_columns, guess_label, refill
from zoloss_cli.data.dataset import compute_fingerprint, load_data
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.fitting import load_split
from zoloss_cli.experiment.plan import plan

TEXT = "id,class,a,b,note\n7,x,1,2,p\n8,y,3,4,q\n9,x,5,6,p\n"
HEADER = TEXT.splitlines()[0].split(",")


def test_the_label_is_guessed_by_usual_names_in_their_order():
    for header, guess in (
        ("a,b,c", "c"),
        ("label,class,c", "label"),
        ("y,Target,c", "Target"),
        ("outcome,y,c", "y"),
        ("Label,label,c", "label"),
        ("classes,yy,c", "c"),
    ):
        names = header.split(",")
        assert names[guess_label(names)] == guess
    assert guess_label(["label", "class", "a"], ["label"]) == 1  # what is taken is not guessed
    assert guess_label(["a", "b"], ["b"]) == 0
    assert guess_label(["a", "b"], ["a", "b"]) is None


def test_columns_are_chosen(table):
    path = table(TEXT)
    for selection, features in (
        (ColumnSelection(), ["id", "a", "b", "note=p", "note=q"]),
        (ColumnSelection(drop=("id,note",)), ["a", "b"]),
        (ColumnSelection(drop=("id", "note")), ["a", "b"]),
        (ColumnSelection(features=("b, a",)), ["a", "b"]),
        (ColumnSelection(drop=("note",), id="id"), ["a", "b"]),
    ):
        own = read_for_training(path, selection=selection)
        assert (own.features, own.label, own.id) == (features, "class", selection.id)
        assert "label: 'class' (guessed; --label to change)" in own.notes
    assert not any("guessed" in note for note in read_for_training(path, "class").notes)
    path = table('"a, b",a,label\n1,2,x\n3,4,y\n', "comma.csv")
    assert read_for_training(path, selection=ColumnSelection(("a, b",))).features == ["a"]
    path = table("id,a,label\n,1,x\n2,,y\n2,4,y\n", "gaps.csv")
    dropped = read_for_training(path, missing="drop", selection=ColumnSelection(id="id"))
    assert (dropped.X.tolist(), dropped.dropped) == ([[1], [4]], 1)  # a gap in the id does not matter
    assert len(read_for_training(path, selection=ColumnSelection(("a",)), missing="zero").labels) == 3
    path = table("id,a,label\n1,1,x\n1,2,y\n3,3,y\n", "repeated.csv")
    notes = read_for_training(path, selection=ColumnSelection(id="id")).notes
    assert any("the id 'id' is not unique: 1 rows repeat one" in note for note in notes)


def test_choices_that_contradict_each_other():
    for label, selection, kind, part in (
        (None, ColumnSelection(("nite",)), DataError, "'nite', which --drop names; did you mean 'note'?"),
        (None, ColumnSelection((), ("c",)), DataError, "no column 'c', which --features names"),
        (None, ColumnSelection(id="ID"), DataError, "no column 'ID', which --id names; did you mean 'id'?"),
        (None, ColumnSelection(("a",), ("a",)), ConfigError, "'a' is both used and left out"),
        ("a", ColumnSelection(("a",)), ConfigError, "'a' is the label column, which is not a feature"),
        (None, ColumnSelection((",".join(HEADER),)), DataError, "no column left for the labels"),
    ):
        with pytest.raises(kind, match=re.escape(part)):
            choose_columns(Path("mine.csv"), HEADER, label, selection)


def test_a_config_chooses_columns_and_its_identity_knows_it(table):
    path = str(table(TEXT))
    plain, fewer = (
        CsvData(name="mine", csv=path, label="class", **more) for more in ({}, {"drop": ["id", "note"]})
    )
    assert load_data(fewer).features == ["a", "b"]
    guessed = load_data(CsvData(name="mine", csv=path)).notes[0]
    assert guessed == f"{path}: label: 'class' (guessed; --label to change)"
    assert set(compute_fingerprint(plain)) == {"sha256", "label", "missing", "positive"}
    assert compute_fingerprint(fewer) == {**compute_fingerprint(plain), "drop": ["id", "note"]}


def test_the_identity_names_a_guess_only_where_there_was_none_before(table):
    texts = [TEXT, "label,a\nx,1\ny,2\n", "a,class\n1,x\n2,y\n", "a,b\n1,x\n2,y\n"]
    paths = [table(text, f"{i}.csv") for i, text in enumerate(texts)]
    labels = [compute_fingerprint(CsvData(name="mine", csv=str(path)))["label"] for path in paths]
    assert labels == ["class", None, None, None]


def write_labels(*labels: str) -> str:
    return "a,label\n" + "".join(f"{i * 7 % 5},{labels[i % len(labels)]}\n" for i in range(12))


def test_labels_that_are_one_number_in_two_spellings_are_refused_and_no_others(table):
    for pair in (("1", "01"), ("-1", "-1.00"), ("100", "1e2"), ("0", "-0"), ("1", "+1")):
        said = f":4: the label column 'label' holds '{pair[1]}' and, in line 2, '{pair[0]}', which are the"
        with pytest.raises(DataError, match=re.escape(said)):
            read_for_training(table(write_labels(pair[0], "2", pair[1])))
    long = ("90071992547409930", "90071992547409931")  # one number as floats
    for labels in (("1.0", "2"), ("-1", "1"), ("1", "one"), long, ("1_0", "10")):
        assert set(read_for_training(table(write_labels(*labels))).labels) == set(labels)


def build_rows():
    rng = np.random.default_rng(5)
    numbers = np.where(rng.random(60) < 0.3, np.nan, rng.normal(size=60).round(2))
    levels = rng.choice(["p", "q", "r"], 60, p=[0.2, 0.5, 0.3]).astype(object)
    levels[rng.random(60) < 0.3] = None
    lines = [
        f"{'' if np.isnan(a) else a},{i},{c or 'NA'},{'xy'[i % 2]}\n"
        for i, (a, c) in enumerate(zip(numbers.tolist(), levels.tolist(), strict=True))
    ]
    return "a,b,c,label\n" + "".join(lines), numbers, levels


def fill_by_scikit_learn(values: np.ndarray, how: str, train: np.ndarray) -> np.ndarray:
    missing = np.nan if how == "median" else None
    imputer = SimpleImputer(strategy=how, missing_values=missing).fit(values[train, None])
    return imputer.transform(values[:, None])[:, 0]


def test_values_are_those_of_scikit_learn(table):
    text, numbers, levels = build_rows()
    own = read_for_training(table(text), missing="impute")
    assert own.features == ["a", "b", "c=p", "c=q", "c=r"]
    count = np.isnan(numbers).sum() + sum(level is None for level in levels)
    assert any(f"{count} missing values filled by medians" in note for note in own.notes)
    assert [column.fill for column in own.columns] == [np.nanmedian(numbers), 29.5, "q"]
    for n_train in (60, 30, 12):
        train = np.sort(np.random.default_rng(1).choice(60, n_train, replace=False))
        X = refill(own.X, own.gaps, train)
        np.testing.assert_array_equal(X[:, 0], fill_by_scikit_learn(numbers, "median", train))
        np.testing.assert_array_equal(X[:, 1], np.arange(60))
        filled = fill_by_scikit_learn(levels, "most_frequent", train)
        np.testing.assert_array_equal(X[:, 2:], filled[:, None] == np.array(["p", "q", "r"]))
        if n_train == 60:
            np.testing.assert_array_equal(X, own.X)
    marked = read_for_training(table(text), missing="indicator")
    assert marked.features == ["a", "a missing", "b", "c=p", "c=q", "c=r", "c missing"]
    np.testing.assert_array_equal(marked.X[:, 1], np.isnan(numbers))
    np.testing.assert_array_equal(marked.X[:, 6], [level is None for level in levels])
    np.testing.assert_array_equal(marked.X[:, [0, 2, 3, 4, 5]], own.X)


def test_tables_without_gaps_and_without_any_value(table):
    path = table("a,c,label\n1,p,x\n2,q,y\n")
    plain = read_for_training(path)
    assert refill(plain.X, (), np.arange(2)) is plain.X  # nothing is copied
    for how in ("drop", "zero", "impute", "indicator"):
        assert read_for_training(path, missing=how).X.tolist() == plain.X.tolist()
    path = table("a,b,label\n1,,x\n2,,y\n")
    with pytest.raises(DataError, match="'b' has no values at all; leave it out with --drop"):
        read_for_training(path, missing="impute")
    own = read_for_training(table("a,label\n1,x\n,y\n,x\n"), missing="impute")
    assert refill(own.X, own.gaps, np.array([1, 2])).ravel().tolist() == [1, 0, 0]


def test_each_split_fills_by_its_own_training_samples(table, write_config):
    text, numbers, _ = build_rows()
    table(text)
    keys = "split: {train: 0.5, repeats: 5, seed: 2}\npreprocess: {scale: none}\nlearners: [fld]\n"
    (cell,) = plan(load_config(write_config("datasets: {own: {csv: mine.csv, missing: impute}}\n" + keys)))
    medians = set()
    for k in range(5):
        split = load_split(cell, k)
        median = np.nanmedian(numbers[split.train])
        np.testing.assert_array_equal(split.data.X[np.isnan(numbers), 0], median)
        medians.add(median)
    assert len(medians) > 1
