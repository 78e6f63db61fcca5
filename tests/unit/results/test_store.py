"""The results folder: what it keeps, and what it refuses, drops or sets aside."""

from __future__ import annotations

import errno
import json

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.store import MARKER, Store, read_cell_file

ROWS = [{"k": k, "train": k, "test": 1, "s": 0.1} for k in (2, 0, 1)]
SIZES = (216, 54)


@pytest.fixture
def cell(small_config):
    return plan(load_config(small_config))[0]


@pytest.fixture
def filled(tmp_path, cell):
    """A store with one cell of three rows."""
    store = Store(tmp_path / "results")
    with store.writing():
        store.append(cell, ROWS, SIZES)
    return store


def test_rows_come_back(filled, cell):
    found = filled.read(cell.filename, cell.key)
    assert sorted(found.rows) == [0, 1, 2]
    assert (found.n_train, found.n_test) == SIZES
    assert found.rows[2]["train"] == 2


def test_tidy_puts_splits_in_order(filled, cell):
    filled.tidy(cell)
    lines = filled.path(cell.filename).read_text(encoding="utf-8").splitlines()[1:]
    assert [json.loads(line)["k"] for line in lines] == [0, 1, 2]


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_torn_last_line_is_dropped_and_cut_off(filled, cell, cut):
    path = filled.path(cell.filename)
    path.write_bytes(path.read_bytes()[:-cut])
    found = filled.open_cell(cell)
    assert sorted(found.rows) == [0, 2]
    assert "damaged line" in filled.notes[0]
    filled.append(cell, [ROWS[2]], SIZES)
    assert sorted(filled.read(cell.filename, cell.key).rows) == [0, 1, 2]
    assert filled.read(cell.filename, cell.key).dropped_lines == 0


def test_killed_at_any_byte_the_rest_is_still_right(filled, cell):
    path = filled.path(cell.filename)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        found = read_cell_file(path, cell.key)
        for k, row in found.rows.items():
            assert row == next(r for r in ROWS if r["k"] == k)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"not json\n", "no readable header"),
        (b"", "no readable header"),
        (b'{"format":1}\n', "is not the cell that its name says"),
        (b'{"format":99,"identity":{}}\n', "another version"),
        (b'["a list"]\n', "no readable header"),
        (b"\x00\x01\x02\n\xff\n", "no readable header"),
    ],
)
def test_foreign_content_is_set_aside(filled, cell, content, why):
    path = filled.path(cell.filename)
    path.write_bytes(content)
    found = filled.open_cell(cell)
    assert found.rows == {}
    assert not path.exists()
    assert (filled.folder / "set-aside" / path.name).read_bytes() == content
    assert why in filled.notes[0]
    path.write_bytes(b"again not json\n")
    filled.open_cell(cell)
    assert len(list((filled.folder / "set-aside").iterdir())) == 2


def test_another_cells_rows_are_never_taken(filled, cell, small_config):
    other = plan(load_config(small_config))[1]
    filled.path(cell.filename).rename(filled.path(other.filename))
    assert "is not the cell" in filled.read(other.filename, other.key).fault
    assert filled.read(other.filename, other.key).rows == {}


@pytest.mark.parametrize(
    "line",
    [
        '{"k":7}',
        '{"k":-1,"train":1,"test":1}',
        '{"k":7,"train":999,"test":1}',
        '{"k":7,"train":1,"test":-1}',
        '{"k":true,"train":1,"test":1}',
        '{"k":7,"train":1.5,"test":1}',
        "garbage",
        "[]",
        "",
    ],
)
def test_impossible_rows_are_dropped(filled, cell, line):
    path = filled.path(cell.filename)
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    found = filled.read(cell.filename, cell.key)
    assert sorted(found.rows) == [0, 1, 2]
    assert found.dropped_lines == 1


def test_failed_units_are_kept_apart_and_tried_again(filled, cell):
    filled.append(cell, [{"k": 5, "failed": "ValueError: no", "s": 0.0}], SIZES)
    assert filled.read(cell.filename, cell.key).failed == {5: "ValueError: no"}
    reopened = filled.open_cell(cell)
    assert 5 not in reopened.rows
    assert filled.read(cell.filename, cell.key).failed == {}


def test_a_folder_of_another_project_is_refused(tmp_path):
    (tmp_path / "thesis.docx").write_text("precious", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"did not write \(such as thesis.docx\)"), Store(tmp_path).writing():
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.docx"]


@pytest.mark.parametrize("marker", ["{}", "no json", '{"results_of": "zoloss", "format": 99}'])
def test_a_folder_of_another_version_is_refused(tmp_path, marker):
    (tmp_path / MARKER).write_text(marker, encoding="utf-8")
    with pytest.raises(ResultsError, match="not of this version"), Store(tmp_path).writing():
        pass


def test_notes_and_the_reference_may_lie_in_the_folder(tmp_path):
    (tmp_path / "README.md").write_text("notes", encoding="utf-8")
    (tmp_path / "reference").mkdir()
    with Store(tmp_path).writing() as store:
        assert store.is_ours()


def test_a_second_run_is_refused_while_the_first_writes(tmp_path):
    with (
        Store(tmp_path).writing(),
        pytest.raises(ResultsError, match="another run is writing"),
        Store(tmp_path).writing(),
    ):
        pass
    with Store(tmp_path).writing():
        pass


def test_a_file_in_the_folders_place_is_refused(tmp_path):
    (tmp_path / "results").write_text("x", encoding="utf-8")
    with pytest.raises(ResultsError, match="is a file"), Store(tmp_path / "results").writing():
        pass


def test_a_full_disk_is_one_sentence_and_loses_nothing(filled, cell, monkeypatch):
    from pathlib import Path

    real_open = Path.open

    def full(self, mode="r", *rest, **more):
        if "a" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_open(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ResultsError, match="No space left on device; what was finished before is kept"):
        filled.append(cell, ROWS, SIZES)
    monkeypatch.undo()
    assert sorted(filled.read(cell.filename, cell.key).rows) == [0, 1, 2]


def test_unreadable_manifests_are_left_out_and_noted(filled):
    experiment = {"name": "good", "title": "", "metric": "test_error", "split": {"repeats": 1, "seed": 1}}
    good = {"cells": [], "runs": [], "experiment": experiment | {"datasets": [], "learners": []}}
    filled.write_manifest("good", {"format": 1} | good)
    (filled.folder / "runs" / "bad.json").write_text("{", encoding="utf-8")
    (filled.folder / "runs" / "old.json").write_text('{"format": 0}', encoding="utf-8")
    assert [m["experiment"]["name"] for m in filled.manifests()] == ["good"]
    assert len(filled.notes) == 2
