"""A run: compare the plan with what is stored, execute the rest, store it as it comes."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from zoloss_cli.config.metric_checks import describe_lacking
from zoloss_cli.config.models import Experiment
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.datasets.scaling import compute_finite_scaling
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import check_classes
from zoloss_cli.experiment.packages import check_packages
from zoloss_cli.experiment.pending import PendingCell, estimate_seconds, open_pending
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.scheduler import ChunkResult, Scheduler
from zoloss_cli.experiment.split_data import warm_up_pruning
from zoloss_cli.experiment.warming import (
    COMPLEXITY_COMPILE_SECONDS,
    announce_compilation,
    compile_kernels,
    find_unseeded,
)
from zoloss_cli.kernels import KEEPS_KERNELS
from zoloss_cli.learner_registrations import is_trusted
from zoloss_cli.metrics.base import Metric
from zoloss_cli.registry import is_foreign, load_metric
from zoloss_cli.results.manifest import Manifest, ManifestCell, RunInfo, describe_run, format_now
from zoloss_cli.results.record import FailedRecord
from zoloss_cli.results.store import Store
from zoloss_cli.utils.interruptible import run_interruptibly

LONG_COMPILATION_SECONDS = 5.0


@dataclass
class RunSummary:
    """How a run ended."""

    n_tasks: int = 0
    n_done_before: int = 0
    n_run: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


class Progress:
    """What a run tells while it works; the command line shows it, a library may ignore it."""

    def note(self, text: str) -> None:
        """Say something once."""

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Begin, with the number of tasks of each data set and how many of them are done."""

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Count tasks of a data set that have finished."""

    def finish(self) -> None:
        """End."""


def validate_data(
    cells: Iterable[Cell], metrics: Iterable[Metric] = (), positive: str = "positive: CLASS"
) -> dict[tuple, tuple[int, int]]:
    """Read every data set, so that a bad one stops the run at once.

    Parameters
    ----------
    cells : iterable of Cell
        What is to run.
    metrics : iterable of Metric
        What is to be shown of it.
    positive : str
        How one class is chosen against the rest, for messages.

    Returns
    -------
    dict
        Numbers of training and test samples by data set and split rule.
    """
    sizes: dict[tuple, tuple[int, int]] = {}
    for cell in cells:
        where, data = f"data set '{cell.data.name}'", load_data(cell.data)
        check_classes(cell.learner, data.classes, where, positive)
        if len(data.classes) > 2:
            _refuse_several_classes(cell, len(data.classes), metrics, positive)
        key = (cell.data, cell.rule)
        if key not in sizes:
            compute_finite_scaling(data.X, cell.scale, data.features, where)
            sizes[key] = cell.rule.compute_sizes(len(data.y), where)
        if cell.tuning and cell.tuning.folds > sizes[key][0]:
            raise DataError(
                f"{where} has {sizes[key][0]} training samples: too few for {cell.tuning.folds} folds of tuning"
            )
    return sizes


def _refuse_several_classes(cell: Cell, n_classes: int, metrics: Iterable[Metric], positive: str) -> None:
    """Refuse what is defined for two classes only."""
    reasons = ["pruning is"] * (cell.prune is not None)
    reasons += [f"the metric {metric.name} is" for metric in metrics if getattr(metric, "n_classes", 0) == 2]
    if reasons:
        raise DataError(
            f"data set '{cell.data.name}' has {n_classes} classes, and {reasons[0]} for two: use {positive} "
            "for one class against the rest"
        )


def collect_data_notes(cells: Iterable[Cell]) -> list[str]:
    """Return what the readers of the data sets have to say, once each."""
    return list(dict.fromkeys(note for cell in cells for note in load_data(cell.data).notes))


def run_experiment(
    experiment: Experiment,
    source: str,
    store: Store,
    jobs: int,
    progress: Progress,
    fail_fast: bool = False,
    fresh: bool = False,
    part: Experiment | None = None,
) -> RunSummary:
    """Run what is missing of an experiment.

    On Ctrl-C what is finished stays, and the summary says so.

    Parameters
    ----------
    experiment : Experiment
        The whole: the manifest names it, so that tables show all that is there.
    source : str
        Path of its config, or the command that stands for one.
    store : Store
        Where results go.
    jobs : int
        Number of worker processes.
    progress : Progress
        Who is told how it goes.
    fail_fast : bool, default=False
        Stop at the first task that fails.
    fresh : bool, default=False
        Set earlier results of this plan aside and run all.
    part : Experiment or None, default=None
        The part of it that was asked for; None for all.

    Returns
    -------
    RunSummary
        How many tasks there are, were done, and were run, and what failed.
    """
    started, clock = format_now(), time.perf_counter()
    all_cells, cells = plan(experiment), plan(part or experiment)
    sizes = validate_data(cells, [load_metric(name) for name in experiment.metrics])
    check_packages(cells, store, fresh)
    summary = RunSummary()
    with store.writing():
        pending = open_pending(cells, store, fresh)
        for note in [*describe_lacking(experiment), *collect_data_notes(cells), *store.notes]:
            progress.note(note)
        totals, done = _count_tasks(pending)
        summary.n_tasks, summary.n_done_before = sum(totals.values()), sum(done.values())
        earlier = store.find_earlier_runs(experiment.name, {cell.key for cell in all_cells})
        store.write_manifest(build_manifest(experiment, all_cells, source, earlier))
        try:
            if summary.n_done_before < summary.n_tasks:
                seconds = _compile_kernels([part.cell for part in pending if part.splits])
                if seconds > LONG_COMPILATION_SECONDS:
                    kept = " (kept for the next run)" * KEEPS_KERNELS
                    progress.note(f"kernels compiled in {seconds:.0f} s{kept}")
                for note in _collect_seed_notes(pending):
                    progress.note(note)
            progress.start(totals, done)
            chunks = Scheduler(pending, jobs).run()
            try:
                for chunk in chunks:
                    cell = chunk.pending.cell
                    store.append(cell, chunk.records, sizes[(cell.data, cell.rule)])
                    failed = _count_chunk(chunk, summary)
                    progress.advance(cell.data.name, len(chunk.records), estimate_seconds(pending, jobs))
                    if failed and fail_fast:
                        break
            finally:
                chunks.close()  # type: ignore[attr-defined]
        except KeyboardInterrupt:
            summary.interrupted = True
        finally:
            progress.finish()
        summary.seconds = time.perf_counter() - clock
        for each in pending:
            store.sort_cell(each.cell)
        if summary.n_run:
            runs = [*earlier, describe_run(started, summary.seconds, jobs, summary.n_run)]
            store.write_manifest(build_manifest(experiment, all_cells, source, runs))
    return summary


def build_manifest(experiment: Experiment, cells: list[Cell], source: str, runs: list[RunInfo]) -> Manifest:
    """Return the manifest of an experiment and its planned cells."""
    listed = [
        ManifestCell(
            dataset=cell.data.name,
            learner=cell.learner.label,
            key=cell.key,
            file=cell.filename,
            choice=cell.learner.choice,
            repeats=cell.repeats if cell.repeats != experiment.split.repeats else None,
        )
        for cell in cells
    ]
    return Manifest(source, experiment, listed, runs)


def _compile_kernels(cells: list[Cell]) -> float:
    """Compile what the tasks of cells need, and return the seconds that it took."""
    seconds = compile_kernels([cell.learner for cell in cells])
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        for how in {cell.prune for cell in cells if cell.prune is not None}:
            run_interruptibly(functools.partial(warm_up_pruning, how))
    return seconds


def _collect_seed_notes(pending: list[PendingCell]) -> list[str]:
    """Return what is to be said of estimators of others that ignore their seed."""
    learners = [part.cell.learner for part in pending if part.splits]
    asked = {
        spec.source: spec for spec in learners if is_foreign(spec.learner) and not is_trusted(spec.learner)
    }
    return list(filter(None, (run_interruptibly(functools.partial(find_unseeded, s)) for s in asked.values())))


def _count_tasks(pending: list[PendingCell]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of tasks of each data set, and how many of them are done."""
    totals: dict[str, int] = {}
    done: dict[str, int] = {}
    for part in pending:
        name = part.cell.data.name
        totals[name] = totals.get(name, 0) + part.cell.repeats
        done[name] = done.get(name, 0) + part.cell.repeats - len(part.splits)
    return totals, done


def _count_chunk(chunk: ChunkResult, summary: RunSummary) -> int:
    """Add a chunk to the summary and return how many of its tasks failed."""
    failed = [record for record in chunk.records if isinstance(record, FailedRecord)]
    cell = chunk.pending.cell
    summary.failures += [
        f"{cell.learner.label} on {cell.data.name}, split {record.split}: {record.failed}" for record in failed
    ]
    summary.n_run += len(chunk.records) - len(failed)
    return len(failed)
