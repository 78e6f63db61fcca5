"""How long a table takes to be read, beside `pandas.read_csv`: `make bench`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from zoloss_cli.data.user_table import read_for_training

ROWS, FEATURES = 1_000_000, 20
GROUP = f"reading {ROWS:,} x {FEATURES}"


@pytest.fixture(scope="module")
def large_table(tmp_path_factory):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(ROWS, FEATURES)).round(6)).add_prefix("x")
    path = tmp_path_factory.mktemp("tables") / "large.csv"
    frame.assign(label=rng.integers(0, 2, ROWS)).to_csv(path, index=False)
    return path


def measure(benchmark, name: str, read) -> None:
    benchmark.group, benchmark.name = GROUP, name
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(read, rounds=3, warmup_rounds=1)


def test_pandas_reference(benchmark, large_table):
    measure(benchmark, "pandas.read_csv (_reference)", lambda: pd.read_csv(large_table))


def test_reading(benchmark, large_table):
    measure(benchmark, "read_for_training", lambda: read_for_training(large_table))
