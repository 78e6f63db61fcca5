"""Our cells against the published ones: errors by z-score, losses by match, times by ratio."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from zoloss_cli.metrics.base import Metric, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.published.values import (
    PublishedValue,
    find_published_cells,
    name_place,
    read_pool_deviations,
)
from zoloss_cli.reporting.ratios import compute_ratio_z
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.spread import Spread, compute_spread
from zoloss_cli.reporting.stars import find_stars

EQUAL, BETTER, WORSE = "=", "better", "worse"

COLUMNS = (
    "paper",
    "table",
    "dataset",
    "learner",
    "metric",
    "mean",
    "stderr",
    "splits",
    "published",
    "published_stderr",
    "z",
    "match",
    "ratio",
)


@dataclass(frozen=True)
class CellComparison:
    """One cell: ours, the published one, and how far apart they are, by the metric's own comparison."""

    paper: str
    table: str
    dataset: str
    learner: str
    metric: str
    mean: float
    stderr: float
    splits: int
    published: float
    published_stderr: float | None
    z: float = math.nan
    match: str = ""
    ratio: float | None = None

    @property
    def difference(self) -> float:
        """Return ours minus the published value."""
        return self.mean - self.published

    @property
    def comparison(self) -> str:
        """Return how the cell is compared: 'z', 'match' or 'ratio'."""
        return "match" if self.match else load_metric(self.metric).comparison

    @property
    def is_exact(self) -> bool:
        """Return whether it is an error without randomness, on our side and as published."""
        return self.comparison == "match" and load_metric(self.metric).comparison == "z"

    def is_beyond(self, limit: float) -> bool:
        """Return whether the cell is one to look at: far off by z, a loss that is worse, or a longer time."""
        if self.comparison == "ratio":
            return self.ratio is not None and self.ratio > 1.0
        if self.is_exact:
            return self.match != EQUAL
        if self.comparison == "match":
            return self.match == WORSE if math.isnan(self.z) else self.z > limit
        return abs(self.z) > limit


def compare_run(run: RunResult) -> list[CellComparison]:
    """Compare every cell of a run that its published table has too.

    Errors: z = (ours - published) / sqrt(variances), which are the two standard errors over splits, the
    published number's rounding, and what the data's own luck adds on either side: the paper has one pool of a
    generated set and one draw of the noise; we have one pool, or as many draws as the config says. Our
    `stderr` column includes our share of that. Iterations are published without a standard error: 5 % of the
    number stands for it where that is more than ours, so that |z| <= 2 is within 10 % or within two of our
    own. Losses, which are counts, are equal, better or worse; where ours vary over draws or splits, z says
    whether the published one is consistent with being one more of them. Times are compared by their ratio.
    Ratios of costs: z of their logarithms (see ratios.py). Errors without any randomness, published without ±
    and the same in all of our splits, are equal when they are so to the published digit.
    """
    published = find_published_cells(run.experiment.published)
    cells = []
    for dataset in run.datasets:
        for learner, metric in itertools.product(run.learners, run.metrics):
            ours, theirs = run.get_stat(dataset, learner, metric), published.get((dataset, learner, metric))
            if ours is not None and theirs is not None:
                cells.append(_compare_cell(run, (dataset, learner), load_metric(metric), ours, theirs))
    return cells


def _compare_cell(
    run: RunResult, place: tuple[str, str], metric: Metric, ours: Stat, theirs: PublishedValue
) -> CellComparison:
    mirrored = run.experiment.published
    assert mirrored is not None
    spread = compute_spread(run.group_by_draw(*place, metric.name))
    stderr, z, match, ratio = ours.stderr, math.nan, "", None
    if metric.comparison == "ratio":
        ratio = ours.mean / theirs.value if theirs.value else None
    elif metric.comparison == "match":
        z, match = _compare_losses(ours.mean, theirs.value, spread)
        stderr = spread.stderr if ours.splits > 1 else math.nan
    elif metric.aggregation == "geometric":
        z = compute_ratio_z(ours, theirs, mirrored.runs)
    elif theirs.stderr is None and metric.exact_if_constant and run.is_constant(*place, metric.name):
        stderr, match = math.nan, _compare_digits(ours.mean, theirs)
    else:
        pool = _find_pool_deviation(run, *place, metric.name)
        alone = 0.0 if run.runs_once(*place) else math.nan
        own = spread.stderr if ours.splits > 1 else alone
        error = _combine_errors(own, theirs, metric, pool, math.sqrt(spread.between))
        stderr, z = math.hypot(own, pool), (ours.mean - theirs.value) / error
    names = (mirrored.paper, name_place(mirrored), *place, metric.name)
    return CellComparison(
        *names, ours.mean, stderr, ours.splits, theirs.value, theirs.stderr, z=z, match=match, ratio=ratio
    )


def _find_pool_deviation(run: RunResult, dataset: str, learner: str, metric: str) -> float:
    """Return the standard deviation over pools of a generated set of which the run has one only."""
    generator = run.get_generator(dataset)
    if not generator or run.count_draws(dataset) > 1:
        return 0.0
    return read_pool_deviations().get((generator, learner, metric), 0.0)


def _combine_errors(own: float, theirs: PublishedValue, metric: Metric, pool: float, draw: float) -> float:
    """Return the standard error of the difference between ours and the published number."""
    rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
    error = math.hypot(own, theirs.stderr or 0.0, pool, pool, draw, rounding)
    return max(error, metric.published_error * abs(theirs.value)) if metric.published_error else error


def _compare_losses(ours: float, theirs: float, spread: Spread) -> tuple[float, str]:
    """Return z and match. The published one is of one run on one draw; where ours never vary, there is no z."""
    match = BETTER if ours < theirs else WORSE if ours > theirs else ""
    one_more = math.sqrt(spread.between + spread.within)
    if one_more == 0.0:
        return math.nan, match or EQUAL
    return (ours - theirs) / math.hypot(one_more, spread.stderr), match


def _compare_digits(ours: float, theirs: PublishedValue) -> str:
    """Return the match of a number rounded to the published one's decimals, as printf does it."""
    rounded = float(f"{ours:.{theirs.decimals}f}")
    return EQUAL if rounded == theirs.value else BETTER if ours < theirs.value else WORSE


def compare_stars(run: RunResult, runs: list[RunResult]) -> tuple[int, list[str]]:
    """Return how many published cells have a star or none as ours do, and which differ."""
    ours = find_stars(run, runs)
    same, differ = 0, []
    for (dataset, learner, metric), cell in find_published_cells(run.experiment.published).items():
        if metric != run.metric or run.get_stat(dataset, learner) is None:
            continue
        if cell.star == ((dataset, learner) in ours):
            same += 1
        else:
            differ.append(f"{learner} on {dataset} ({'published only' if cell.star else 'ours only'})")
    return same, differ


def find_unmeasured_pools(runs: list[RunResult]) -> list[str]:
    """Return generated cells whose pool variance was never measured: their z is too large."""
    return sorted(
        {
            f"{run.get_generator(dataset)}/{learner}"
            for run in runs
            for dataset in run.datasets
            for learner, metric in itertools.product(run.learners, run.metrics)
            if run.table
            and run.get_generator(dataset)
            and run.count_draws(dataset) == 1
            and run.get_stat(dataset, learner, metric)
            and (run.get_generator(dataset), learner, metric) not in read_pool_deviations()
        }
    )


def drop_repeated(cells: list[CellComparison]) -> list[CellComparison]:
    """Return one of each cell: the thesis's tables repeat the paper's, number by number."""
    return list({(c.dataset, c.learner, c.metric, c.published, c.mean): c for c in cells}.values())
