"""One cell compared with the published one, and whether it counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zoloss_cli.reporting.derived_metrics import load_compared_metric
from zoloss_cli.reporting.published.values import PublishedValue

EQUAL, BETTER, WORSE, DIFFERENT = "=", "better", "worse", "different"

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
    "apart",
    "choices",
)


@dataclass(frozen=True)
class CellComparison:
    """One cell: ours, the published one, and how they compare, by the metric's own comparison.

    `apart` says why a cell is counted apart: it is 'fitted', on 'other data', or too uncertain for a test ('no
    test'). `choices` names the choices that it depends on; `generated` says whether its data are generated.
    """

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
    apart: str = ""
    choices: str = ""
    generated: bool = False

    @property
    def difference(self) -> float:
        """Return ours minus the published value."""
        return self.mean - self.published

    @property
    def comparison(self) -> str:
        """Return how the cell is compared: 'z', 'match' or 'ratio'."""
        return "match" if self.match else load_compared_metric(self.metric).comparison

    @property
    def is_exact(self) -> bool:
        """Return whether it is a number without randomness, both ours and as published."""
        return self.comparison == "match" and load_compared_metric(self.metric).comparison == "z"

    def is_beyond(self, limit: float) -> bool:
        """Return whether the cell deserves a look: off in z, a different loss, or a longer time."""
        if self.comparison == "ratio":
            return self.ratio is not None and self.ratio > 1.0
        if self.comparison == "match" and math.isnan(self.z):
            return self.match != EQUAL
        return abs(self.z) > limit

    def fails(self, limit: float) -> bool:
        """Return whether it is beyond a limit; a better loss or improvement is not."""
        one_sided = self.comparison == "match" and not self.is_exact
        return self.is_beyond(limit) and not (one_sided and self.match == BETTER)


def compare_digits(ours: float, theirs: PublishedValue) -> str:
    """Return the match of a number rounded to the published one's decimals, like printf."""
    rounded = float(f"{ours:.{theirs.decimals}f}")
    return EQUAL if rounded == theirs.value else BETTER if ours < theirs.value else WORSE


def drop_repeated(cells: list[CellComparison]) -> list[CellComparison]:
    """Return each distinct cell once: the thesis's tables repeat the paper's, number by number."""
    return list({(c.dataset, c.learner, c.metric, c.published, c.mean): c for c in cells}.values())
