"""What a split of all cells of a published table costs on one core, without processes: `make bench`."""

from __future__ import annotations

import time

import pytest
from places import TOP

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import run_chunk

TABLES = {"II": "table2.yaml", "III": "table3.yaml", "IV": "table4.yaml"}


def run_split(cells: list[Cell], split: int) -> dict[str, float]:
    """Return the CPU seconds of one split of all cells, by learner."""
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
    best = min(each, key=lambda seconds: sum(seconds.values()))
    benchmark.extra_info["note"] = (
        f"table {table}: {sum(best.values()):.2f} core-seconds a split; "
        + ", ".join(
            f"{label} {seconds:.2f}" for label, seconds in sorted(best.items(), key=lambda item: -item[1])
        )
    )
