"""The column '%': how much less the best of some learners has than the best of the others."""

from __future__ import annotations

from zoloss_cli.reporting.published.cells import Cells
from zoloss_cli.reporting.results import RunResult

LEARNER, METRIC, HEADING = "improvement", "percent", "%"


def our_improvement(run: RunResult, dataset: str) -> float | None:
    """The run's own, from its means."""
    return _improvement(run, lambda x: stat.mean if (stat := run.stat(dataset, x)) else None)


def printed_improvement(run: RunResult, printed: Cells, dataset: str) -> float | None:
    """The published one, from the numbers printed for the same learners."""
    return _improvement(run, lambda x: cell.value if (cell := printed.get((dataset, x, run.metric))) else None)


def _improvement(run: RunResult, value_of) -> float | None:
    """100 (best of `over` - best of `of`) / best of `over`; None where that says nothing."""
    sides = run.experiment["improvement"]
    found = [[v for x in sides[side] if (v := value_of(x)) is not None] for side in ("of", "over")]
    if not all(found):
        return None
    of, over = (min(values) for values in found)
    if of == over:
        return 0.0
    return 100.0 * (over - of) / over if over else None
