"""The published numbers, and how much a generated pool's luck adds to their uncertainty."""

from __future__ import annotations

import csv
import functools
import math
from typing import NamedTuple

from zoloss_cli.utils.paths import PUBLISHED_FOLDER

POOL_SD = PUBLISHED_FOLDER / "pool_sd.csv"
PAPERS = {
    "li-lin-2007": "Li & Lin (2007)",
    "li-thesis-2006": "Li's thesis (2006)",
    "nguyen-sanner-2013": "Nguyen & Sanner (2013)",
}
POOL_SD_COLUMNS = ("generator", "learner", "metric", "pools", "splits", "sd")

# Table 3 of Nguyen & Sanner (2013) has two kinds of seconds. Its last two columns are "T0", the time until
# the solution was found, because these learners were stopped after 300 s; the others are "T1", all the time.
REACHED = {("nguyen-sanner-2013", "3", "pcs"), ("nguyen-sanner-2013", "3", "bnb")}


class Printed(NamedTuple):
    """A printed cell; decimals is how many it was rounded to, star whether it is marked with *.

    `deviation` is what is printed after ± where that is a standard deviation.
    """

    value: float
    stderr: float | None
    decimals: int
    star: bool = False
    deviation: float | None = None


Cells = dict[tuple[str, str, str], Printed]


@functools.cache
def published() -> dict[tuple[str, str], Cells]:
    """(paper, table) -> (data set, learner, metric) -> the printed number; cells without one are left out."""
    tables: dict[tuple[str, str], Cells] = {}
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["value"] == "":
                continue
            decimals = len(row["value"].partition(".")[2])
            stderr = float(row["stderr"]) if row["stderr"] else None
            metric = row["metric"]
            if metric == "seconds" and (row["paper"], row["table"], row["learner"]) in REACHED:
                metric = "reached"
            cell = (row["dataset"], row["learner"], metric)
            tables.setdefault((row["paper"], row["table"]), {})[cell] = Printed(
                float(row["value"]), stderr, decimals, row["star"] == "1"
            )
    return tables


def printed_place(mirrored: dict) -> str:
    """The table's number, or the figure that a text gives numbers of."""
    return mirrored.get("table") or f"figure {mirrored.get('figure')}"


def printed_name(mirrored: dict) -> str:
    return f"table {mirrored['table']}" if mirrored.get("table") else printed_place(mirrored)


def printed_cells(mirrored: dict) -> Cells:
    """The cells that a run mirrors, by its config's `published` section; none where there is no table."""
    cells = published().get((mirrored.get("paper", ""), printed_place(mirrored)), {})
    if mirrored.get("spread") == "deviation":
        share = 1.0 / math.sqrt(mirrored["runs"])
        cells = {
            key: cell._replace(stderr=cell.stderr * share, deviation=cell.stderr) if cell.stderr else cell
            for key, cell in cells.items()
        }
    # The papers print one count of errors: ours by either rule stands beside it.
    lenient = {(d, x, "train_01_loss_lenient"): c for (d, x, m), c in cells.items() if m == "train_01_loss"}
    return cells | lenient


@functools.cache
def pool_sd() -> dict[tuple[str, str, str], float]:
    """(generator, learner, metric) -> standard deviation over pools of the mean error, in points."""
    if not POOL_SD.is_file():
        return {}
    with POOL_SD.open(encoding="utf-8", newline="") as file:
        return {(r["generator"], r["learner"], r["metric"]): float(r["sd"]) for r in csv.DictReader(file)}
