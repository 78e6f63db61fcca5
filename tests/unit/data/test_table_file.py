"""Tables of every kind that is read, and what is said of those that are not."""

from __future__ import annotations

import datetime
import gzip
import io
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from zoloss_cli.data import table_files as table_file
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError

TEXT = "size,colour,count,label\n1.5,red,3,no\n2,blue,,yes\n3,red,5,yes\n"


@pytest.fixture
def plain(table):
    return read_for_training(table(TEXT, "plain.csv"), missing="zero")


def assert_same(own, plain):
    assert own.columns == plain.columns
    assert own.labels == plain.labels
    np.testing.assert_array_equal(own.X, plain.X)


def write_binary(path, frame: pd.DataFrame):
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_excel(path, index=False)
    return path


@pytest.mark.parametrize("name", ["mine.parquet", "mine.xlsx"])
def test_a_data_frame_is_read_as_the_text_that_it_came_from(tmp_path, plain, name):
    frame = pd.read_csv(io.StringIO(TEXT))
    own = read_for_training(write_binary(tmp_path / name, frame), missing="zero")
    assert_same(own, plain)
    assert own.lines == ([1, 2, 3] if name.endswith("parquet") else [2, 3, 4])


@pytest.mark.parametrize("name", ["mine.csv.gz", "mine.csv"])
def test_compression_is_seen_from_the_content(table, plain, name):
    assert_same(read_for_training(table(gzip.compress(TEXT.encode()), name), missing="zero"), plain)


@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input(plain, monkeypatch, compressed):
    content = gzip.compress(TEXT.encode()) if compressed else TEXT.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    own = read_for_training(table_file.STANDARD_INPUT, missing="zero")
    assert_same(own, plain)
    assert str(own.path) == "<stdin>"


def test_an_empty_pipe_and_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(DataError, match="standard input is empty"):
        read_for_training(table_file.STANDARD_INPUT)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    with pytest.raises(DataError, match="nothing is piped"):
        read_for_training(table_file.STANDARD_INPUT)


@pytest.mark.parametrize(("name", "package"), [("mine.parquet", "pyarrow"), ("mine.xlsx", "openpyxl")])
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, name, package):
    path = write_binary(tmp_path / name, pd.read_csv(io.StringIO(TEXT)))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=rf"{name} is an? .*install it with: pip install {package}"):
        read_for_training(path)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("mine.parquet", b"a,b\n1,2\n", "is not a parquet file"),
        ("mine.parquet", b"PAR1PAR1", "is not a parquet file"),
        ("mine.xlsx", b"a,b\n1,2\n", "is not an xlsx file"),
        ("mine.csv", b"PK\x03\x04 and no more", "is not an xlsx file"),
        ("mine.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-9], "is damaged: it cannot be decompressed"),
        ("mine.csv.gz", b"\x1f\x8b nothing", "is damaged: it cannot be decompressed"),
        ("mine.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_damaged_files(table, name, content, part):
    with pytest.raises(DataError, match=part):
        read_for_training(table(content, name))


def test_a_small_file_may_not_grow_without_end(table, monkeypatch):
    monkeypatch.setattr(table_file, "MAX_FILE_BYTES", 1000)
    path = table(gzip.compress(b"a,label\n" + b"1,x\n2,y\n" * 200), "mine.csv.gz")
    assert path.stat().st_size < 1000
    with pytest.raises(DataError, match=r"is too large: at most 1,000 decompressed bytes"):
        read_for_training(path)


def test_types_of_data_frames(tmp_path):
    frame = pd.DataFrame(
        {
            "id": [2**60, 2**60 + 1, 2**60 + 2],
            "flag": [True, False, True],
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"]),
            "kind": pd.Categorical(["p", "q", None]),
            "label": [1, 2, 1],
        }
    )
    own = read_for_training(write_binary(tmp_path / "mine.parquet", frame), missing="zero")
    assert own.features == [
        "id",
        "flag=False",
        "flag=True",
        "day=2024-01-01",
        "day=2024-01-02",
        "kind=p",
        "kind=q",
    ]
    assert own.X[2].tolist() == [2**60, 0, 1, 1, 0, 0, 0]
    assert own.labels == ["1", "2", "1"]
    assert any("'day' looks like dates" in note for note in own.notes)


@pytest.mark.parametrize(
    ("values", "part"),
    [([[1], [2]], "neither numbers nor text; --drop it"), ([1.0, np.inf], ":2: column 'a' is inf")],
)
def test_values_that_are_no_features(tmp_path, values, part):
    path = write_binary(tmp_path / "mine.parquet", pd.DataFrame({"a": values, "label": ["x", "y"]}))
    with pytest.raises(DataError, match=part):
        read_for_training(path)


def test_sheets_with_odd_cells(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "when", "label", None])
    book.active.append([])
    book.active.append([1, datetime.datetime(2024, 1, 2), "x"])
    book.active.append([2.5, datetime.datetime(2024, 1, 3, 4), True])
    book.create_sheet("more")
    book.save(tmp_path / "mine.xlsx")
    own = read_for_training(tmp_path / "mine.xlsx")
    assert own.features == ["a", "when=2024-01-02", "when=2024-01-03T04:00:00"]
    assert (own.labels, own.lines) == (["x", "True"], [3, 4])
    assert "only the first of 2 sheets, 'Sheet', was read" in own.notes[0]


def test_a_value_far_from_the_table_is_refused_before_it_takes_memory(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "label"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.active["XFD1048576"].number_format = "0.00"  # an empty cell is no value
    book.save(tmp_path / "empty.xlsx")
    assert read_for_training(tmp_path / "empty.xlsx").labels == ["x", "y"]
    book.active["XFD1048576"] = "far"
    book.save(tmp_path / "far.xlsx")
    tracemalloc.start()
    with pytest.raises(DataError, match=r"row 1,048,576 and column 16,384, and at most 50,000,000 cells"):
        read_for_training(tmp_path / "far.xlsx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (b'ref="A1:B3"', b'ref="A1:A1"', None),
        (b'ref="A1:B3"', b'ref="A1:XFD1048576"', None),
        (b'<row r="3"', b'<row r="99999999999"', "reaches row 1,048,577"),
    ],
)
def test_numbers_in_a_workbook_may_be_wrong(tmp_path, old, new, part):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "label"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.save(tmp_path / "right.xlsx")
    with zipfile.ZipFile(tmp_path / "right.xlsx") as right, zipfile.ZipFile(tmp_path / "w.xlsx", "w") as wrong:
        contents = {name: right.read(name) for name in right.namelist()}
        assert old in contents["xl/worksheets/sheet1.xml"]
        for name, content in contents.items():
            wrong.writestr(name, content.replace(old, new))
    if part is None:
        assert read_for_training(tmp_path / "w.xlsx").labels == ["x", "y"]
        return
    with pytest.raises(DataError, match=part):
        read_for_training(tmp_path / "w.xlsx")
