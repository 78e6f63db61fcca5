"""The published numbers, and how much a generated pool's luck adds to their uncertainty."""

from __future__ import annotations

import csv
import functools
from typing import NamedTuple

from zoloss_cli.paths import PUBLISHED

POOL_SD = PUBLISHED / "pool_sd.csv"
POOL_SD_COLUMNS = ("generator", "learner", "metric", "pools", "splits", "sd")


class Printed(NamedTuple):
    """A printed cell; decimals is how many it was rounded to, star whether it is marked with *."""

    value: float
    stderr: float | None
    decimals: int
    star: bool = False


@functools.cache
def published() -> dict[tuple[str, str], dict[tuple[str, str, str], Printed]]:
    """(paper, table) -> (data set, learner, metric) -> the printed number; cells without one are left out."""
    tables: dict[tuple[str, str], dict[tuple[str, str, str], Printed]] = {}
    with (PUBLISHED / "tables.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["value"] == "":
                continue
            decimals = len(row["value"].partition(".")[2])
            stderr = float(row["stderr"]) if row["stderr"] else None
            cell = (row["dataset"], row["learner"], row["metric"])
            tables.setdefault((row["paper"], row["table"]), {})[cell] = Printed(
                float(row["value"]), stderr, decimals, row["star"] == "1"
            )
    return tables


@functools.cache
def pool_sd() -> dict[tuple[str, str, str], float]:
    """(generator, learner, metric) -> standard deviation over pools of the mean error, in points."""
    if not POOL_SD.is_file():
        return {}
    with POOL_SD.open(encoding="utf-8", newline="") as file:
        return {(r["generator"], r["learner"], r["metric"]): float(r["sd"]) for r in csv.DictReader(file)}
