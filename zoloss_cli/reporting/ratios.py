"""Columns that are ratios: the cost of one learner over that of another, on the same splits."""

from __future__ import annotations

import math

from zoloss_cli.metrics.base import Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.published.values import PublishedValue
from zoloss_cli.reporting.run_result import CellResult, Place, RunResult


def replace_by_ratios(run: RunResult) -> None:
    """Put the ratios that the config names in the place of the two learners' own cells."""
    cells: dict[Place, CellResult] = {}
    shown = [name for name in run.metrics if load_metric(name).ratio_of]
    metric = load_metric(run.metric).ratio_of
    for dataset in run.datasets:
        for label, ratio in (run.experiment.ratios or {}).items():
            pair = [run.cells.get((dataset, side)) for side in (ratio.of, ratio.over)]
            if None in pair:
                continue
            of, over = (dict(zip(cell.splits, cell[metric], strict=True)) for cell in pair if cell is not None)
            if both := sorted(of.keys() & over.keys()):
                ratios = [of[k] / over[k] for k in both]
                cells[dataset, label] = CellResult(splits=both, values=dict.fromkeys(shown, ratios))
    run.cells = cells


def compute_ratio_z(ours: Stat, published: PublishedValue, runs: int) -> float:
    """Return how far apart two geometric means are: the difference of their logarithms over its standard error.

    No error is published: the `runs` trials behind the number are taken to spread as ours do. A published
    0.0000 says "below half of the last digit", and what is below it agrees.
    """
    half = 0.5 * 10.0**-published.decimals
    if published.value == 0.0 and ours.mean < half:
        return 0.0
    value = published.value or half
    error_of_log = ours.stderr / ours.mean
    error = math.hypot(
        error_of_log, error_of_log * math.sqrt(ours.splits / runs), half / math.sqrt(3.0) / value
    )
    return math.log(ours.mean / value) / error
