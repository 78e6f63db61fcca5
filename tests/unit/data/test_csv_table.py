"""Tables of your own as features: columns of text, missing values, CSV in many dresses."""

from __future__ import annotations

import numpy as np
import pytest

from zoloss_cli.data.columns import CsvColumn
from zoloss_cli.data.new_rows import ModelColumns, read_for_prediction
from zoloss_cli.data.user_table import read_for_training

COLOURS = "size,colour,label\n1,red,no\n2,blue,yes\n3,green,yes\n1.5,red,no\n2.5,blue,no\n"


def test_text_becomes_one_indicator_per_level_in_order(table):
    own = read_for_training(table(COLOURS))
    assert own.features == ["size", "colour=blue", "colour=green", "colour=red"]
    assert own.columns == (CsvColumn("size"), CsvColumn("colour", ("blue", "green", "red")))
    assert own.X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [3, 0, 1, 0], [1.5, 0, 0, 1], [2.5, 1, 0, 0]]
    assert own.labels == ["no", "yes", "yes", "no", "no"]


def test_missing_values_drop_their_row_or_are_zero_in_every_indicator(table):
    path = table("size,colour,label\n1,red,no\n,blue,yes\n3,?,yes\n")
    dropped = read_for_training(path, missing="drop")
    assert (dropped.features, dropped.X.tolist(), dropped.dropped) == (["size", "colour=red"], [[1, 1]], 2)
    zero = read_for_training(path, missing="zero")
    assert zero.features == ["size", "colour=blue", "colour=red"]
    assert zero.X.tolist() == [[1, 0, 1], [0, 1, 0], [3, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + COLOURS.encode(),
        COLOURS.replace(",", ";"),
        COLOURS.replace("\n", "\r\n"),
        COLOURS.replace("\n", "\n\n"),
        COLOURS.replace("red", '"red"').replace("size", '"size"'),
        COLOURS.replace(",", " , "),
    ],
    ids=["byte order mark", "semicolons", "carriage returns", "blank lines", "quotes", "blanks"],
)
def test_csv_in_many_dresses_is_the_same_table(table, text):
    plain, dressed = read_for_training(table(COLOURS, "plain.csv")), read_for_training(table(text))
    assert dressed.columns == plain.columns
    assert dressed.labels == plain.labels
    np.testing.assert_array_equal(dressed.X, plain.X)


def test_a_quoted_newline_is_part_of_its_value_and_lines_are_still_right(table):
    path = table('size,note,label\n1,"two\nlines",no\n2,one,yes\n')
    own = read_for_training(path)
    assert own.features == ["size", "note=one", "note=two\nlines"]
    assert own.lines == [2, 4]


def test_the_label_column_by_name_index_or_default(table):
    path = table("class,a,2\nx,1,5\ny,3,6\n")
    assert read_for_training(path).label == "class"
    assert read_for_training(table("cluss,a,2\nx,1,5\ny,3,6\n", "last.csv")).label == "2"
    assert read_for_training(path, "class").features == ["a", "2"]
    assert read_for_training(path, "0").label == "class"
    assert read_for_training(path, "2").label == "2"


def test_notes_name_what_may_be_a_mistake(table):
    own = read_for_training(table("a,label\n1,x\nl2,y\n3,x\n"))
    assert ":3: column 'a' holds the text 'l2' beside numbers" in own.notes[1]
    assert (
        "holds only numbers and was read as the header" in read_for_training(table("1,2\n3,4\n5,6\n")).notes[1]
    )


def test_new_rows_are_found_by_name(table):
    columns = (CsvColumn("size"), CsvColumn("colour", ("blue", "red")))
    path = table("colour,more,size\nred,9,4\nblue,8,5\n")
    new = read_for_prediction(path, ModelColumns(columns, "label")).table
    assert new.X.tolist() == [[4, 0, 1], [5, 1, 0]]
    assert new.labels is None
    assert "ignored columns that the model does not know: more" in new.notes[0]
