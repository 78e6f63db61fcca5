"""How much the mean error moves from one generated pool to the next.

A published cell on a generated set carries the luck of its one pool, and so does ours. Running several
pools of the same generator separates that luck from the spread over splits (see draws.py).
"""

from __future__ import annotations

import math

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.spread import spread_of

FEWEST_POOLS = 5


def pool_deviations(runs: list[RunResult]) -> list[dict]:
    """One row per generator, learner and metric that was run on at least five pools."""
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run in runs:
        for (dataset, learner), metrics in run.cells.items():
            generator = run.generator(dataset)
            if generator and not run.table and run.draws(dataset) == 1:
                for metric, values in metrics.items():
                    groups.setdefault((generator, learner, metric), {})[dataset] = values
    rows = []
    for (generator, learner, metric), pools in groups.items():
        if len(pools) < FEWEST_POOLS:
            continue
        sd = math.sqrt(spread_of(list(pools.values())).between)
        rows.append(
            {
                "generator": generator,
                "learner": learner,
                "metric": metric,
                "pools": len(pools),
                "splits": min(len(v) for v in pools.values()),
                "sd": round(sd, 4),
            }
        )
    if not rows:
        raise ResultsError(
            f"no learner was run on {FEWEST_POOLS} pools of a generator; run: zoloss run configs/pools.yaml"
        )
    return rows
