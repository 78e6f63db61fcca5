"""Our cells against the printed ones, by z-score."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from zoloss_cli.report.published import Printed, pool_sd, published
from zoloss_cli.report.results import RunResult, Stat
from zoloss_cli.report.tables import starred

# What stands for the standard error of a number that was printed without one, as a share of it.
UNPRINTED = 0.05

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
)


@dataclass(frozen=True)
class Comparison:
    """One cell: ours, the printed one, and how far apart they are in standard errors."""

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
    z: float

    @property
    def difference(self) -> float:
        return self.mean - self.published


def compare_run(run: RunResult) -> list[Comparison]:
    """Every cell of a run that its published table prints too.

    z = (ours - printed) / sqrt(variances): the two standard errors over splits, the printed number's
    rounding, and for a generated set twice the variance over pools, since either side drew one pool.
    Our `stderr` column includes our pool's share of that. Iterations are printed without a standard
    error: 5 % of the number stands for it where that is more than ours, so that |z| <= 2 is within 10 %
    or within two of our own.
    """
    printed = published().get((run.published.get("paper", ""), run.table or ""), {})
    rows = []
    for dataset in run.datasets:
        generator = run.generator(dataset)
        for learner, metric in itertools.product(run.learners, run.metrics):
            ours, theirs = run.stat(dataset, learner, metric), printed.get((dataset, learner, metric))
            if ours is None or theirs is None:
                continue
            pool = pool_sd().get((generator, learner, metric), 0.0) if generator else 0.0
            stderr = math.hypot(ours.stderr, pool)
            rows.append(
                Comparison(
                    run.published["paper"],
                    run.table,
                    dataset,
                    learner,
                    metric,
                    ours.mean,
                    stderr,
                    ours.splits,
                    theirs.value,
                    theirs.stderr,
                    (ours.mean - theirs.value) / _spread(ours, theirs, metric, pool),
                )
            )
    return rows


def _spread(ours: Stat, theirs: Printed, metric: str, pool: float) -> float:
    """The standard error of the difference between ours and the printed number."""
    rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
    spread = math.hypot(ours.stderr, theirs.stderr or 0.0, pool, pool, rounding)
    return max(spread, UNPRINTED * abs(theirs.value)) if metric == "iterations" else spread


def star_differences(run: RunResult, runs: list[RunResult]) -> tuple[int, list[str]]:
    """How many printed cells have a star or none as ours do, and which differ."""
    printed = published().get((run.published.get("paper", ""), run.table or ""), {})
    ours = starred(run, runs)
    same, differ = 0, []
    for (dataset, learner, metric), cell in printed.items():
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
            and run.stat(dataset, learner, metric)
            and (run.generator(dataset), learner, metric) not in pool_sd()
        }
    )


def distinct(rows: list[Comparison]) -> list[Comparison]:
    """One of each (data set, learner, metric): the thesis's tables repeat the paper's cells."""
    return list({(r.dataset, r.learner, r.metric): r for r in rows}.values())


def summary_line(rows: list[Comparison]) -> str:
    """How well a set of cells agrees with print."""
    zs = [abs(r.z) for r in rows if not math.isnan(r.z)]
    if not zs:
        return "no cell to compare (one split has no standard error)"
    worst = max((r for r in rows if not math.isnan(r.z)), key=lambda r: abs(r.z))
    within_2, within_3 = sum(z <= 2 for z in zs), sum(z <= 3 for z in zs)
    rms = math.sqrt(sum(z * z for z in zs) / len(zs))
    return (
        f"{len(zs)} cells: |z| <= 2 in {within_2} ({100 * within_2 / len(zs):.1f} %), <= 3 in {within_3} "
        f"({100 * within_3 / len(zs):.1f} %), rms z {rms:.2f}, largest |z| {abs(worst.z):.1f} "
        f"({worst.learner} on {worst.dataset}, {worst.metric})"
    )
