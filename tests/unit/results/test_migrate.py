"""Results of zoloss 0.1: refused in one sentence, converted without a loss, in one go or in several."""

from __future__ import annotations

import json
import shutil

import msgspec
import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.report.loading import load_runs
from zoloss_cli.results import migrate as module
from zoloss_cli.results.migrate import RECORD_KEYS, migrate
from zoloss_cli.results.record import FailedRecord, FitRecord, Measurement, MeasureRecord
from zoloss_cli.results.store import MARKER, Store

CONFIGS = {
    "fits": """
title: Fits
metric: fit_time
also: iterations
published: {paper: nguyen-sanner-2013, table: "3"}
datasets: {heart: , sonar: }
split: {train: 0.8, repeats: 3, seed: 3}
learners: {svm: , boosted: {learner: adaboost, base: stump, rounds: 4}}
""",
    "pruned": """
title: Pruned
tuning: {folds: 2}
datasets: {heart: {flip: {share: 0.1}}, pruned: {dataset: heart, flip: {share: 0.1}, prune: {by: neighbours}}}
split: {train: 0.8, repeats: 2, seed: 3}
learners: {svm: {tune: {C: [[0.1], [1.0]]}}, pocket: {epochs: 4, record_every: 2}}
""",
    "measured": """
title: Measured
metric: auc
datasets: {yinyang: {size: 24, flip: {share: 0.1}}}
split: {train: all, repeats: 2, seed: 3}
measures: {neighbours: , contribution: {permutations: 3}}
""",
}
SINCE = {"train_confusion", "test_confusion"}  # what zoloss 0.1 did not store
OLD_KEYS = {new: old for old, new in RECORD_KEYS.items()}
OLD_METRICS = {"fit_time": "seconds", "time_to_best": "reached"}


@pytest.fixture(scope="module")
def configs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configs")
    for name, text in CONFIGS.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def todays(configs, tmp_path_factory):
    """The results of three configs, without what zoloss 0.1 did not store, and one task that failed."""
    from zoloss_cli.experiment.runner import Progress, run_experiment

    store = Store(tmp_path_factory.mktemp("today") / "results")
    for name in CONFIGS:
        path = configs / f"{name}.yaml"
        run_experiment(load_config(path), f"{name}.yaml", store, 1, Progress())
    for path in store.folder.glob("cells/*.jsonl"):
        key = path.name.split(".")[-2]
        cell, content = read_address(path), store.read(path.name, key)
        records = [
            msgspec.structs.replace(r, **dict.fromkeys(SINCE)) if isinstance(r, FitRecord) else r
            for r in content.records.values()
        ]
        if path.name.startswith("sonar.svm"):
            records[1] = FailedRecord(1, "ValueError: no luck", wall_time=0.5)
        store._rewrite_cell(cell, content, records)
    return store.folder


def read_address(path):
    """What the store needs to know of a cell, from its file."""
    header = json.loads(path.read_bytes().split(b"\n")[0])

    class Address:
        key, filename = path.name.split(".")[-2], path.name
        identity, kind = header["identity"], header["kind"]

    return Address()


def write_old_cell(path):
    header, *records = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    old = [{"format": 1} | {key: header[key] for key in ("n_train", "n_test", "identity")}]
    for record in records:
        del record["check"]
        old.append({OLD_KEYS.get(key, key): value for key, value in record.items()})
    lines = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) + "\n" for each in old]
    path.write_text("".join(lines), encoding="utf-8")


def write_old_manifest(path):
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["format"] = 1
    for run in manifest["runs"]:
        run["units"] = run.pop("tasks")
    experiment = manifest["experiment"]
    del experiment["keep"]
    for key in ("metric", "also"):
        experiment[key] = OLD_METRICS.get(experiment[key], experiment[key])
    path.write_text(json.dumps(manifest, indent=1), encoding="utf-8")


@pytest.fixture
def old(todays, tmp_path):
    """The same results as zoloss 0.1 has stored them."""
    folder = tmp_path / "results"
    shutil.copytree(todays, folder)
    for path in folder.glob("cells/*.jsonl"):
        write_old_cell(path)
    for path in folder.glob("runs/*.json"):
        write_old_manifest(path)
    (folder / MARKER).write_text('{"results_of": "zoloss", "format": 1}\n', encoding="utf-8")
    return folder


def read_files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json*"))}


# -- reading without converting -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["table", "compare", "stats", "status", "report", "plot"])
def test_an_old_folder_is_refused_with_the_command_that_converts_it(zoloss, old, command):
    more = {"report": ["-o", old.parent / "page.html"], "plot": ["--figure", "ranks"]}.get(command, [])
    before = read_files(old)
    ended = zoloss(command, old, *more)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        f"zoloss: {old} has the layout of zoloss 0.1; convert it, losing nothing, with: zoloss migrate {old}\n"
    )
    assert read_files(old) == before


