"""The results folder: what it keeps, and what it refuses, drops or sets aside."""

import errno
import json
import os
import shutil
from zlib import crc32

import msgspec
import pytest
from built_runs import build_experiment, build_manifest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.manifest import CHECK_LINE
from zoloss_cli.results.record import FORMAT, CellHeader, FailedRecord, FitRecord, encode_line
from zoloss_cli.results.store import MARKER, Store, read_cell_file

RECORDS = [FitRecord(k, k, 1, wall_time=0.1) for k in (2, 0, 1)]
SIZES = (216, 54)


@pytest.fixture
def cell(small_config):
    return plan(load_config(small_config))[0]


@pytest.fixture
def filled(tmp_path, cell):
    """A store with one cell of three records."""
    store = Store(tmp_path / "results")
    with store.writing():
        store.append(cell, RECORDS, SIZES)
    return store


def test_records_come_back(filled, cell):
    found = filled.read(cell.filename, cell.key)
    assert sorted(found.records) == [0, 1, 2]
    assert (found.n_train, found.n_test) == SIZES
    assert found.records[2] == RECORDS[0]
    filled.sort_cell(cell)
    lines = filled.path(cell.filename).read_text(encoding="utf-8").splitlines()[1:]
    assert [json.loads(line)["split"] for line in lines] == [0, 1, 2]


def test_a_file_cut_at_any_byte_loses_no_whole_line(filled, cell):
    path = filled.path(cell.filename)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        found = read_cell_file(path, cell.key)
        n_lines = whole[:size].count(b"\n")
        assert list(found.records.values()) == RECORDS[: max(0, n_lines - 1)]
        assert not n_lines or found.n_damaged == (not whole[:size].endswith(b"\n"))


def test_foreign_content_is_set_aside(filled, cell):
    contents = {
        b"not json\n": "no readable header",
        b"": "no readable header",
        b'{"format":2,"identity":{}}\n': "no readable header",
        encode_line(CellHeader(FORMAT, "fit", *SIZES, {})): "does not match the key in its name",
        encode_line(CellHeader(99, "fit", *SIZES, {})): "another version",
        encode_line(CellHeader(FORMAT, "tea", *SIZES, {})): "no readable header",
        encode_line(CellHeader(FORMAT, "fit", 0, 0, {})): "no readable header",
        b"\x00\x01\x02\n\xff\n": "no readable header",
    }
    path = filled.path(cell.filename)
    for i, (content, why) in enumerate(contents.items()):
        path.write_bytes(content)
        assert filled.open_cell(cell).records == {}
        assert not path.exists()
        assert why in filled.notes[i]
    aside = [path.read_bytes() for path in (filled.folder / "set-aside").iterdir()]
    assert sorted(aside) == sorted(contents)


IMPOSSIBLE_RECORDS = [
    '{"split":7,"train_errors":999,"test_errors":1}',
    '{"split":7,"train_errors":1,"test_errors":55}',
    '{"split":7,"train_errors":1}',
    "garbage",
    "[]",
    "",
]


def test_impossible_records_are_dropped(filled, cell):
    """With a checksum or without."""
    path = filled.path(cell.filename)
    with path.open("ab") as file:
        for body in map(str.encode, IMPOSSIBLE_RECORDS):
            file.write(b'%s\n%s,"check":"%08x"}\n' % (body, body[:-1], crc32(body[:-1])))
    found = filled.read(cell.filename, cell.key)
    assert sorted(found.records) == [0, 1, 2]
    assert found.n_damaged == 2 * len(IMPOSSIBLE_RECORDS)


def test_failed_tasks_are_kept_apart_and_tried_again(filled, cell):
    failed = FailedRecord(5, "ValueError: no")
    filled.append(cell, [failed, FailedRecord(0, "once")], SIZES)  # split 0 was done since
    assert filled.read(cell.filename, cell.key).failed == {5: failed}
    reopened = filled.open_cell(cell)
    assert 5 not in reopened.records
    assert filled.read(cell.filename, cell.key).failed == {}


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("thesis.docx", "precious", r"did not write \(such as thesis.docx\)"),
        ("cells/precious.txt", "", r"did not write \(such as cells\)"),
        (MARKER, "{}", "the format of this version"),
        (MARKER, "no json", "the format of this version"),
        (MARKER, '{"results_of": "zoloss", "format": 99}', "the format of this version"),
        ("", "x", "is a file"),
    ],
)
def test_a_folder_that_is_not_ours_is_refused(tmp_path, name, content, part):
    folder = tmp_path / "results"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ResultsError, match=part), Store(folder).writing():
        pass
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [path.name]


def test_notes_or_a_run_that_was_stopped_before_its_marker_do_not_block_a_folder(tmp_path):
    (tmp_path / "README.md").write_text("notes", encoding="utf-8")
    for name in ("reference", "runs", "cells"):
        (tmp_path / name).mkdir()
    (tmp_path / ".lock").touch()
    with Store(tmp_path).writing() as store:
        assert store.is_ours()
        with pytest.raises(ResultsError, match="another run is writing"), Store(tmp_path).writing():
            pass
    with Store(tmp_path).writing():
        pass


