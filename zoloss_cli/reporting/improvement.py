"""The column '%': how much lower the best of some learners is than the best of the others."""

from __future__ import annotations

from zoloss_cli.reporting.published.values import PublishedCells, PublishedValue
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.spread import Spread, compute_spread

LEARNER, METRIC, HEADING = "improvement", "percent", "%"


def compute_our_improvement(run: RunResult, dataset: str) -> float | None:
    """Return 100 (best of `over` - best of `of`) / best of `over` by the run's means; None if undefined."""
    best = find_best(run, dataset)
    if not best:
        return None
    of, over = (run.cells[dataset, learner].get_stat(run.metric) for learner in best)
    assert of is not None
    assert over is not None
    if of.mean == over.mean:
        return 0.0
    return 100.0 * (over.mean - of.mean) / over.mean if over.mean else None


def find_best(run: RunResult, dataset: str) -> tuple[str, ...]:
    """Return the best learner of either side of the improvement; empty if a side has no result."""
    sides = run.experiment.improvement
    if sides is None:
        return ()
    means = [
        {learner: stat.mean for learner in side if (stat := run.get_stat(dataset, learner))}
        for side in (sides.of, sides.over)
    ]
    return tuple(min(side, key=side.__getitem__) for side in means) if all(means) else ()


def find_published_improvement(
    run: RunResult, published: PublishedCells, dataset: str
) -> PublishedValue | None:
    """Return the published improvement; None if the run's sides are not all columns of that table."""
    sides = run.experiment.improvement
    columns = {learner for name, learner, metric in published if (name, metric) == (dataset, run.metric)}
    if sides is None or {*sides.of, *sides.over} != columns:
        return None
    return published.get((dataset, LEARNER, METRIC))


def compute_improvement_spread(run: RunResult, dataset: str) -> Spread | None:
    """Return the spread of the improvement, linear in the two best learners' values on the same splits.

    100 (1 - a / b) changes by -100 / b for each additional error of a, and by 100 a / b^2 for each of b. None
    if that is undefined.
    """
    best = find_best(run, dataset)
    if not best:
        return None
    of, over = (run.get_values_by_split(dataset, learner) for learner in best)
    both = sorted(of.keys() & over.keys())
    mean_of, mean_over = (sum(side.values()) / len(side) for side in (of, over))
    if not both or mean_over == 0.0:
        return None
    groups: dict[int, list[float]] = {}
    for split in both:
        moved = -100.0 / mean_over * of[split] + 100.0 * mean_of / mean_over**2 * over[split]
        groups.setdefault(split % run.count_draws(dataset), []).append(moved)
    return compute_spread(list(groups.values()))