def test_nothing_is_run_into_an_old_folder(zoloss, old, configs):
    before = read_files(old)
    ended = zoloss("run", configs / "fits.yaml", "--out", old, "--jobs", 1)
    assert ended.code == 4
    assert f"zoloss migrate {old}" in ended.err
    assert read_files(old) == before


# -- converting ---------------------------------------------------------------------------------------


def test_a_converted_folder_is_what_today_writes(zoloss, old, todays):
    ended = zoloss("migrate", old)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{old}: 10 cells and 3 manifests converted\n"
    now, expected = read_files(old), read_files(todays)
    assert list(now) == list(expected)
    for name, content in expected.items():
        if name.startswith("runs/"):
            rest = {"experiment": None, "check": None}  # the check value is that of the experiment too
            assert json.loads(now[name]) | rest == json.loads(content) | rest
        else:
            assert now[name] == content, name
    assert Store(old).read_manifests() == Store(todays).read_manifests()


@pytest.mark.parametrize("format", ["text", "csv"])
def test_its_tables_are_the_same(zoloss, old, todays, format):
    migrate(old)
    for command in ("table", "compare", "stats"):
        before, after = (zoloss(command, folder, "--format", format) for folder in (todays, old))
        assert after.code == 0
        shown, noted = (text.replace(str(todays), str(old)) for text in (before.out, before.err))
        assert (after.out, after.err) == (shown, noted)
    assert zoloss("status", old).out == zoloss("status", todays).out


def test_a_run_goes_on_in_a_converted_folder(zoloss, old, configs):
    migrate(old)
    ended = zoloss("run", configs / "fits.yaml", "--out", old, "--jobs", 1)
    assert "12 tasks: 11 were done, 1 run" in ended.err  # the failed one is tried again
    for name in ("pruned", "measured"):
        assert " 0 run" in zoloss("run", configs / f"{name}.yaml", "--out", old, "--jobs", 1).err


def test_converting_twice_changes_nothing(old):
    migrate(old)
    once = read_files(old)
    assert migrate(old) == [f"{old} has the current layout already"]
    assert read_files(old) == once


@pytest.mark.parametrize("stopped_after", [0, 1, 5, 10, 12, 13])
def test_an_interrupted_conversion_goes_on(old, todays, monkeypatch, stopped_after):
    real, written = module.write_text, []

    def interrupted(path, text):
        if len(written) == stopped_after:
            raise KeyboardInterrupt
        written.append(path)
        real(path, text)

    monkeypatch.setattr(module, "write_text", interrupted)
    monkeypatch.setattr(Store, "write_marker", lambda self: interrupted(self.folder / MARKER, ""))
    with pytest.raises(KeyboardInterrupt):
        migrate(old)
    monkeypatch.undo()
    with pytest.raises(ResultsError, match="zoloss migrate"):  # half of it is not shown
        load_runs(old)
    assert migrate(old) == [f"{old}: 10 cells and 3 manifests converted"]
    assert read_files(old)[MARKER] == read_files(todays)[MARKER]
    for name, content in read_files(todays).items():
        if name.startswith("cells/"):
            assert read_files(old)[name] == content


def test_a_full_disk_is_one_sentence(zoloss, old, monkeypatch):
    def fail(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_text", fail)
    ended = zoloss("migrate", old)
    assert ended.code == 4
    assert "No space left on device" in ended.err
    assert ended.err.count("\n") == 1


# -- damage -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json\n",
        b"[]\n",
        b'{"format":1}\n',
        b'{"format":1,"n_train":216,"n_test":54,"identity":{"learner":"svm"}}\n{"k":0,"train":1,"test":1}\n',
        b'{"format":7,"n_train":216,"n_test":54,"identity":{}}\n',
        b"[" * 100_000,
        b"\xff\xfe\n",
    ],
)
def test_damaged_cells_are_left_and_named(zoloss, old, content):
    path = next(old.glob("cells/heart.svm.*"))
    path.write_bytes(content)
    ended = zoloss("migrate", old)
    assert ended.code == 0
    assert ended.out == f"{old}: 9 cells and 3 manifests converted\n"
    assert f"{path} could not be converted and is left as it is: " in ended.err
    assert ended.err.count("\n") == 1
    assert path.read_bytes() == content
    assert f"{path} has no readable header; left out" in zoloss("table", old).err


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_train": "many"}, "Expected `int`"),
        ({"n_train": 0}, "Expected `int` >= 1"),
        ({"n_test": -1}, "Expected `int` >= 0"),
    ],
)
def test_a_header_that_nobody_could_read_later_is_not_written(old, change, reason):
    path = next(old.glob("cells/heart.svm.*"))
    header, *lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([json.dumps(json.loads(header) | change).encode(), *lines]))
    before = path.read_bytes()
    _, note = migrate(old)
    assert f"{path} could not be converted and is left as it is: {reason}" in note
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("runs"),
        lambda m: m.pop("experiment"),
        lambda m: m["experiment"].pop("datasets"),
        lambda m: m["experiment"].update(metric="tea"),
        lambda m: m["cells"][0].update(file="../precious"),
        lambda m: m["runs"][0].pop("units"),
        lambda m: m.update(format=3),
    ],
)
def test_damaged_manifests_are_left_and_named(zoloss, old, change):
    path = old / "runs" / "pruned.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    before = path.read_bytes()
    ended = zoloss("migrate", old)
    assert ended.out == f"{old}: 10 cells and 2 manifests converted\n"
    assert f"{path} could not be converted and is left as it is: " in ended.err
    assert ended.err.count("\n") == 1
    assert path.read_bytes() == before
    shown = zoloss("table", old)
    assert shown.code == 0
    assert f"{path} is not a manifest of this version of zoloss (" in shown.err
    assert "Measured" in shown.out


