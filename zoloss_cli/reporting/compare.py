"""Our cells against the printed ones: errors by z-score, losses by match, times by ratio."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from zoloss_cli.reporting.metrics import BY_MATCH, BY_RATIO, BY_Z, KNOWN
from zoloss_cli.reporting.published.cells import Printed, pool_sd, printed_cells, printed_place
from zoloss_cli.reporting.ratios import ratio_z
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.spread import Spread, spread_of
from zoloss_cli.reporting.tables import starred

# What stands for the standard error of a number that was printed without one, as a share of it.
UNPRINTED = 0.05
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
class Comparison:
    """One cell: ours, the printed one, and how far apart they are, by the metric's own measure."""

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
        return self.mean - self.published

    @property
    def compared(self) -> str:
        return BY_MATCH if self.match else KNOWN[self.metric].compared

    @property
    def to_the_digit(self) -> bool:
        """Whether it is an error without randomness, on our side and in print."""
        return self.compared == BY_MATCH and KNOWN[self.metric].compared == BY_Z

    def beyond(self, limit: float) -> bool:
        """Whether the cell is one to look at: far off by z, a loss that is worse, or slower than print."""
        if self.compared == BY_RATIO:
            return self.ratio is not None and self.ratio > 1.0
        if self.to_the_digit:
            return self.match != EQUAL
        if self.compared == BY_MATCH:
            return self.match == WORSE if math.isnan(self.z) else self.z > limit
        return abs(self.z) > limit


def compare_run(run: RunResult) -> list[Comparison]:
    """Every cell of a run that its published table prints too.

    Errors: z = (ours - printed) / sqrt(variances), which are the two standard errors over splits, the
    printed number's rounding, and what the data's own luck adds on either side: print has one pool of a
    generated set and one draw of the noise; we have one pool, or as many draws as the config says. Our
    `stderr` column includes our share of that. Iterations are printed without a standard error: 5 % of the
    number stands for it where that is more than ours, so that |z| <= 2 is within 10 % or within two of our
    own. Losses, which are counts, are equal, better or worse; where ours vary over draws or runs, z says
    whether print could be one more of them. Times are compared by their ratio. Ratios of costs: z of their
    logarithms (see ratios.py). Errors without any randomness, printed without ± and the same in all of our
    runs, are equal to print when they are so as printed.
    """
    printed = printed_cells(run.published)
    rows = []
    for dataset in run.datasets:
        for learner, metric in itertools.product(run.learners, run.metrics):
            ours, theirs = run.stat(dataset, learner, metric), printed.get((dataset, learner, metric))
            if ours is None or theirs is None:
                continue
            spread = spread_of(run.by_draw(dataset, learner, metric))
            place = (run.published["paper"], printed_place(run.published), dataset, learner, metric, ours.mean)
            common = {"splits": ours.splits, "published": theirs.value, "published_stderr": theirs.stderr}
            if KNOWN[metric].compared == BY_RATIO:
                ratio = ours.mean / theirs.value if theirs.value else None
                rows.append(Comparison(*place, ours.stderr, **common, ratio=ratio))
            elif KNOWN[metric].compared == BY_MATCH:
                z, match = _loss_against(ours.mean, theirs.value, spread)
                stderr = spread.stderr if ours.splits > 1 else math.nan
                rows.append(Comparison(*place, stderr, **common, z=z, match=match))
            elif KNOWN[metric].average == "geometric":
                z = ratio_z(ours, theirs, run.published["runs"])
                rows.append(Comparison(*place, ours.stderr, **common, z=z))
            elif theirs.stderr is None and metric.endswith("_error") and run.fixed(dataset, learner, metric):
                match = _digits_against(ours.mean, theirs)
                rows.append(Comparison(*place, math.nan, **common, match=match))
            else:
                pool = _pool(run, dataset, learner, metric)
                alone = 0.0 if run.runs_once(dataset, learner) else math.nan
                mine = spread.stderr if ours.splits > 1 else alone
                error = _error_of_difference(mine, theirs, metric, pool, math.sqrt(spread.between))
                z = (ours.mean - theirs.value) / error
                rows.append(Comparison(*place, math.hypot(mine, pool), **common, z=z))
    return rows


def _pool(run: RunResult, dataset: str, learner: str, metric: str) -> float:
    """The standard deviation over pools of a generated set of which the run has one only."""
    generator = run.generator(dataset)
    if not generator or run.draws(dataset) > 1:
        return 0.0
    return pool_sd().get((generator, learner, metric), 0.0)


def _error_of_difference(mine: float, theirs: Printed, metric: str, pool: float, draw: float) -> float:
    """The standard error of the difference between ours and the printed number."""
    rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
    error = math.hypot(mine, theirs.stderr or 0.0, pool, pool, draw, rounding)
    return max(error, UNPRINTED * abs(theirs.value)) if metric == "iterations" else error


def _loss_against(ours: float, theirs: float, spread: Spread) -> tuple[float, str]:
    """(z, match). Print is one run on one draw; where ours are all the same number, there is no z."""
    match = BETTER if ours < theirs else WORSE if ours > theirs else ""
    one_more = math.sqrt(spread.between + spread.within)
    if one_more == 0.0:
        return math.nan, match or EQUAL
    return (ours - theirs) / math.hypot(one_more, spread.stderr), match


def _digits_against(ours: float, theirs: Printed) -> str:
    """As printed: rounded to the printed number's decimals as printf does it."""
    rounded = float(f"{ours:.{theirs.decimals}f}")
    return EQUAL if rounded == theirs.value else BETTER if ours < theirs.value else WORSE


def star_differences(run: RunResult, runs: list[RunResult]) -> tuple[int, list[str]]:
    """How many printed cells have a star or none as ours do, and which differ."""
    ours = starred(run, runs)
    same, differ = 0, []
    for (dataset, learner, metric), cell in printed_cells(run.published).items():
        if metric != run.metric or run.stat(dataset, learner) is None:
            continue
        if cell.star == ((dataset, learner) in ours):
            same += 1
        else:
            differ.append(f"{learner} on {dataset} ({'only in print' if cell.star else 'only ours'})")
    return same, differ


def missing_pools(runs: list[RunResult]) -> list[str]:
    """Generated cells whose pool variance was never measured: their z is too large."""
    return sorted(
        {
            f"{run.generator(dataset)}/{learner}"
            for run in runs
            for dataset in run.datasets
            for learner, metric in itertools.product(run.learners, run.metrics)
            if run.table
            and run.generator(dataset)
            and run.draws(dataset) == 1
            and run.stat(dataset, learner, metric)
            and (run.generator(dataset), learner, metric) not in pool_sd()
        }
    )


def distinct(rows: list[Comparison]) -> list[Comparison]:
    """One of each cell: the thesis's tables repeat the paper's, number by number."""
    return list({(r.dataset, r.learner, r.metric, r.published, r.mean): r for r in rows}.values())
