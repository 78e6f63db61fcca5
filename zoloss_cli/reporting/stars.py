"""Stars: which cells are better than the best of another table by one standard error, as in Li & Lin (2007)."""

from __future__ import annotations

import math

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.run_result import Place, RunResult

ROUNDING = 1e-9


def find_baseline(run: RunResult, runs: list[RunResult]) -> RunResult | None:
    """Return the run that stars refer to: the config names a table of the same paper, or a run."""
    wanted = run.experiment.baseline
    for other in runs:
        if wanted and (other.name == wanted or (other.table == wanted and other.paper == run.paper)):
            return other
    return None


def find_stars(run: RunResult, runs: list[RunResult]) -> set[Place]:
    """Return the cells that are better than the best of the baseline table by one standard error."""
    baseline, metric = find_baseline(run, runs), load_metric(run.metric)
    key, decimals = metric.sort_key, metric.decimals
    stars: set[Place] = set()
    for dataset in run.datasets if baseline else []:
        assert baseline is not None
        stats = [s for x in baseline.learners if (s := baseline.get_stat(dataset, x, run.metric))]
        if not stats:
            continue
        best = min(stats, key=lambda s: key(s.mean))
        margin = 0.0 if math.isnan(best.stderr) else best.stderr
        # Compared as published: values that look equal are equal.
        limit = key(round(best.mean, decimals)) - round(margin, decimals) + ROUNDING
        for learner in run.learners:
            ours = run.get_stat(dataset, learner)
            if ours and key(round(ours.mean, decimals)) <= limit:
                stars.add((dataset, learner))
    return stars
