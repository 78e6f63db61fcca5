"""Tables of every kind that is read, what is said of those that are not, and the names of data sets."""

import codecs
import datetime
import gzip
import io
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages import write_distribution

from zoloss_cli.data import read
from zoloss_cli.data.columns import CsvColumn
from zoloss_cli.data.new_rows import ModelColumns, read_for_prediction
from zoloss_cli.data.read import RawColumn, parse_rows, read_fast, read_text_table, resolve_table
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import list_embedded_datasets, shipped_folder

COLOURS = "size,colour,label\n1,red,no\n2,blue,yes\n3,green,yes\n1.5,red,no\n2.5,blue,no\n"


def test_text_becomes_one_indicator_per_level_in_order(table):
    own = read_for_training(table(COLOURS))
    assert own.features == ["size", "colour=blue", "colour=green", "colour=red"]
    assert own.columns == (CsvColumn("size"), CsvColumn("colour", ("blue", "green", "red")))
    assert own.X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [3, 0, 1, 0], [1.5, 0, 0, 1], [2.5, 1, 0, 0]]
    assert own.labels == ["no", "yes", "yes", "no", "no"]
    own = read_for_training(table('size,note,label\n1,"two\nlines",no\n2,one,yes\n'))
    assert (own.features, own.lines) == (["size", "note=one", "note=two\nlines"], [2, 4])


def test_notes_name_what_may_be_a_mistake(table):
    note = read_for_training(table("a,label\n1,x\nl2,y\n3,x\n")).notes[1]
    assert ":3: column 'a' holds the text 'l2' among numbers" in note
    note = read_for_training(table("1,2\n3,4\n5,6\n")).notes[1]
    assert "holds only numbers and was read as the header" in note


def test_new_rows_are_found_by_name(table):
    columns = (CsvColumn("size"), CsvColumn("colour", ("blue", "red")))
    path = table("colour,more,size\nred,9,4\nblue,8,5\n")
    new = read_for_prediction(path, ModelColumns(columns, "label")).table
    assert new.X.tolist() == [[4, 0, 1], [5, 1, 0]]
    assert new.labels is None
    assert "ignored columns unknown to the model: more" in new.notes[0]