def test_damaged_lines_are_dropped_and_counted(old):
    path = next(old.glob("cells/heart.svm.*"))
    header, first, *_ = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, first, '{"k":1,"train":-3,"test":1}', '{"k":2,"tr']), encoding="utf-8")
    _, note = migrate(old)
    assert note == f"{path}: 2 damaged lines dropped"
    assert list(Store(old).read(path.name, path.name.split(".")[-2]).records) == [0]


@pytest.mark.parametrize("content", ["", "{}", '{"results_of": "zoloss", "format": 99}'])
def test_only_folders_of_zoloss_are_converted(zoloss, old, tmp_path, content):
    (old / MARKER).write_text(content, encoding="utf-8")
    before = read_files(old)
    ended = zoloss("migrate", old)
    assert ended.code == 4
    assert "is not of this version of zoloss" in ended.err
    assert read_files(old) == before
    ended = zoloss("migrate", tmp_path / "nowhere")
    assert (ended.code, ended.out) == (4, "")
    assert f"{tmp_path / 'nowhere'} is not a results folder" in ended.err


# -- lines as zoloss 0.1 wrote them -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (
            '{"k":0,"train":42,"test":11,"pruned":44,"flipped":24,"caught":15,"seconds":0.00094,"epochs":[2,4],'
            '"train_curve":[41,42],"test_curve":[14,11],"s":0.00211}',
            FitRecord(
                0,
                42,
                11,
                n_pruned=44,
                n_flipped=24,
                n_flipped_pruned=15,
                fit_time=0.00094,
                epochs=[2, 4],
                train_curve=[41, 42],
                test_curve=[14, 11],
                wall_time=0.00211,
            ),
        ),
        (
            '{"k":1,"train":30,"test":10,"tuned":"C=[0.1]","seconds":0.00224,"lower_bound":0.0,"s":0.0174}',
            FitRecord(1, 30, 10, choice="C=[0.1]", fit_time=0.00224, lower_bound=0.0, wall_time=0.0174),
        ),
        (
            '{"k":2,"train":5,"lenient":4,"unseen":3,"unsplit":1,"iterations":7,"cost":0.5,"counted":3,"bound":9,'
            '"reached":0.25,"seconds":1,"trace":[[0.0,9.0],[0.25,5.0]]}',
            FitRecord(
                2,
                5,
                train_errors_lenient=4,
                n_unseen=3,
                n_unsplit=1,
                iterations=7,
                cost=0.5,
                counted=3.0,
                bound=9.0,
                time_to_best=0.25,
                fit_time=1.0,
                trace=[(0.0, 9.0), (0.25, 5.0)],
            ),
        ),
        (
            '{"k":0,"draw":0,"seconds":0.001107,"measured":{"scores":[0.5,0.25],"flipped":[1]},"s":0.03237}',
            MeasureRecord(
                0, Measurement(scores=[0.5, 0.25], flipped=[1]), draw=0, fit_time=0.001107, wall_time=0.03237
            ),
        ),
        ('{"k":3,"failed":"ValueError: no"}', FailedRecord(3, "ValueError: no")),
    ],
)
def test_old_lines_by_hand(line, record):
    assert module._convert_record(line.encode()) == record


def test_every_field_of_today_has_an_old_name_or_its_own():
    assert set(RECORD_KEYS.values()) <= {*FitRecord.__struct_fields__, *MeasureRecord.__struct_fields__}
    assert len(set(RECORD_KEYS.values())) == len(RECORD_KEYS)


def test_a_measures_cell_without_records_stays_one_of_measures(old, configs):
    """Its next record would not fit a file of fits."""
    (cell, _) = plan(load_config(configs / "measured.yaml"))
    path = old / "cells" / cell.filename
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    migrate(old)
    assert Store(old).read(cell.filename, cell.key).kind == "measure"