def test_a_full_disk_is_one_sentence_and_loses_nothing(filled, cell, monkeypatch):
    from pathlib import Path

    real_open = Path.open

    def full(self, mode="r", *rest, **more):
        if "a" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_open(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ResultsError, match="No space left on device; finished tasks are kept: free disk space"):
        filled.append(cell, RECORDS, SIZES)
    monkeypatch.undo()
    assert sorted(filled.read(cell.filename, cell.key).records) == [0, 1, 2]


def test_manifests_that_are_unreadable_or_changed_are_left_out_and_named(filled):
    good = build_manifest(build_experiment(["heart"], ["fld"], name="good"))
    path = filled.write_manifest(good)
    content = path.read_bytes()
    changed = content.replace(b'"repeats": ', b'"repeats": 1', 1)
    for name, text in (
        ("bad", b"{"),
        ("old", b'{"format": 0}'),
        ("changed", changed.replace(b"good", b"changed")),
    ):
        (path.parent / f"{name}.json").write_bytes(text)
    assert filled.read_manifests() == [good]
    notes = dict(zip(("bad", "changed", "old"), filled.notes, strict=True))
    assert all(f"{name}.json" in note for name, note in notes.items())
    assert "is not a manifest of this version of zoloss " in notes["bad"]
    assert "is not a manifest of this version of zoloss " in notes["old"]
    assert "its checksum does not match" in notes["changed"]


def test_a_manifest_without_a_check_value_is_read_with_a_note(filled):
    good = build_manifest(build_experiment(["heart"], ["fld"], name="good"))
    path = filled.write_manifest(good)
    path.write_bytes(CHECK_LINE.sub(b"\n}\n", path.read_bytes()))
    assert filled.read_manifests() == [good]
    assert "1 manifest has no checksum (written by an older version)" in filled.notes[0]
    assert filled.notes[0].endswith("running the config again adds it")


def test_the_marker_is_written_before_anything_else(tmp_path, monkeypatch):
    def stop(store):
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "write_marker", stop)
    with pytest.raises(KeyboardInterrupt), Store(tmp_path).writing():
        pass
    assert [path.name for path in tmp_path.iterdir() if path.name != ".lock"] == []


def test_records_are_synced_now_and_then_and_at_the_end(tmp_path, cell, monkeypatch):
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    )
    store = Store(tmp_path / "results")
    with store.writing():
        synced.clear()  # the marker
        store.append(cell, RECORDS[:1], SIZES)
        assert synced == []
        monkeypatch.setattr("zoloss_cli.results.store.SYNC_SECONDS", -1.0)
        store.append(cell, RECORDS[1:2], SIZES)
        path = store.path(cell.filename)
        assert sorted(synced) == sorted([str(path), str(path.parent)])
        monkeypatch.setattr("zoloss_cli.results.store.SYNC_SECONDS", 1e9)
        store.append(cell, RECORDS[2:], SIZES)
    assert synced.count(str(path)) == 2


def test_a_header_nested_at_any_depth_is_a_fault(filled, cell):
    path = filled.path(cell.filename)
    for depth in (100, 300, 900, 960, 980, 990, 2000, 100_000):
        nested = b"[" * depth + b"]" * depth
        body = b'{"format":2,"kind":"fit","n_train":216,"n_test":54,"identity":{"a":%s}' % nested
        path.write_bytes(b'%s,"check":"%08x"}\n' % (body, crc32(body)))
        assert filled.read(cell.filename, cell.key).fault, depth


def test_nothing_is_said_to_be_kept_of_a_folder_that_was_removed(filled, cell):
    shutil.rmtree(filled.folder)
    with pytest.raises(ResultsError, match="was removed, with its contents") as error:
        filled.append(cell, RECORDS, SIZES)
    assert "kept" not in str(error.value)


def test_a_doubled_line_is_damage_and_the_run_writes_it_once(filled, cell):
    path = filled.path(cell.filename)
    good = path.read_bytes()
    path.write_bytes(good + good.splitlines(keepends=True)[1])
    stored = filled.read(cell.filename, cell.key)
    assert (stored.n_damaged, len(stored.records)) == (1, len(RECORDS))
    filled.open_cell(cell)
    assert sorted(path.read_bytes().splitlines()) == sorted(good.splitlines())


def test_of_two_records_of_a_split_that_differ_none_is_believed(filled, cell):
    other = FitRecord(RECORDS[0].split, RECORDS[0].train_errors + 1, RECORDS[0].test_errors)
    filled.append(cell, [other], SIZES)
    stored = filled.read(cell.filename, cell.key)
    assert other.split not in stored.records
    assert (stored.n_damaged, len(stored.records)) == (2, len(RECORDS) - 1)


def test_a_record_that_was_made_again_with_more_replaces_the_first(filled, cell):
    """Its times are others, and it has scores; that is not a damage, and one record is left of the two."""
    first = RECORDS[0]
    again = msgspec.structs.replace(first, test_scores=([0.5], [1.5]), wall_time=first.wall_time + 1.0)
    filled.append(cell, [again], SIZES)
    stored = filled.read(cell.filename, cell.key)
    assert stored.records[first.split] == again
    assert (stored.n_damaged, stored.n_replaced, len(stored.records)) == (0, 1, len(RECORDS))
    filled.sort_cell(cell)
    stored = filled.read(cell.filename, cell.key)
    assert (stored.n_replaced, stored.records[first.split]) == (0, again)
