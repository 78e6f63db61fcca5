"""Columns that are ratios: the cost of one learner over that of another, on the same splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from zoloss_cli.reporting.published.cells import Printed

if TYPE_CHECKING:
    from zoloss_cli.reporting.results import RunResult, Stat


def replace_by_ratios(run: RunResult) -> None:
    """Put the ratios that the config names in the place of the two learners' own cells."""
    cells: dict[Place, CellResult] = {}
    shown = [name for name in METRICS if load_metric(name).ratio_of]
    for dataset in run.datasets:
        for label, ratio in (run.experiment.ratios or {}).items():
            places = [(dataset, ratio.of), (dataset, ratio.over)]
            if not all(place in run.cells for place in places):
                continue
            metric = load_metric(run.metric).ratio_of
            of, over = (
                dict(zip(cell.splits, cell[metric], strict=True)) for cell in (run.cells[p] for p in places)
            )
            if both := sorted(of.keys() & over.keys()):
                ratios = [of[k] / over[k] for k in both]
                cells[dataset, label] = CellResult(splits=both, values=dict.fromkeys(shown, ratios))
    run.cells = cells


def compute_ratio_z(ours: Stat, theirs: Printed, runs: int) -> float:
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
