"""Our cells against the published ones: errors by z-score, losses by match, times by ratio."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from zoloss_cli.metrics.base import Metric, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.comparison import (
    BETTER,
    EQUAL,
    WORSE,
    CellComparison,
    compare_digits,
)
from zoloss_cli.reporting.derived_cells import compare_data_counts, compare_improvements
from zoloss_cli.reporting.published.fitted_choices import (
    FITTED,
    NO_TEST,
    OTHER_DATA,
    find_choices,
    name_choices,
)
from zoloss_cli.reporting.published.values import (
    PublishedValue,
    find_published_cells,
    name_place,
)
from zoloss_cli.reporting.ratios import compute_ratio_z
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.spread import Spread, compute_spread
from zoloss_cli.reporting.stars import find_stars


def compare_run(run: RunResult) -> list[CellComparison]:
    """Compare every cell of a run that is also in its published table.

    Errors: z = (ours - published) / sqrt(variances): the two standard errors over splits, the rounding of the
    published number, and the variance of the data on either side: the paper has one pool of a generated set and
    one draw of the noise; we have as many as the config says, and the variance between ours stands for the
    published one. Our `stderr` column includes our share of it. Iterations are published without a standard
    error: the spread of ours over splits stands for both sides. Losses, which are counts, are equal, better or
    worse; if ours vary over draws or splits, z says whether the published one is consistent with being one more
    of them. Times are compared by their ratio. Ratios of costs: z of their logarithms (see ratios.py), or no
    test. Errors without any randomness, published without ± and the same in all of our splits, are equal if
    they agree to the published digit, and so are counts of data sets. Cells that depend on a choice made by
    nearness to the published values, or on other data, are marked as counted apart (see
    published/fitted_choices.py).
    """
    published = find_published_cells(run.experiment.published)
    cells = []
    for dataset in run.datasets:
        for learner, metric in itertools.product(run.learners, run.metrics):
            ours, theirs = run.get_stat(dataset, learner, metric), published.get((dataset, learner, metric))
            if ours is not None and theirs is not None:
                cells.append(_compare_cell(run, (dataset, learner), load_metric(metric), ours, theirs))
    cells += [*compare_improvements(run), *compare_data_counts(run)]
    return [_set_apart(run, cell) for cell in cells]


def _set_apart(run: RunResult, cell: CellComparison) -> CellComparison:
    """Return the cell with what it depends on, and how it counts: other data first, then without a test."""
    choices = find_choices(run, cell.dataset, cell.learner)
    kinds = {choice.kind for choice in choices}
    apart = OTHER_DATA if OTHER_DATA in kinds else cell.apart or (FITTED if kinds else "")
    generated = run.get_generator(cell.dataset) is not None
    return replace(cell, apart=apart, choices=name_choices(choices), generated=generated)


def _compare_cell(
    run: RunResult, place: tuple[str, str], metric: Metric, ours: Stat, theirs: PublishedValue
) -> CellComparison:
    mirrored = run.experiment.published
    assert mirrored is not None
    published_stderr = theirs.stderr
    spread = compute_spread(run.group_by_draw(*place, metric.name))
    stderr, z, match, ratio, apart = ours.stderr, math.nan, "", None, ""
    if metric.comparison == "ratio":
        ratio = ours.mean / theirs.value if theirs.value else None
    elif metric.comparison == "match":
        z, match = _compare_losses(ours.mean, theirs.value, spread)
        stderr = spread.stderr if ours.splits > 1 else math.nan
    elif metric.aggregation == "geometric":
        z = compute_ratio_z(ours, theirs, mirrored.runs)
        apart = NO_TEST if math.isnan(z) else ""
    elif theirs.stderr is None and metric.exact_if_constant and run.is_constant(*place, metric.name):
        stderr, match = math.nan, compare_digits(ours.mean, theirs)
    else:
        alone = 0.0 if run.runs_once(*place) else math.nan
        own = spread.stderr if ours.splits > 1 else alone
        if theirs.stderr is None and metric.spreads_as_ours:
            theirs = theirs._replace(stderr=math.sqrt(spread.within / mirrored.runs))
        rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
        error = math.hypot(own, theirs.stderr or 0.0, math.sqrt(spread.between), rounding)
        stderr, z = own, (ours.mean - theirs.value) / error
    names = (mirrored.paper, name_place(mirrored), *place, metric.name)
    numbers = (ours.mean, stderr, ours.splits, theirs.value, published_stderr)
    return CellComparison(*names, *numbers, z=z, match=match, ratio=ratio, apart=apart)


def _compare_losses(ours: float, theirs: float, spread: Spread) -> tuple[float, str]:
    """Return z and match. The published one is of one run on one draw; if ours never vary, there is no z."""
    match = BETTER if ours < theirs else WORSE if ours > theirs else ""
    one_more = math.sqrt(spread.between + spread.within)
    if one_more == 0.0:
        return math.nan, match or EQUAL
    return (ours - theirs) / math.hypot(one_more, spread.stderr), match


def compare_stars(run: RunResult, runs: list[RunResult]) -> tuple[int, list[str]]:
    """Return how many published cells agree with ours on having a star, and which differ."""
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


def find_single_pools(runs: list[RunResult]) -> list[str]:
    """Return the generated data of tables with only one pool, whose variance no z includes."""
    return [
        f"{dataset} ({run.full_name})"
        for run in runs
        for dataset in run.datasets
        if run.table and run.get_generator(dataset) and run.count_draws(dataset) == 1
    ]