ODD_FIELDS = """
NA na ? nan -nan inf 1_0 0x1f True FALSE red 1e400 １ +.5 1,5 1. -0 00 None Null N/A é ' # \\
"""
FIELDS = st.one_of(
    st.integers(-(10**22), 10**22).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from([*ODD_FIELDS.split(), "", " 7 ", " red", "x y", "1 2", "\xa0"]),
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
            np.testing.assert_array_equal(np.array(column.texts)[known], np.array(careful.texts)[known])


NOT_FAST = [
    "a,b,label\n1,2,x\n3,y\n4,5,6,x\n",  # short and long: the sum of fields is right
    'a,b,label\n1,"2",x\n3,4,y\n',
    "a,b,label\n1,2,x\n\n3,4,y\n",
    "a,b,label\n1,2,x\n  \n3,4,y\n",
    "a,b,label\n1,inf,x\n3,4,y\n",
    "\na,b,label\n1,2,x\n",
    "a\n1\n \n2\n",
    'a,"b\nc",label\n1,2,x\n',
    "a,b,label\n",
]


def test_usual_tables_take_the_fast_way_and_what_could_differ_the_careful_one():
    def read(text):
        return read_fast(NAME, text.encode(), lambda header: ["label"])

    assert read("a,b,c,label\n1,2.5,red,x\n,3,blue,y\nNA,1e3,red,x\n") is not None
    assert [text for text in NOT_FAST if read(text) is not None] == []


def test_large_and_small_tables_are_the_same(table, monkeypatch):
    rng = np.random.default_rng(3)
    rows = [f"{a!r},{b:.3f},{c:.0f},{['no', 'yes'][a > 0]}" for a, b, c in rng.normal(size=(40, 3)).tolist()]
    path = table("a,b,c,label\n" + "\n".join(rows) + "\n")
    for size in (0, 1 << 20):  # the fast and the careful way
        monkeypatch.setattr(read, "MIN_FAST_BYTES", size)
        own = read_for_training(path)
        np.testing.assert_array_equal(own.X, [[float(x) for x in row.split(",")[:3]] for row in rows])
        assert own.labels == [row.split(",")[3] for row in rows]
        assert own.lines == list(range(2, 42))


LETTERS = "größe,farbe,label\n1,blau,x\n2,rötlich,y\n3,blau,x\n"


def test_encodings_and_separators_are_found(table):
    latin = LETTERS.replace(",", ";").replace("\n", "\r").encode("latin-1")
    for content, note in (
        (codecs.BOM_UTF8 + LETTERS.encode(), None),
        (LETTERS.encode("utf-16"), "was read as UTF-16"),
        (codecs.BOM_UTF16_BE + LETTERS.encode("utf-16-be"), "was read as UTF-16"),
        (latin, "is not UTF-8 and was read as Latin-1"),
        (LETTERS.replace(",", "\t").encode(), None),
        (LETTERS.replace("\n", "\r\n").replace(",", " , ").encode(), None),
        (LETTERS.replace("\n", "\n\n").replace("blau", '"blau"').encode(), None),
    ):
        own = read_for_training(table(content))
        assert own.features == ["größe", "farbe=blau", "farbe=rötlich"]
        assert own.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
        said = [text for text in own.notes if "guessed" not in text]
        assert [note in text for text in said] == ([] if note is None else [True])
    own = read_for_training(table("price,label\n5 €,x\n6 €,y\n".encode("cp1252")))
    assert own.features == ["price=5 €", "price=6 €"]
    assert "was read as Windows-1252" in own.notes[0]
    for content in (b"\xff\xfe\x00", b"\xff\xfea\x00\x00\xd8", b"a,b\n\x00\xff,1\n"):
        with pytest.raises(DataError, match=r"UTF-"):
            read_text_table(NAME, content)
    # A comma in a name does not split a file called tsv.
    assert read_for_training(table("size, cm\tlabel\n1\tx\n2\ty\n", "mine.tsv")).features == ["size, cm"]


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


def test_compression_is_seen_from_the_content(table, plain, monkeypatch):
    compressed = gzip.compress(TEXT.encode())
    assert_same(read_for_training(table(compressed), missing="zero"), plain)
    for content in (compressed, TEXT.encode()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        own = read_for_training(read.STANDARD_INPUT, missing="zero")
        assert_same(own, plain)
        assert str(own.path) == "<stdin>"


def test_an_empty_pipe_and_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(DataError, match="standard input is empty"):
        read_for_training(read.STANDARD_INPUT)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    with pytest.raises(DataError, match="nothing is piped"):
        read_for_training(read.STANDARD_INPUT)


def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch):
    for name, package in (("mine.parquet", "pyarrow"), ("mine.xlsx", "openpyxl")):
        path = write_binary(tmp_path / name, pd.read_csv(io.StringIO(TEXT)))
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(DataError, match=rf"{name} is an? .*install it with: pip install {package}"):
                read_for_training(path)


def test_damaged_files(table, monkeypatch):
    compressed = gzip.compress(TEXT.encode(), mtime=0)
    for name, content, part in (
        ("mine.parquet", b"PAR1PAR1", "is not a parquet file"),
        ("mine.xlsx", b"a,b\n1,2\n", "is not an xlsx file"),
        ("mine.csv", b"PK\x03\x04 and no more", "is not an xlsx file"),
        ("mine.csv.gz", compressed[:-9], "is damaged: it cannot be decompressed"),
        ("mine.csv.gz", b"\x1f\x8b nothing", "is damaged: it cannot be decompressed"),
        ("mine.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
    ):
        with pytest.raises(DataError, match=part):
            read_for_training(table(content, name))
    monkeypatch.setattr(read, "MAX_FILE_BYTES", 1000)
    bomb = table(gzip.compress(b"a,label\n" + b"1,x\n2,y\n" * 200), "mine.csv.gz")
    with pytest.raises(DataError, match=r"is too large: at most 1,000 decompressed bytes"):
        read_for_training(bomb)


def test_types_of_data_frames(tmp_path):
    columns = {
        "id": [2**60, 2**60 + 1, 2**60 + 2],
        "flag": [True, False, True],
        "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"]),
        "kind": pd.Categorical(["p", "q", None]),
        "label": [1, 2, 1],
    }
    own = read_for_training(write_binary(tmp_path / "mine.parquet", pd.DataFrame(columns)), missing="zero")
    levels = ["flag=False", "flag=True", "day=2024-01-01", "day=2024-01-02", "kind=p", "kind=q"]
    assert own.features == ["id", *levels]
    assert own.X[2].tolist() == [2**60, 0, 1, 1, 0, 0, 0]
    assert own.labels == ["1", "2", "1"]
    assert any("'day' looks like dates" in note for note in own.notes)
    for values, part in (
        ([[1], [2]], "neither numbers nor text; --drop it"),
        ([1.0, np.inf], ":2: column 'a' is inf"),
    ):
        path = write_binary(tmp_path / "mine.parquet", pd.DataFrame({"a": values, "label": ["x", "y"]}))
        with pytest.raises(DataError, match=part):
            read_for_training(path)


@pytest.fixture
def book():
    """A workbook whose only sheet is empty."""
    return pytest.importorskip("openpyxl").Workbook()


