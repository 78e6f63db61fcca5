"""The published numbers."""

from __future__ import annotations

import csv
import functools
import math
from typing import NamedTuple

from zoloss_cli.config.models import Published
from zoloss_cli.utils.paths import PUBLISHED_FOLDER

# The names of metrics in tables.csv, if they differ from ours. Table 3 of Nguyen & Sanner (2013) has two kinds
# of seconds: its last two columns are "T0", the time until the solution was found, because these learners were
# stopped after 300 s; the others are "T1", the total time.
METRIC_NAMES = {"seconds": "fit_time"}
TIMES_TO_BEST = {("nguyen-sanner-2013", "3", "pcs"), ("nguyen-sanner-2013", "3", "bnb")}


class PublishedValue(NamedTuple):
    """A published cell.

    Attributes
    ----------
    value : float
        The number.
    stderr : float or None
        Its standard error, if published.
    decimals : int
        Number of decimals that it was rounded to.
    star : bool
        Whether it is marked with *.
    deviation : float or None
        The number after ±, if that is a standard deviation.
    """

    value: float
    stderr: float | None
    decimals: int
    star: bool = False
    deviation: float | None = None


PublishedCells = dict[tuple[str, str, str], PublishedValue]  # by data set, learner and metric


@functools.cache
def read_published_tables() -> dict[tuple[str, str], PublishedCells]:
    """Return the published numbers by paper and table; cells without a number are left out."""
    tables: dict[tuple[str, str], PublishedCells] = {}
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["value"] == "":
                continue
            metric = METRIC_NAMES.get(row["metric"], row["metric"])
            if metric == "fit_time" and (row["paper"], row["table"], row["learner"]) in TIMES_TO_BEST:
                metric = "time_to_best"
            tables.setdefault((row["paper"], row["table"]), {})[row["dataset"], row["learner"], metric] = (
                PublishedValue(
                    float(row["value"]),
                    float(row["stderr"]) if row["stderr"] else None,
                    len(row["value"].partition(".")[2]),
                    row["star"] == "1",
                )
            )
    return tables


@functools.cache
def _count_empty() -> dict[tuple[str, str], int]:
    """Return how many cells of each table the paper leaves empty."""
    counts: dict[tuple[str, str], int] = {}
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            place = row["paper"], row["table"]
            counts[place] = counts.get(place, 0) + (row["value"] == "")
    return counts


def count_unpublished(places: set[tuple[str, str]] | None = None) -> int:
    """Return how many cells the papers leave empty, in these tables or in all."""
    return sum(count for place, count in _count_empty().items() if places is None or place in places)


def name_place(mirrored: Published) -> str:
    """Return the number of the mirrored table, or the figure for which a text gives numbers."""
    return mirrored.table or f"figure {mirrored.figure}"


def name_place_in_text(place: str) -> str:
    """Return the table, figure or section of `name_place` as named in a sentence."""
    return place if place.startswith(("figure ", "section ")) else f"table {place}"


def find_published_cells(mirrored: Published | None) -> PublishedCells:
    """Return the cells that a run mirrors, by its config's `published` section; empty if there is none."""
    if mirrored is None:
        return {}
    cells = read_published_tables().get((mirrored.paper, name_place(mirrored)), {})
    if mirrored.spread == "deviation":
        share = 1.0 / math.sqrt(mirrored.runs)
        cells = {
            key: cell._replace(stderr=cell.stderr * share, deviation=cell.stderr) if cell.stderr else cell
            for key, cell in cells.items()
        }
    # The papers publish one count of errors: ours, by either rule, is shown next to it.
    lenient = {(d, x, "train_01_loss_lenient"): c for (d, x, m), c in cells.items() if m == "train_01_loss"}
    return cells | lenient
