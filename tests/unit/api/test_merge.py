"""Merged results folders: any parts of a run give the run again, and what contradicts is named."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import msgspec
import pytest
import stored_runs
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_runs import make_record, make_run_info, store_run

from zoloss_cli.api.merge import merge_folders
from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import OutputError, ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.manifest import decode_manifest, encode_manifest
from zoloss_cli.results.record import FailedRecord
from zoloss_cli.results.store import MARKER, Store
from zoloss_cli.utils.imports import use_code_policy

SPLITS = range(4)


@pytest.fixture(autouse=True)
def without_sync(monkeypatch):
    """No test cuts the power, and waiting for the disk takes longer than all else."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    path = tmp_path_factory.mktemp("configs") / "small.yaml"
    path.write_text(
        "title: Small\ndatasets: [heart, sonar]\nsplit: {train: 0.8, repeats: 4, seed: 3}\n"
        "learners: {fld: {}, ave-perc: {epochs: 10}}\n",
        encoding="utf-8",
    )
    return load_config(path)


@pytest.fixture
def make_folder(tmp_path, experiment):

    return lambda name, splits=SPLITS, runs=(), experiment=experiment, **more: stored_runs.make_folder(
        tmp_path / name, experiment, splits, runs=runs, **more
    )


def read_cells(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "cells").iterdir()}


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.json*")}


TASKS = [(cell, split) for cell in range(4) for split in SPLITS]


@settings(max_examples=8)
@given(
    owners=st.lists(
        st.sets(st.integers(0, 3), min_size=1, max_size=4), min_size=len(TASKS), max_size=len(TASKS)
    ),
    orders=st.lists(st.permutations(list(SPLITS)), min_size=4, max_size=4),
)
def test_any_parts_of_a_run_merge_to_the_run(experiment, owners, orders):
    where = dict(zip(TASKS, owners, strict=True))
    keys = [cell.key for cell in plan(experiment)]
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        store_run(top / "whole", experiment, lambda cell: [make_record(cell, k) for k in SPLITS])
        for folder in range(4):

            def make_part(cell, folder=folder):
                mine = [k for k in orders[folder] if folder in where[keys.index(cell.key), k]]
                return [make_record(cell, k) for k in mine]

            store_run(top / str(folder), experiment, make_part)
        summary = merge_folders([top / str(folder) for folder in range(4)], top / "merged")
        assert read_all(top / "merged") == read_all(top / "whole")
        assert summary.n_records == len(TASKS)
        assert summary.n_shared == sum(map(len, owners)) - len(TASKS)
        assert [(n_done, manifest.n_tasks) for manifest, n_done in summary.runs] == [(16, 16)]


def test_runs_of_both_are_kept_in_order_beside_other_experiments(make_folder, tmp_path, experiment):
    late, early = make_run_info(started="2026-02-02"), make_run_info(started="2026-01-01", zoloss="0.0.9")
    other = experiment.model_copy(update={"name": "other", "title": "Other"})
    folders = make_folder("a", [0, 1], [late]), make_folder("b", [2], [early, late])
    summary = merge_folders([*folders, make_folder("c", [1], experiment=other)], tmp_path / "out")
    manifests = {manifest.experiment.name: manifest for manifest in Store(tmp_path / "out").read_manifests()}
    assert set(manifests) == {"small", "other"}
    assert manifests["small"].runs == [early, late]
    done = {manifest.experiment.name: (n_done, manifest.n_tasks) for manifest, n_done in summary.runs}
    assert done["small"] == (12, 16)
    assert summary.notes == ["'small' was run by zoloss 0.0.9 and 0.1.0"]


def test_times_may_differ_and_fields_that_only_one_has_are_kept(make_folder, tmp_path):
    fast = make_folder("fast")
    slow = make_folder("slow", change=lambda cell, split: {"wall_time": 9.0, "fit_time": 3.0})
    merge_folders([fast, slow], tmp_path / "out")
    assert read_cells(tmp_path / "out") == read_cells(fast)
    scored = make_folder("scored", [1], change=lambda cell, split: {"test_scores": ([0.5], [1.5])})
    merge_folders([fast, scored], tmp_path / "both")
    store = Store(tmp_path / "both")
    for cell in store.read_manifests()[0].cells:
        records = store.read(cell.file, cell.key).records
        assert [records[k].test_scores is not None for k in SPLITS] == [False, True, False, False]


