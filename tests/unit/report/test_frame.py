"""Results as one DataFrame: every record a row, as the files themselves have them."""

from __future__ import annotations

import json
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from places import TOP
from stored_runs import make_record, make_run_info, store_run

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.report.frame import COLUMNS, DTYPES, load_results
from zoloss_cli.results.record import (
    CHECK_LENGTH,
    FailedRecord,
    FitRecord,
    Measurement,
    MeasureRecord,
    hash_identity,
)
from zoloss_cli.results.store import Store

REFERENCE = TOP / "results" / "reference"
# What does not fit into a cell of a frame: one value per sample, epoch or moment.
LISTS = {
    *("trace", "epochs", "train_curve", "test_curve", "cost_curve", "test_scores", "test_probabilities"),
    *("points", "pairs", "clusters", "growth", "times", "least_squares", "growth_by_size"),
    *("flipped_growth_by_size", "flipped_times_by_size", "scores", "flipped"),
}


@pytest.fixture
def experiment(small_config):
    return load_config(small_config)


@pytest.fixture
def small_results(tmp_path, experiment):
    """Six records a cell; of the first cell, one task failed."""

    def make_records(cell):
        is_first = (cell.data.name, cell.learner.label) == ("heart", "rcd-bias")
        found = [make_record(cell, split) for split in range(5 if is_first else 6)]
        return [*found, FailedRecord(5, "ValueError: =1+1", 0.5)] if is_first else found

    store_run(tmp_path / "results", experiment, make_records, [make_run_info()])
    return tmp_path / "results"


def read_lines(folder):
    """All records of a folder by plain JSON, with the header of their file."""
    for path in sorted((folder / "cells").glob("*.jsonl")):
        header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        yield from ((header, line) for line in lines)


def test_columns_have_the_documented_types(small_results):
    frame = load_results(small_results)
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        column.name: DTYPES[column.type] for column in COLUMNS
    }


def test_every_field_of_a_record_is_a_column_or_a_known_list():
    fields = {name for kind in (FitRecord, MeasureRecord, Measurement) for name in kind.__struct_fields__}
    assert fields - LISTS - {"measured"} - {column.name for column in COLUMNS} == set()


def test_rows_are_the_lines_of_the_files(small_results):
    frame = load_results(str(small_results))
    found = {
        (row.key, row.split): (row.seed, row.n_train, row.n_test, row.train_errors, row.test_errors, row.failed)
        for row in frame.astype(object).where(frame.notna(), None).itertuples()
    }
    expected = {
        (hash_identity(header["identity"]), line["split"]): (
            header["identity"]["split"]["seed"],
            header["n_train"],
            header["n_test"],
            line.get("train_errors"),
            line.get("test_errors"),
            line.get("failed"),
        )
        for header, line in read_lines(small_results)
    }
    assert found == expected
    assert len(frame) == 24


def test_rates_versions_and_names(small_results, experiment):
    frame = load_results(small_results)
    done = frame[frame.failed.isna()]
    np.testing.assert_allclose(done.test_error, 100 * done.test_errors.astype(float) / 50)
    np.testing.assert_allclose(done.train_error, 100 * done.train_errors.astype(float) / 200)
    assert frame.train_error.isna().sum() == 1
    assert set(frame.dataset) == {"heart", "sonar"}
    assert set(frame.learner) == {"rcd-bias", "ave-perc"}
    assert set(frame.run) == {experiment.name}
    assert (set(frame.zoloss), set(frame.python), set(frame.numpy)) == ({"0.1.0"}, {"3.11.7"}, {"2.0.0"})
    parameters = frame[frame.learner == "rcd-bias"].parameters.unique()
    assert [json.loads(text)["epochs"] for text in parameters] == [40]
    assert set(frame.learner_version) == {"1"}


