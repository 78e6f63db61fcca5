"""How long it takes to read all reference results as a DataFrame and to write them: `make bench`.

The reference parses the same lines by `json.loads` into a list of dicts, without any check.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest
from places import TOP

from zoloss_cli import load_results
from zoloss_cli.report.frame import render_frame

RESULTS = TOP / "results" / "reference"
GROUP = "reference results as DataFrame"


def measure(benchmark, name: str, compute) -> None:
    benchmark.group, benchmark.name = GROUP, name
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(compute, rounds=5, warmup_rounds=1)


def read_plainly() -> pd.DataFrame:
    rows = []
    for path in (RESULTS / "cells").iterdir():
        header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        rows += [header["identity"] | line for line in lines]
    return pd.DataFrame(rows)


def test_json_reference(benchmark):
    measure(benchmark, "json.loads and pandas (_reference)", read_plainly)


def test_load_results(benchmark):
    measure(benchmark, "load_results", lambda: load_results(RESULTS))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_rendering(benchmark, format):
    frame = load_results(RESULTS)
    measure(benchmark, f"as {format}, without reading", lambda: render_frame(frame, format))


def test_export(benchmark, tmp_path):
    command = [sys.executable, "-m", "zoloss_cli", "export", str(RESULTS), "--force", "--out"]
    command += [str(tmp_path / "records.parquet")]
    name = "zoloss export --format parquet, whole"
    measure(benchmark, name, lambda: subprocess.run(command, cwd=TOP, check=True, capture_output=True))
