"""`zoloss export`: what other programs read is what `load_results` returns."""

from __future__ import annotations

import io
import sys

import pandas as pd
import pytest
from stored_runs import make_record, make_run_info, store_run

from zoloss_cli import load_results
from zoloss_cli.config.loader import load_config


@pytest.fixture
def results(tmp_path, write_config):
    config = write_config(
        "title: Odd\ndatasets: {=heart: {dataset: heart}}\nsplit: {repeats: 3}\n"
        "learners: {'@a': {learner: fld}, b: {learner: ave-perc, epochs: 3}}\n"
    )
    experiment = load_config(config)
    store_run(tmp_path / "r", experiment, lambda c: [make_record(c, k) for k in range(3)], [make_run_info()])
    return tmp_path / "r"


def test_csv_comes_back(zoloss, results):
    ended = zoloss("export", results)
    assert (ended.code, ended.err) == (0, "")
    frame, read = load_results(results), pd.read_csv(io.StringIO(ended.out))
    assert list(read.columns) == list(frame.columns)
    for name in ("split", "train_errors", "test_errors", "n_train", "seed"):
        assert read[name].tolist() == frame[name].tolist()
    assert read.test_error.tolist() == frame.test_error.tolist()
    assert read.parameters.tolist() == frame.parameters.tolist()
    assert set(read.dataset) == {"'=heart"}  # which no spreadsheet takes for a formula
    assert set(read.learner) == {"'@a", "b"}


def test_parquet_comes_back_with_its_types(zoloss, results, tmp_path):
    out = tmp_path / "records.parquet"
    ended = zoloss.ok("export", results, "--out", out)
    assert "6 records" in ended.out
    frame = load_results(results)
    pd.testing.assert_frame_equal(pd.read_parquet(out), frame, check_categorical=False)


def test_a_file_is_not_overwritten_unasked(zoloss, results, tmp_path):
    out = tmp_path / "records.csv"
    out.write_text("mine")
    ended = zoloss("export", results, "--out", out)
    assert (ended.code, out.read_text()) == (7, "mine")
    assert "--force overwrites it" in ended.err
    assert zoloss("export", results, "--out", out, "--force").code == 0
    assert len(out.read_text().splitlines()) == 7


def test_what_cannot_be_written_is_one_sentence(zoloss, results, tmp_path, monkeypatch):
    assert "name it with --out" in zoloss("export", results, "--format", "parquet").err
    assert "did you mean 'parquet'" in zoloss("export", results, "--format", "parket").err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ended = zoloss("export", results, "--out", tmp_path / "x.parquet")
    assert ended.code == 8
    assert "--format parquet needs the package pyarrow" in ended.err
    assert not (tmp_path / "x.parquet").exists()
