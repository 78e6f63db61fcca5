"""Columns that are ratios: the cost of one learner over that of another, on the same splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from zoloss_cli.reporting.published.cells import Printed

if TYPE_CHECKING:
    from zoloss_cli.reporting.results import RunResult, Stat

MEASURED = "cost"


def make_ratios(run: RunResult) -> None:
    """Put the ratios that the config names in the place of the two learners' own cells."""
    cells, splits = {}, {}
    for dataset in run.datasets:
        for label, sides in run.experiment["ratios"].items():
            places = [(dataset, sides["of"]), (dataset, sides["over"])]
            if not all(place in run.cells for place in places):
                continue
            of, over = (dict(zip(run.splits[p], run.cells[p][MEASURED], strict=True)) for p in places)
            if both := sorted(of.keys() & over.keys()):
                ratios = [of[k] / over[k] for k in both]
                cells[dataset, label] = {"cost_ratio": ratios, "median_ratio": ratios}
                splits[dataset, label] = both
    run.cells, run.splits, run.choices = cells, splits, {}


def ratio_z(ours: Stat, theirs: Printed, runs: int) -> float:
    """How far apart two geometric means are: the difference of their logarithms over its standard error.

    Print gives no error: its `runs` trials are taken to spread as ours do. A printed 0.0000 says "below
    half of the last digit", and what is below it agrees.
    """
    half = 0.5 * 10.0**-theirs.decimals
    if theirs.value == 0.0 and ours.mean < half:
        return 0.0
    print_is = theirs.value or half
    mine = ours.stderr / ours.mean
    error = math.hypot(mine, mine * math.sqrt(ours.splits / runs), half / math.sqrt(3.0) / print_is)
    return math.log(ours.mean / print_is) / error
