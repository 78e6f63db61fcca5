"""Refit learners of stored results: results hold no weights, but the same seeds give the same ones."""

from __future__ import annotations

from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.retrain import find_cell, fit_again
from zoloss_cli.experiment.task import FittedTask
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.record import FitRecord

SHOWN_SPLIT = 0


def refit(run: RunResult, dataset: str, learner: str) -> tuple[FittedTask, FitRecord]:
    """Return the learner of split 0 and its record, whose errors must match the stored ones."""
    result = run.cells[dataset, learner]
    stored = next((r for r in result.records if isinstance(r, FitRecord) and r.split == SHOWN_SPLIT), None)
    if stored is None:
        raise ResultsError(
            f"split {SHOWN_SPLIT} of {learner} on {dataset} is not in the run '{run.name}'; "
            f"finish it: {run.manifest.command()}"
        )
    return fit_again(run.manifest, find_cell(run.manifest, dataset, learner, result.choice), stored)