def test_a_record_of_two_runs_is_one_row(tmp_path, experiment):
    folder = tmp_path / "results"
    for name in ("a", "b"):
        renamed = experiment.model_copy(update={"name": name})
        rows = (lambda cell: [make_record(cell, k) for k in range(3)]) if name == "a" else (lambda cell: [])
        store_run(folder, renamed, rows, [make_run_info(zoloss=f"0.{name}")])
    frame = load_results(folder)
    assert len(frame) == 12
    assert (set(frame.run), set(frame.also_in), set(frame.zoloss)) == ({"a"}, {"b"}, {"0.a, 0.b"})
    second = load_results(folder, table="b")
    assert (set(second.run), set(second.also_in), len(second)) == ({"b"}, {"a"}, 12)


def test_confusion_counts_of_two_classes_have_columns(tmp_path, experiment):
    def make_records(cell):
        two, three = [[30, 4], [5, 11]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        return [make_record(cell, 0, test_confusion=two), make_record(cell, 1, test_confusion=three)]

    store_run(tmp_path / "results", experiment, make_records)
    frame = load_results(tmp_path / "results").sort_values("split").iloc[[0, -1]]
    first, last = frame.iloc[0], frame.iloc[1]
    assert [first[f"test_{x}"] for x in ("tn", "fp", "fn", "tp")] == [30, 4, 5, 11]
    assert last[["test_tn", "train_tn"]].isna().all()
    assert json.loads(last.test_confusion)[2] == [7, 8, 9]


def test_measures_have_their_own_columns(tmp_path, write_config):
    config = write_config(
        "title: M\ndatasets: [heart]\nmeasures: {complexity: {}}\nmetric: complexity\nsplit: {repeats: 2}\n"
    )
    principal = {"principal_points": 2, "principal_subsets": 5, "points": [], "pairs": [], "clusters": []}
    measured = Measurement(complexity=17, exact=True, solves=3, **principal)
    store_run(tmp_path / "m", load_config(config), lambda cell: [MeasureRecord(0, measured, draw=0)])
    (row,) = load_results(tmp_path / "m").itertuples()
    assert (row.kind, row.complexity, row.exact, row.solves, row.draw) == ("measure", 17, True, 3, 0)
    assert row.train_errors is pd.NA
    assert np.isnan(row.test_error)


def test_all_samples_train(tmp_path, experiment):
    store_run(tmp_path / "r", experiment, lambda cell: [FitRecord(0, 3)], sizes=(250, 0))
    frame = load_results(tmp_path / "r")
    assert frame.test_errors.isna().all()
    assert frame.test_error.isna().all()
    assert set(frame.n_test) == {0}


def test_damage_is_left_out_with_a_warning(small_results):
    path = sorted((small_results / "cells").glob("heart.ave-perc*"))[0]
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], lines[2].replace(b"1", b"2"), *lines[3:]]))
    with pytest.warns(UserWarning, match="1 damaged line"):
        frame = load_results(small_results)
    assert len(frame) == 23


def test_nothing_to_show_is_said(tmp_path, experiment):
    store_run(tmp_path / "empty", experiment, lambda cell: [])
    with pytest.raises(ResultsError, match="holds no record yet"):
        load_results(tmp_path / "empty")
    with pytest.raises(ResultsError, match="there is no folder"):
        load_results(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match="there is no table 'II'"):
        load_results(tmp_path / "empty", table="II")


@pytest.mark.parametrize("count", [1 << 53, 10**30, 10**400])
def test_a_count_that_can_be_none_is_refused(tmp_path, experiment, count):
    store_run(tmp_path / "r", experiment, lambda cell: [make_record(cell, 0, iterations=7)])
    store = Store(tmp_path / "r")
    path = next(iter((store.folder / "cells").iterdir()))
    header, line, _ = path.read_bytes().split(b"\n")
    body = line[:-CHECK_LENGTH].replace(b'"iterations":7', b'"iterations":%d' % count)
    path.write_bytes(b'%s\n%s,"check":"%08x"}\n' % (header, body, crc32(body)))
    with pytest.raises(ResultsError, match=r"too large|or more"):
        load_results(store.folder)
