"""Report the progress and failures of a results folder, and what an experiment would still run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tabulate import tabulate

from zoloss_cli.config.models import Experiment
from zoloss_cli.registry import load_metric
from zoloss_cli.report.notes import describe_lacking_cells
from zoloss_cli.report.runs import CellReader, Place, RunResult, build_cell_result, open_results
from zoloss_cli.results.store import Store, StoredCell
from zoloss_cli.utils.text import format_duration

if TYPE_CHECKING:
    from zoloss_cli.experiment.plan import Shard

HEADER = ["run", "mirrors", "cells", "tasks", "state", "failed", "last run"]
PLAN_HEADER = ["data set", "learner", "train", "test", "tasks", "done", "to run"]


@dataclass
class RunProgress:
    """The progress of a run."""

    run: RunResult  # with the number of finished tasks, but without its cells
    n_cells: int  # cells whose records provide the run's metric
    n_failed: int  # failed tasks


class _CellCounts(NamedTuple):
    """The counts of a cell that status shows."""

    splits: list[int]  # finished ones
    n_failed: int
    metrics: Collection[str]  # those that its records provide


def load_progress(folder: Path) -> tuple[list[RunProgress], Store]:
    """Read all records of a results folder and count them; records are not kept, which halves the time."""
    runs, store = open_results(folder)
    wanted: dict[str, set[str]] = {}  # the metrics that any run shows for a file
    for run in runs:
        for cell in run.manifest.cells:
            wanted.setdefault(cell.file, set()).add(_get_stored_metric(run))
    reader, counts = CellReader(store, runs), dict[str, _CellCounts]()
    for run in runs:
        for cell in run.manifest.cells:
            if cell.file not in counts:
                counts[cell.file] = _count_cell(reader.read(cell), wanted[cell.file])
    return [_count_run(run, counts) for run in runs], store


def _get_stored_metric(run: RunResult) -> str:
    """Return the metric that the records must provide: that of the run's table, or what it is a ratio of."""
    return load_metric(run.metric).ratio_of or run.metric


def _count_cell(stored: StoredCell, metrics: set[str]) -> _CellCounts:
    if stored.fault or not stored.records:
        return _CellCounts([], len(stored.failed), ())
    result = build_cell_result(stored)
    return _CellCounts(stored.splits, len(stored.failed), {name for name in metrics if name in result})


def _count_run(run: RunResult, counts: dict[str, _CellCounts]) -> RunProgress:
    splits: dict[Place, list[int]] = {}
    n_failed, metric = 0, _get_stored_metric(run)
    for cell in run.manifest.cells:
        place, found = (cell.dataset, cell.learner), counts[cell.file]
        n_failed += found.n_failed
        run.count_done(place, bisect_left(found.splits, cell.repeats or run.experiment.split.repeats))
        if metric in found.metrics:
            splits[place] = found.splits
    n_cells = len(splits)
    if ratios := run.experiment.ratios:  # a ratio needs splits that both learners have
        pairs = [
            (splits.get((dataset, ratio.of), []), splits.get((dataset, ratio.over), []))
            for dataset in run.datasets
            for ratio in ratios.values()
        ]
        n_cells = sum(not set(of).isdisjoint(over) for of, over in pairs)
    return RunProgress(run, n_cells, n_failed)


def render_status(runs: list[RunProgress], store: Store) -> str:
    """Return a table with one line per run, the cells that lack records, and the number of unused files."""
    text = tabulate(list(map(_describe_run, runs)), HEADER, tablefmt="simple", disable_numparse=True)
    for progress in runs:
        if lacking := describe_lacking_cells(progress.run):
            text += f"\n\n'{progress.run.name}' lacks records: {lacking}"
    used = {cell.file for progress in runs for cell in progress.run.manifest.cells}
    unused = {path.name for path in (store.folder / "cells").glob("*.jsonl")} - used
    if not unused:
        return text
    return f"{text}\n\n{len(unused)} cell files belong to no run here (earlier versions or settings)"


def _describe_run(progress: RunProgress) -> list:
    run, n_done, n_tasks = progress.run, progress.run.n_done, progress.run.n_tasks
    state = "complete" if n_done >= n_tasks else f"{100 * n_done / n_tasks:.0f} %"
    if n_done >= n_tasks and progress.n_cells < run.n_cells:
        state = f"lacks {run.metric}"
    return [
        run.name,
        f"{run.paper} {run.table or run.figure}" if run.paper else "",
        f"{progress.n_cells}/{run.n_cells}",
        f"{n_done:,}/{n_tasks:,}",
        state,
        progress.n_failed,
        run.manifest.runs[-1].finished[:16] if run.manifest.runs else "by other runs",
    ]


def render_plan(
    experiment: Experiment, store: Store, jobs: int, noun: str = "jobs", shard: Shard | None = None
) -> tuple[str, list[str]]:
    """Return a table of an experiment's cells with totals, without running it, and notes about its data.

    `noun` is the word for the `jobs` workers in the time estimate.
    """
    from zoloss_cli.config.loader import describe_lacking
    from zoloss_cli.experiment.plan import WHOLE, estimate_seconds, find_pending, plan
    from zoloss_cli.experiment.runner import collect_data_notes, validate_data

    cells = plan(experiment)
    sizes = validate_data(cells, [load_metric(name) for name in experiment.metrics])
    pending, lines = [], []
    for cell in cells:
        part = find_pending(cell, store.read(cell.filename, cell.key), shard or WHOLE)
        pending.append(part)
        tasks = [part.n_tasks, part.n_tasks - len(part.splits), len(part.splits)]
        label = " ".join(filter(None, [cell.learner.label, cell.learner.choice]))
        lines.append([cell.data.name, label, *sizes[(cell.data, cell.rule)], *tasks])
    left = sum(len(part.splits) for part in pending)
    total = sum(part.n_tasks for part in pending)
    seconds = estimate_seconds(pending, jobs)
    if left == 0:
        estimate = "nothing to run"
    elif seconds is None:
        estimate = "time unknown until some tasks are done"
    else:
        estimate = f"about {format_duration(seconds)} with {jobs:,} {noun}"
    table = tabulate(lines, PLAN_HEADER, tablefmt="simple")
    totals = f"{len(cells)} cells, {total:,} tasks, {left:,} to run: {estimate}"
    return f"{table}\n\n{totals}", [*describe_lacking(experiment), *collect_data_notes(cells)]