def test_sheets_with_odd_cells(book, tmp_path):
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


def test_a_value_far_from_the_table_is_refused(book, tmp_path, monkeypatch):
    for row in (["a", "label"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.active["XFD100"].number_format = "0.00"  # an empty cell is no value
    book.save(tmp_path / "empty.xlsx")
    assert read_for_training(tmp_path / "empty.xlsx").labels == ["x", "y"]
    book.active["XFD100"] = "far"
    book.save(tmp_path / "far.xlsx")
    monkeypatch.setattr(read, "MAX_CELLS", 100_000)
    with pytest.raises(DataError, match=r"row 100 and column 16,384, and at most 100,000 cells"):
        read_for_training(tmp_path / "far.xlsx")


def test_numbers_in_a_workbook_may_be_wrong(book, tmp_path):
    for row in (["a", "label"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.save(tmp_path / "right.xlsx")

    def change(old, new):
        path = tmp_path / "wrong.xlsx"
        with zipfile.ZipFile(tmp_path / "right.xlsx") as right, zipfile.ZipFile(path, "w") as wrong:
            assert old in right.read("xl/worksheets/sheet1.xml")
            for name in right.namelist():
                wrong.writestr(name, right.read(name).replace(old, new))
        return path

    for area in (b"A1:A1", b"A1:XFD1048576"):
        assert read_for_training(change(b"A1:B3", area)).labels == ["x", "y"]
    with pytest.raises(DataError, match="reaches row 1,048,577"):
        read_for_training(change(b'<row r="3"', b'<row r="99999999999"'))


SHIPPED = shipped_folder("datasets")
TABLE = "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(8))


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder without any table."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_data_sets_are_found_by_name_and_path_unless_a_file_has_it(elsewhere):
    for name in list_embedded_datasets():
        expected = SHIPPED / f"{name}.csv"
        assert resolve_table(Path(name)) == resolve_table(Path("datasets") / f"{name}.csv") == expected
    Path("datasets").mkdir()
    for name in ("heart", "datasets/heart.csv"):
        Path(name).write_text(TABLE, encoding="utf-8")
        assert resolve_table(Path(name)) == Path(name)


def test_in_a_checkout_the_path_is_short(elsewhere, monkeypatch):
    """What is shown then is the same in every checkout."""
    folder = elsewhere / "datasets"
    folder.symlink_to(SHIPPED, target_is_directory=True)
    assert resolve_table(Path("heart")) == Path("datasets/heart.csv")
    folder.unlink()
    folder.mkdir()
    (folder / "heart.csv").write_text(TABLE, encoding="utf-8")  # another table of that name
    (elsewhere / "heart").mkdir()  # a folder is no table
    assert resolve_table(Path("heart")) == SHIPPED / "heart.csv"
    monkeypatch.chdir(SHIPPED.parent)
    assert resolve_table(Path("heart")) == Path("datasets/heart.csv")


def test_other_paths_stay_as_they_are(elsewhere):
    paths = ["-", "mine.csv", "no/heart", "no/heart.csv", "../datasets/heart.csv", "/heart", "x" * 300, "a\0b"]
    assert [str(resolve_table(Path(path))) for path in paths] == paths


def test_what_is_no_table_is_explained(elsewhere, zoloss):
    for path, message in (
        ("hart", "there is no file or data set 'hart'; did you mean 'heart'?"),
        ("heart.csv", "there is no file heart.csv; the data set that comes with zoloss is called 'heart'"),
        *((name, f"'{name}' is a generator") for name in GENERATORS),
    ):
        with pytest.raises(DataError, match=f"^{re.escape(message)}"):
            resolve_table(Path(path))
    Path("hart.csv").write_text(TABLE, encoding="utf-8")  # which its reader suggests
    assert resolve_table(Path("hart")) == Path("hart")
    assert "did you mean 'hart.csv'?" in zoloss("fit", "hart").err


def test_another_package_s_table_has_its_name(elsewhere, monkeypatch):
    write_distribution(elsewhere / "site", "tables-of-others", {"datasets": {"theirs": "their_tables:theirs"}})
    (elsewhere / "theirs.csv").write_text(TABLE, encoding="utf-8")
    code = f"def theirs():\n    'A table.'\n    return {str(elsewhere / 'theirs.csv')!r}\n"
    (elsewhere / "site" / "their_tables.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(elsewhere / "site")
    for cached in ("plugins", "_registrations"):
        monkeypatch.delitem(DATASET_PLUGINS.__dict__, cached, raising=False)
    try:
        assert resolve_table(Path("theirs")) == elsewhere / "theirs.csv"
    finally:
        for cached in ("plugins", "_registrations"):
            DATASET_PLUGINS.__dict__.pop(cached, None)
