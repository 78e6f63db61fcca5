"""Text files read by pandas and carefully: the same table, or the careful way only."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.data import csv_files as text_table
from zoloss_cli.data.csv_files import RawColumn, parse_rows, read_fast, read_text_table
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError

FIELDS = st.one_of(
    st.integers(-(10**22), 10**22).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "",
            "NA",
            "na",
            "?",
            " 7 ",
            "nan",
            "-nan",
            "inf",
            "1_0",
            "0x1f",
            "True",
            "FALSE",
            "red",
            " red",
            "1e400",
        ]
        + [
            "１",
            "+.5",
            "1,5",
            "1.",
            "-0",
            "00",
            "None",
            "Null",
            "N/A",
            "x y",
            "é",
            "'",
            "#",
            "1 2",
            "\xa0",
            "\\",
        ]
    ),
)
NAME = Path("mine.csv")


@given(
    st.lists(st.lists(FIELDS, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "", "\n\n"]),
)
def test_pandas_reads_what_the_careful_way_reads(rows, separator, end):
    text = "\n".join(separator.join(row) for row in [["a", "b", "label"], *rows]) + end
    fast = read_fast(NAME, text.encode(), lambda header: ["label"])
    if fast is None:
        return
    header, lines = parse_rows(NAME, text)
    assert (fast.header, fast.lines) == (header, [line for line, _ in lines])
    for i, column in enumerate(fast.columns):
        careful = RawColumn.from_texts(header[i], [row[i] for _, row in lines])
        np.testing.assert_array_equal(column.missing, careful.missing)
        assert (column.numbers is None) == (careful.numbers is None)
        if careful.numbers is not None:
            np.testing.assert_array_equal(column.numbers, careful.numbers)
        if column.texts is not None:
            known = ~careful.missing
            assert [t for t, k in zip(column.texts, known, strict=True) if k] == [
                t for t, k in zip(careful.texts, known, strict=True) if k
            ]


def test_usual_tables_take_the_fast_way():
    text = "a,b,c,label\n1,2.5,red,x\n,3,blue,y\nNA,1e3,red,x\n"
    assert read_fast(NAME, text.encode(), lambda header: ["label"]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "a,b,label\n1,2,x\n3,y\n4,5,6,x\n",  # short and long: the sum of fields is right
        "a,b,label\n1,2,x,9\n3,y\n",
        "a,b,label\n0,1,2,x\n1,y\n",
        'a,b,label\n1,"2",x\n3,4,y\n',
        "a,b,label\n1,2,x\n\n3,4,y\n",
        "a,b,label\n1,2,x\n  \n3,4,y\n",
        "a,b,label\n1,inf,x\n3,4,y\n",
        "\na,b,label\n1,2,x\n",
        "a\n1\n \n2\n",
        'a,"b\nc",label\n1,2,x\n',
        "a,b,label\n",
    ],
)
def test_what_could_differ_is_left_to_the_careful_way(text):
    assert read_fast(NAME, text.encode(), lambda header: ["label"]) is None


@pytest.mark.parametrize("size", [0, 1 << 20], ids=["fast", "careful"])
def test_large_and_small_tables_are_the_same(table, monkeypatch, size):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    rows = [f"{a!r},{b:.3f},{c:.0f},{['no', 'yes'][a > 0]}" for a, b, c in X.tolist()]
    monkeypatch.setattr(text_table, "MIN_FAST_BYTES", size)
    own = read_for_training(table("a,b,c,label\n" + "\n".join(rows) + "\n"))
    np.testing.assert_array_equal(own.X, [[float(x) for x in row.split(",")[:3]] for row in rows])
    assert own.labels == [row.split(",")[3] for row in rows]
    assert own.lines == list(range(2, 42))


TEXT = "größe,farbe,label\n1,blau,x\n2,rötlich,y\n3,blau,x\n"


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (TEXT.encode(), None),
        (codecs.BOM_UTF8 + TEXT.encode(), None),
        (TEXT.encode("utf-16"), "was read as UTF-16"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "was read as UTF-16"),
        (TEXT.encode("latin-1"), "is not UTF-8 and was read as Latin-1"),
        (TEXT.replace(",", "\t").encode(), None),
        (TEXT.replace(",", ";").replace("\n", "\r").encode("latin-1"), "was read as Latin-1"),
    ],
)
def test_encodings_and_separators_are_found(table, content, note):
    own = read_for_training(table(content))
    assert own.features == ["größe", "farbe=blau", "farbe=rötlich"]
    assert own.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    said = [text for text in own.notes if "guessed" not in text]
    assert [note in text for text in said] == ([] if note is None else [True])


def test_windows_letters_are_read_as_such(table):
    own = read_for_training(table("price,label\n5 €,x\n6 €,y\n".encode("cp1252")))
    assert own.features == ["price=5 €", "price=6 €"]
    assert "was read as Windows-1252" in own.notes[0]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\xff\xfea\x00\x00\xd8", b"a,b\n\x00\xff,1\n"])
def test_bytes_that_are_no_text(content):
    with pytest.raises(DataError, match=r"UTF-"):
        read_text_table(NAME, content)


def test_a_comma_in_a_name_does_not_split_a_file_called_tsv(table):
    own = read_for_training(table("size, cm\tlabel\n1\tx\n2\ty\n", "mine.tsv"))
    assert own.features == ["size, cm"]
