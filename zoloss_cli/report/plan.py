"""What an experiment would run: its cells and tasks, what is already done, and how long the rest may take."""

from __future__ import annotations

from tabulate import tabulate

from zoloss_cli.config.checks import describe_lacking
from zoloss_cli.config.models import Experiment
from zoloss_cli.experiment.plan import WHOLE, Shard, estimate_seconds, find_pending, plan
from zoloss_cli.experiment.runner import collect_data_notes, validate_data
from zoloss_cli.registry import load_metric
from zoloss_cli.results.store import Store
from zoloss_cli.utils.text import format_duration

PLAN_HEADER = ["data set", "learner", "train", "test", "tasks", "done", "to run"]


def render_plan(
    experiment: Experiment, store: Store, jobs: int, noun: str = "jobs", shard: Shard = WHOLE
) -> tuple[str, list[str]]:
    """Describe the plan of an experiment without running it.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    store : Store
        The results folder, which may hold some of it.
    jobs : int
        Number of workers, for the estimate of the time.
    noun : str
        What the workers are called.
    shard : Shard
        The share of the tasks that would run.

    Returns
    -------
    text : str
        A table of the cells, and the totals.
    notes : list of str
        Notes from the readers of the data.
    """
    cells = plan(experiment)
    sizes = validate_data(cells, [load_metric(name) for name in experiment.metrics])
    pending, lines = [], []
    for cell in cells:
        part = find_pending(cell, store.read(cell.filename, cell.key), shard)
        pending.append(part)
        tasks = [part.n_tasks, part.n_tasks - len(part.splits), len(part.splits)]
        label = " ".join(filter(None, [cell.learner.label, cell.learner.choice]))
        lines.append([cell.data.name, label, *sizes[(cell.data, cell.rule)], *tasks])
    left = sum(len(part.splits) for part in pending)
    total = sum(part.n_tasks for part in pending)
    estimate = _estimate_time(left, estimate_seconds(pending, jobs), f"{jobs:,} {noun}")
    table = tabulate(lines, PLAN_HEADER, tablefmt="simple")
    totals = f"{len(cells)} cells, {total:,} tasks, {left:,} to run: {estimate}"
    return f"{table}\n\n{totals}", [*describe_lacking(experiment), *collect_data_notes(cells)]


def _estimate_time(left: int, seconds: float | None, workers: str) -> str:
    if left == 0:
        return "nothing to run"
    if seconds is None:
        return "time unknown until some tasks are done"
    return f"about {format_duration(seconds)} with {workers}"
