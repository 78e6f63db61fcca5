"""How much the mean error moves from one generated pool to the next.

A published cell on a generated set carries the luck of its one pool, and so does ours. Running several
pools of the same generator separates that luck from the spread over splits (see spread.py).
"""

from __future__ import annotations

import math

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.spread import compute_spread

MIN_POOLS = 5
MEASURED = ("train_error", "test_error", "iterations")


def compute_pool_deviations(runs: list[RunResult]) -> list[dict]:
    """Return one row for each generator, learner and metric that was run on at least five pools."""
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run in runs:
        for (dataset, learner), cell in run.cells.items():
            generator = run.get_generator(dataset)
            if generator and not run.table and run.count_draws(dataset) == 1:
                for metric in MEASURED:
                    if metric in cell:
                        groups.setdefault((generator, learner, metric), {})[dataset] = cell[metric]
    rows = []
    for (generator, learner, metric), pools in groups.items():
        if len(pools) < MIN_POOLS:
            continue
        sd = math.sqrt(compute_spread(list(pools.values())).between)
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
            f"no learner was run on {MIN_POOLS} pools of a generator; run: zoloss run configs/pools.yaml"
        )
    return rows
