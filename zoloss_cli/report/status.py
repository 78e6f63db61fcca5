"""What a results folder holds: each run, how complete it is, and what failed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from zoloss_cli.registry import load_metric
from zoloss_cli.report.loading import CellReader, build_cell_result, open_results
from zoloss_cli.report.notes import describe_lacking_cells
from zoloss_cli.report.runs import Place, RunResult
from zoloss_cli.results.store import Store, StoredCell

HEADER = ["run", "mirrors", "cells", "tasks", "state", "failed", "last run"]


@dataclass
class RunProgress:
    """The progress of a run.

    Attributes
    ----------
    run : RunResult
        The run, without its cells.
    n_cells, n_done, n_failed : int
        Number of cells whose records provide the run's metric, of finished tasks, and of failed tasks.
    """

    run: RunResult
    n_cells: int = 0
    n_done: int = 0
    n_failed: int = 0


@dataclass(frozen=True)
class _CellCounts:
    """What status needs from a cell: its finished splits, its failures, and the metrics its records provide."""

    splits: list[int]
    n_failed: int
    metrics: Collection[str]


def load_progress(folder: Path) -> tuple[list[RunProgress], Store]:
    """Read all records of a results folder and count them.

    Records are not kept, which halves the time.

    Parameters
    ----------
    folder : Path
        The results folder.

    Returns
    -------
    progress : list of RunProgress
        All runs, in the papers' order.
    store : Store
        The folder, whose notes say what was left out.
    """
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
    progress, splits, metric = RunProgress(run), dict[Place, list[int]](), _get_stored_metric(run)
    for cell in run.manifest.cells:
        found = counts[cell.file]
        progress.n_failed += found.n_failed
        run.count_done(
            (cell.dataset, cell.learner),
            bisect_left(found.splits, cell.repeats or run.experiment.split.repeats),
        )
        if metric in found.metrics:
            splits[cell.dataset, cell.learner] = found.splits
    progress.n_done = run.n_done
    progress.n_cells = len(splits)
    if ratios := run.experiment.ratios:  # one needs splits that both of its learners have
        pairs = [
            (splits.get((dataset, ratio.of), []), splits.get((dataset, ratio.over), []))
            for dataset in run.datasets
            for ratio in ratios.values()
        ]
        progress.n_cells = sum(not set(of).isdisjoint(over) for of, over in pairs)
    return progress


def render_status(runs: list[RunProgress], store: Store) -> str:
    """Return a table with a line for each run, the cells that lack records, and files that belong to no run.

    Parameters
    ----------
    runs : list of RunProgress
        All runs of the store.
    store : Store
        The results folder.

    Returns
    -------
    str
        Text for a terminal.
    """
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
    run, n_tasks = progress.run, progress.run.n_tasks
    state = "complete" if progress.n_done >= n_tasks else f"{100 * progress.n_done / n_tasks:.0f} %"
    if progress.n_done >= n_tasks and progress.n_cells < run.n_cells:
        state = f"lacks {run.metric}"
    return [
        run.name,
        f"{run.paper} {run.table or run.figure}" if run.paper else "",
        f"{progress.n_cells}/{run.n_cells}",
        f"{progress.n_done:,}/{n_tasks:,}",
        state,
        progress.n_failed,
        run.manifest.runs[-1].finished[:16] if run.manifest.runs else "by other runs",
    ]
