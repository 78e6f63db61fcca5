"""Columns that are ratios: the cost of one learner over that of another, on the same splits."""

from __future__ import annotations

import math

from zoloss_cli.metrics.base import Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.published.values import PublishedValue
from zoloss_cli.reporting.run_result import CellResult, Place, RunResult

MAX_LOG_ERROR = 0.5  # beyond this, a number 2.7 times as large would agree


def replace_by_ratios(run: RunResult) -> None:
    """Replace the two learners' own cells by the ratios that the config names."""
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
    """Return the distance of two geometric means: the difference of their logarithms over its standard error.

    No error is published: the `runs` trials behind the number are assumed to spread as ours do. NaN if that is
    not a test: a few separable splits make the error of the logarithm so large that anything would agree, or
    the number is published as 0.0000, which has no logarithm.
    """
    if published.value == 0.0 or ours.mean == 0.0:
        return math.nan
    rounding = 10.0**-published.decimals / math.sqrt(12.0) / published.value
    error_of_log = ours.stderr / ours.mean
    error = math.hypot(error_of_log, error_of_log * math.sqrt(ours.splits / runs), rounding)
    return math.log(ours.mean / published.value) / error if error <= MAX_LOG_ERROR else math.nan
