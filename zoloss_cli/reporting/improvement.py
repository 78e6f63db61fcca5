"""The column '%': how much less the best of some learners has than the best of the others."""

from __future__ import annotations

from collections.abc import Callable

from zoloss_cli.reporting.published.values import PublishedCells
from zoloss_cli.reporting.run_result import RunResult

LEARNER, METRIC, HEADING = "improvement", "percent", "%"


def compute_our_improvement(run: RunResult, dataset: str) -> float | None:
    """Return the run's own improvement, from its means."""
    return _compute(run, lambda x: stat.mean if (stat := run.get_stat(dataset, x)) else None)


def compute_published_improvement(run: RunResult, published: PublishedCells, dataset: str) -> float | None:
    """Return the improvement by the numbers published for the same learners."""

    def find_value(learner: str) -> float | None:
        cell = published.get((dataset, learner, run.metric))
        return cell.value if cell else None

    return _compute(run, find_value)


def _compute(run: RunResult, find_value: Callable[[str], float | None]) -> float | None:
    """Return 100 (best of `over` - best of `of`) / best of `over`; None where that says nothing."""
    sides = run.experiment.improvement
    if sides is None:
        return None
    values = [[v for x in side if (v := find_value(x)) is not None] for side in (sides.of, sides.over)]
    if not all(values):
        return None
    of, over = (min(side) for side in values)
    if of == over:
        return 0.0
    return 100.0 * (over - of) / over if over else None
