"""How much the mean error moves from one generated pool to the next.

A published cell on a generated set carries the luck of its one pool, and so does ours. Running several
pools of the same generator separates that luck from the spread over splits: a one-way analysis of
variance, sd^2 = var(pool means) - mean(split variance) / splits.
"""

from __future__ import annotations

import math
from statistics import fmean, variance

from zoloss_cli.errors import ResultsError
from zoloss_cli.report.results import RunResult

FEWEST_POOLS = 5


def pool_deviations(runs: list[RunResult]) -> list[dict]:
    """One row per generator, learner and metric that was run on at least five pools."""
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run in runs:
        for (dataset, learner), metrics in run.cells.items():
            generator = run.generator(dataset)
            if generator and not run.table:
                for metric, values in metrics.items():
                    groups.setdefault((generator, learner, metric), {})[dataset] = values
    rows = []
    for (generator, learner, metric), pools in groups.items():
        if len(pools) < FEWEST_POOLS:
            continue
        splits = min(len(v) for v in pools.values())
        between = variance([fmean(v) for v in pools.values()])
        within = fmean(variance(v) for v in pools.values())
        sd = math.sqrt(max(0.0, between - within / splits))
        rows.append(
            {
                "generator": generator,
                "learner": learner,
                "metric": metric,
                "pools": len(pools),
                "splits": splits,
                "sd": round(sd, 4),
            }
        )
    if not rows:
        raise ResultsError(
            f"no learner was run on {FEWEST_POOLS} pools of a generator; run: zoloss run configs/pools.yaml"
        )
    return rows