def test_what_contradicts_is_named_and_nothing_is_written(make_folder, tmp_path, zoloss):
    a, first = make_folder("a"), make_folder("first", [0])
    for folders, message in (
        (
            [
                make_folder(n, [0], change=lambda cell, split, k=k: {"iterations": k})
                for n, k in (("b", 3), ("c", 4))
            ],
            r"iterations is 3 in .*first and 4 in .*c",  # each of two agrees with the third
        ),
        ([make_folder("d", [1], sizes=(199, 51))], r"n_train is 200 in .*first and 199 in .*d"),
    ):
        with pytest.raises(ResultsError, match=message):
            merge_folders([first, *folders], tmp_path / "out")
    many = make_folder("many", change=lambda cell, split: {"test_errors": 47})
    ended = zoloss("merge", a, many, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (4, "")
    assert "16 tasks have different numbers" in ended.err
    assert re.search(rf"small: fld on \w+, split \d: test_errors is \d+ in {a} and 47 in {many}", ended.err)
    assert ended.err.splitlines()[-1].endswith("and 6 more")
    assert not (tmp_path / "out").exists()


def test_a_failed_task_gives_way_to_its_record(tmp_path, experiment):
    store_run(tmp_path / "a", experiment, lambda cell: [FailedRecord(0, "no"), FailedRecord(1, "not yet")])
    store_run(tmp_path / "b", experiment, lambda cell: [make_record(cell, 1)])
    merge_folders([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    store = Store(tmp_path / "out")
    for cell in store.read_manifests()[0].cells:
        stored = store.read(cell.file, cell.key)
        assert (list(stored.records), list(stored.failed)) == ([1], [0])


def test_another_experiment_of_the_same_name(make_folder, tmp_path, experiment):
    a = make_folder("a", [0])
    for name, changes, reason in (
        ("b", {"title": "Another"}, "title is 'Small' and 'Another'"),
        ("c", {"metric": "train_error"}, "metric is 'test_error' and 'train_error'"),
        ("d", {"split": experiment.split.model_copy(update={"repeats": 9})}, "split.repeats is 4 and 9"),
    ):
        other = make_folder(name, [0], experiment=experiment.model_copy(update=changes))
        with pytest.raises(ResultsError, match=f"'small' is not the same experiment in .*: {reason}"):
            merge_folders([a, other], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_version_of_an_algorithm_or_of_the_format(make_folder, tmp_path):
    a, b = make_folder("a"), make_folder("b")
    path = b / "runs" / "small.json"
    manifest = decode_manifest(path.read_bytes())
    changed = [msgspec.structs.replace(manifest.cells[0], key="0" * 16), *manifest.cells[1:]]
    path.write_text(encode_manifest(type(manifest)(manifest.config, manifest.experiment, changed, [])))
    with pytest.raises(ResultsError, match=r"has different versions in .* the data or the algorithm changed"):
        merge_folders([a, b], tmp_path / "out")
    (b / MARKER).write_text(json.dumps({"results_of": "zoloss", "format": 1}))
    with pytest.raises(ResultsError, match="does not have the format of this version of zoloss"):
        merge_folders([a, b], tmp_path / "out")


def test_damage_is_left_out_with_a_note(make_folder, tmp_path):
    a, b = folders = make_folder("a", [0, 1]), make_folder("b", [2, 3])
    torn, foreign = sorted((a / "cells").iterdir())[0], b / "cells" / "notes.jsonl"
    torn.write_bytes(torn.read_bytes()[:-5])
    foreign.write_text("mine")
    before = [read_all(folder) for folder in folders]
    summary = merge_folders([a, b], tmp_path / "out")
    assert [read_all(folder) for folder in folders] == before
    assert summary.n_records == 15
    assert summary.notes == [f"{torn} has 1 damaged line; left out", f"{foreign} is not a cell file; left out"]


def test_where_it_may_be_written(make_folder, tmp_path):
    a, b = make_folder("a"), make_folder("b")
    (tmp_path / "empty").mkdir()
    merge_folders([a, b], tmp_path / "empty")
    assert read_cells(tmp_path / "empty") == read_cells(a)
    for out, error, why in (
        (tmp_path / "empty", OutputError, "exists"),
        (a, OutputError, "exists"),
        (a / "inside", OutputError, "in the input folder"),
        (tmp_path / "no" / "where", OutputError, "there is no folder"),
    ):
        with pytest.raises(error, match=why):
            merge_folders([a, b], out)
    with pytest.raises(ResultsError, match="named twice"):
        merge_folders([a, tmp_path / "b" / ".." / "a"], tmp_path / "out")
    with pytest.raises(ResultsError, match="at least two results folders"):
        merge_folders([a], tmp_path / "out")


def test_where_files_lie_is_no_difference(tmp_path):
    """Two machines have the same table and the same class in folders of other names."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.csv").write_text("x,label\n" + "".join(f"{k},{k % 2}\n" for k in range(20)))
        (tmp_path / name / "mine.py").write_text("class Mine: pass\n")
        config = tmp_path / name / "own.yaml"
        config.write_text("datasets: {mine: {csv: mine.csv}}\nlearners: {mine: {learner: 'mine.py:Mine'}}\n")
        with use_code_policy("skip"):
            store_run(tmp_path / name / "r", load_config(config), lambda cell: [make_record(cell, 0)])
    assert merge_folders([tmp_path / "a" / "r", tmp_path / "b" / "r"], tmp_path / "out").n_shared == 1
