"""How long whole commands, tables and readers take: `make bench`."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from places import REFERENCE, TOP

from zoloss_cli import load_results
from zoloss_cli.config.loader import load_config
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import run_chunk
from zoloss_cli.report.frame import render_frame

COMMANDS = {
    "zoloss --help": 5,
    "zoloss table results/reference": 5,
    "zoloss compare results/reference": 5,
    "zoloss report results/reference": 3,
    "zoloss fit 100,000 x 20, rcd-bias": 3,
}
READERS = {"pandas.read_csv (_reference)": pd.read_csv, "read_for_training": read_for_training}
RESULTS = "reference results as DataFrame"
TABLES = {"II": "table2.yaml", "III": "table3.yaml", "IV": "table4.yaml"}


def write_words(name: str, folder: Path) -> list[str]:
    if name.startswith("zoloss fit"):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(100_000, 20))
        y = X @ rng.normal(size=20) + 1.5 * rng.normal(size=len(X)) > 0.3
        frame = pd.DataFrame(X).add_prefix("x").assign(label=y.astype(int))
        frame.to_csv(folder / "big.csv", index=False, float_format="%.6g")
        return ["fit", str(folder / "big.csv"), "--learner", "rcd-bias"]
    own = ["--force", "--out", str(folder / "report.html")] if "report " in name else []
    return [*name.split()[1:], *own]


def run_zoloss(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "zoloss_cli", *words], cwd=TOP, check=True, capture_output=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_command(measure, name, tmp_path):
    words = write_words(name, tmp_path)
    measure("command", name, lambda: run_zoloss(*words), rounds=COMMANDS[name])


@pytest.fixture(scope="module")
def large_table(tmp_path_factory):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(1_000_000, 20)).round(6)).add_prefix("x")
    path = tmp_path_factory.mktemp("tables") / "large.csv"
    frame.assign(label=rng.integers(0, 2, len(frame))).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", READERS)
def test_reading(measure, large_table, name):
    measure("reading 1,000,000 x 20", name, lambda: READERS[name](large_table), rounds=3)


def read_plainly() -> pd.DataFrame:
    """The same lines by `json.loads` into a list of dicts, without any check."""
    rows = []
    for path in (REFERENCE / "cells").iterdir():
        header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        rows += [header["identity"] | line for line in lines]
    return pd.DataFrame(rows)


def test_results_json_reference(measure):
    measure(RESULTS, "json.loads and pandas (_reference)", read_plainly)


def test_load_results(measure):
    measure(RESULTS, "load_results", lambda: load_results(REFERENCE))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_rendering(measure, format):
    frame = load_results(REFERENCE)
    measure(RESULTS, f"as {format}, without reading", lambda: render_frame(frame, format))


def test_export(measure, tmp_path):
    words = ["export", str(REFERENCE), "--force", "--out", str(tmp_path / "records.parquet")]
    measure(RESULTS, "zoloss export --format parquet, whole", lambda: run_zoloss(*words))


def run_split(cells: list[Cell], split: int) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for cell in cells:
        start = time.process_time()
        run_chunk(cell, [split])
        label = cell.learner.label
        seconds[label] = seconds.get(label, 0.0) + time.process_time() - start
    return seconds


@pytest.mark.parametrize("table", TABLES)
def test_a_split_of_a_table(benchmark, table):
    """The fastest of two splits, after one that compiles and loads."""
    cells = list({cell.key: cell for cell in plan(load_config(TOP / "configs" / TABLES[table]))}.values())
    benchmark.group, benchmark.name = "whole table, one split", f"table {table}, {len(cells)} cells"
    run_split(cells, 0)
    each = []
    benchmark.pedantic(lambda: each.append(run_split(cells, len(each) + 1)), rounds=2)
    best = sorted(min(each, key=lambda seconds: sum(seconds.values())).items(), key=lambda item: -item[1])
    total, parts = sum(seconds for _, seconds in best), ", ".join(f"{label} {each:.2f}" for label, each in best)
    benchmark.extra_info["note"] = f"table {table}: {total:.2f} core-seconds a split; {parts}"
