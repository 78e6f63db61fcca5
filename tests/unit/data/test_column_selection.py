"""Which columns are used: the label by its name or guessed, and those that options name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zoloss_cli.config.models import CsvData
from zoloss_cli.data.columns import ColumnSelection, choose_columns, guess_label
from zoloss_cli.data.dataset import compute_fingerprint, load_data
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import ConfigError, DataError

TEXT = "id,class,a,b,note\n7,x,1,2,p\n8,y,3,4,q\n9,x,5,6,p\n"
HEADER = TEXT.splitlines()[0].split(",")


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        ("a,b,c", "c"),
        ("label,class,c", "label"),
        ("y,Target,c", "Target"),
        ("outcome,y,c", "y"),
        ("CLASS,label,c", "label"),
        ("Outcome,b,c", "Outcome"),
        ("Label,label,c", "label"),
        ("classes,yy,c", "c"),
    ],
)
def test_the_label_is_guessed_by_usual_names_in_their_order(header, guess):
    names = header.split(",")
    assert names[guess_label(names)] == guess


def test_what_is_taken_is_not_guessed():
    assert guess_label(["label", "class", "a"], ["label"]) == 1
    assert guess_label(["a", "b"], ["b"]) == 0
    assert guess_label(["a", "b"], ["a", "b"]) is None


@pytest.mark.parametrize(
    ("selection", "features"),
    [
        (ColumnSelection(), ["id", "a", "b", "note=p", "note=q"]),
        (ColumnSelection(drop=("id,note",)), ["a", "b"]),
        (ColumnSelection(drop=("id", "note")), ["a", "b"]),
        (ColumnSelection(features=("b, a",)), ["a", "b"]),
        (ColumnSelection(drop=("note",), id="id"), ["a", "b"]),
    ],
)
def test_columns_are_chosen(table, selection, features):
    own = read_for_training(table(TEXT), selection=selection)
    assert own.features == features
    assert own.label == "class"
    assert own.id == selection.id
    assert "label: 'class' (guessed; --label to change)" in own.notes
    assert not any("guessed" in note for note in read_for_training(table(TEXT), "class").notes)


def test_a_name_with_a_comma_is_one_name(table):
    own = read_for_training(table('"a, b",a,label\n1,2,x\n3,4,y\n'), selection=ColumnSelection(("a, b",)))
    assert own.features == ["a"]


@pytest.mark.parametrize(
    ("label", "selection", "kind", "part"),
    [
        (
            None,
            ColumnSelection(("nite",)),
            DataError,
            "no column 'nite', which --drop names; did you mean 'note'?",
        ),
        (None, ColumnSelection((), ("c",)), DataError, "no column 'c', which --features names"),
        (None, ColumnSelection(id="ID"), DataError, "no column 'ID', which --id names; did you mean 'id'?"),
        (None, ColumnSelection(("a",), ("a",)), ConfigError, "'a' is both to be used and to be left out"),
        (None, ColumnSelection((), ("a",), "a"), ConfigError, "'a' is both to be used and to be left out"),
        ("a", ColumnSelection(("a",)), ConfigError, "'a' is the label column, which is not a feature"),
        (None, ColumnSelection((",".join(HEADER),)), DataError, "no column left for the labels"),
    ],
)
def test_choices_that_contradict_each_other(label, selection, kind, part):
    with pytest.raises(kind, match=re.escape(part)):
        choose_columns(Path("mine.csv"), HEADER, label, selection)


def test_missing_values_of_other_columns_do_not_matter(table):
    path = table("id,a,label\n,1,x\n2,,y\n3,4,y\n")
    dropped = read_for_training(path, missing="drop", selection=ColumnSelection(id="id"))
    assert (dropped.X.tolist(), dropped.dropped) == ([[1], [4]], 1)
    assert len(read_for_training(path, selection=ColumnSelection(("a",)), missing="zero").labels) == 3


def test_ids_that_repeat_are_told(table):
    own = read_for_training(table("id,a,label\n1,1,x\n1,2,y\n3,3,y\n"), selection=ColumnSelection(id="id"))
    assert any("the id 'id' is not unique: 1 rows repeat one" in note for note in own.notes)


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
    def find_label(text: str, name: str):
        return compute_fingerprint(CsvData(name="mine", csv=str(table(text, name))))["label"]

    assert find_label(TEXT, "guessed.csv") == "class"
    assert find_label("label,a\nx,1\ny,2\n", "label.csv") is None
    assert find_label("a,class\n1,x\n2,y\n", "last.csv") is None
    assert find_label("a,b\n1,x\n2,y\n", "none.csv") is None
