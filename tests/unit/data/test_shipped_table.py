"""The names of data sets where a command takes your own table."""

from __future__ import annotations

from pathlib import Path

import pytest
from packages import write_distribution

from zoloss_cli.data.table_files import resolve_table
from zoloss_cli.errors import DataError
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import list_embedded_datasets, shipped_folder

SHIPPED = shipped_folder("datasets")
TABLE = "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(8))


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder without any table."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", list_embedded_datasets())
def test_every_embedded_data_set_is_found_by_name_and_by_its_path_in_a_checkout(elsewhere, name):
    expected = SHIPPED / f"{name}.csv"
    assert resolve_table(Path(name)) == resolve_table(Path("datasets") / f"{name}.csv") == expected


def test_one_s_own_file_comes_first(elsewhere):
    for name in ("heart", "datasets/heart.csv"):
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(TABLE, encoding="utf-8")
        assert resolve_table(path) == path


def test_a_linked_folder_of_data_gives_a_short_path(elsewhere):
    """What is shown then is the same in every checkout."""
    (elsewhere / "datasets").symlink_to(SHIPPED, target_is_directory=True)
    assert resolve_table(Path("heart")) == Path("datasets/heart.csv")
    (elsewhere / "datasets").unlink()
    (elsewhere / "datasets").mkdir()
    (elsewhere / "datasets" / "heart.csv").write_text(TABLE, encoding="utf-8")  # another table of that name
    assert resolve_table(Path("heart")) == SHIPPED / "heart.csv"


def test_a_folder_is_no_table(elsewhere):
    Path("heart").mkdir()
    assert resolve_table(Path("heart")) == SHIPPED / "heart.csv"


def test_in_a_checkout_the_path_is_short(monkeypatch):
    monkeypatch.chdir(SHIPPED.parent)
    assert resolve_table(Path("heart")) == Path("datasets/heart.csv")


@pytest.mark.parametrize(
    "path", ["-", "mine.csv", "no/heart", "no/heart.csv", "../datasets/heart.csv", "/heart", "x" * 300, "a\0b"]
)
def test_other_paths_stay_as_they_are(elsewhere, path):
    assert resolve_table(Path(path)) == Path(path)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_has_no_table(elsewhere, name):
    with pytest.raises(DataError, match=f"^'{name}' is a generator"):
        resolve_table(Path(name))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("hart", "there is no file or data set 'hart'; did you mean 'heart'?"),
        ("heart.csv", "there is no file heart.csv; the data set that comes with zoloss is called 'heart'"),
    ],
)
def test_what_is_nearly_a_name_is_suggested(elsewhere, path, message):
    with pytest.raises(DataError) as error:
        resolve_table(Path(path))
    assert str(error.value).startswith(message)


def test_a_file_of_nearly_this_name_is_suggested_by_its_reader(elsewhere, zoloss):
    Path("hart.csv").write_text(TABLE, encoding="utf-8")
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


def test_commands_take_names(elsewhere, zoloss):
    fitted = zoloss("fit", "heart", "--learner", "fld", "--model", "rule.json")
    assert (fitted.code, fitted.out.splitlines()[0]) == (
        0,
        f"data      {SHIPPED / 'heart.csv'}: 270 samples, 13 features, label 'label'",
    )
    predicted = zoloss("predict", "rule.json", "heart")
    assert predicted.out.count("\n") == 271
    assert zoloss("prune", "heart", "--dry-run", "--by", "neighbours").code == 0
    assert zoloss("complexity", "heart", "--sample", "20", "--permutations", "1").code == 0
    planned = zoloss("evaluate", "heart", "--learners", "fld", "--splits", "2", "--dry-run")
    assert planned.code == 0
    assert "heart" in planned.out
    assert zoloss("fit", "yinyang").code == DataError.exit_code
