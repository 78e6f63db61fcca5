"""A run: compare the plan with what is stored, execute the rest, and store results as they arrive."""

from __future__ import annotations

import contextlib
import functools
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from zoloss_cli.config.loader import describe_lacking
from zoloss_cli.config.models import Experiment
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import compute_finite_scaling
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import check_classes, check_packages
from zoloss_cli.experiment.plan import WHOLE, Cell, PendingCell, Shard, open_pending, plan
from zoloss_cli.experiment.pool import ExecutorStarter, PoolExecutor
from zoloss_cli.experiment.scheduler import ChunkResult, Scheduler
from zoloss_cli.experiment.warming import find_unseeded
from zoloss_cli.external import is_trusted
from zoloss_cli.metrics.base import Metric
from zoloss_cli.registry import is_external, load_metric
from zoloss_cli.results.manifest import (
    HostShare,
    Manifest,
    ManifestCell,
    RunInfo,
    describe_run,
    format_now,
)
from zoloss_cli.results.record import FailedRecord
from zoloss_cli.results.store import Store
from zoloss_cli.utils.processes import run_interruptibly


@dataclass(frozen=True)
class RunOptions:
    """Options of a run."""

    fail_fast: bool = False  # stop at the first task that fails
    fresh: bool = False  # set earlier results of this plan aside and run all tasks
    part: Experiment | None = None  # the requested part of the experiment; None for all
    shard: Shard = WHOLE  # the share of the tasks to run


DEFAULTS = RunOptions()


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
    """Progress reports of a run; this base class ignores them."""

    workers = ""  # how many a cluster has, with a noun

    def note(self, text: str) -> None:
        """Show a text once."""

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Start with the number of tasks of each data set, and how many of them are done."""

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Count finished tasks of a data set."""

    def show_workers(self, text: str) -> None:
        """Store how many workers a cluster has."""
        self.workers = text

    def finish(self) -> None:
        """End."""


def validate_data(
    cells: Iterable[Cell], metrics: Iterable[Metric] = (), positive: str = "positive: CLASS"
) -> dict[tuple, tuple[int, int]]:
    """Read every data set, so that an invalid one stops the run at once.

    Return the numbers of training and test samples, by data set and split rule. `positive` says in messages how
    to choose one class against the rest.
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
    """Raise DataError for pruning and metrics that are defined only for two classes."""
    reasons = ["pruning is"] * (cell.prune is not None)
    reasons += [f"the metric {metric.name} is" for metric in metrics if getattr(metric, "n_classes", 0) == 2]
    if reasons:
        raise DataError(
            f"data set '{cell.data.name}' has {n_classes} classes, but {reasons[0]} for two: use {positive} "
            "for one class against the rest"
        )


def collect_data_notes(cells: Iterable[Cell]) -> list[str]:
    """Return the notes of the data sets' readers, and on classes with fewer samples than folds, once each."""
    notes: list[str] = []
    for cell in cells:
        data, folds = load_data(cell.data), cell.rule.folds
        counts = Counter(data.y.tolist()) if folds else {}
        notes += data.notes
        notes += [
            f"data set '{cell.data.name}' has {counts[k]} samples of class '{name}' for {folds} folds: some "
            "test parts, and perhaps a training part, have none"
            for k, name in enumerate(data.classes)
            if folds and counts[k] < folds
        ]
    return list(dict.fromkeys(notes))


def run_experiment(
    experiment: Experiment,
    source: str,
    store: Store,
    workers: int | ExecutorStarter,
    progress: Progress,
    options: RunOptions = DEFAULTS,
) -> RunSummary:
    """Run the missing tasks of an experiment; after Ctrl-C, finished tasks are kept, and the summary says so.

    The manifest names the whole experiment, so that tables show everything there is, and its `source`: the path
    of its config, or the command that replaces one. `workers` is a number of processes, or a cluster.
    """
    started, clock = format_now(), time.perf_counter()
    all_cells, cells = plan(experiment), plan(options.part or experiment)
    keys = {cell.key for cell in all_cells}  # before data are read, so that later changes are noticed
    sizes = validate_data(cells, [load_metric(name) for name in experiment.metrics])
    check_packages(cells, store, options.fresh)
    summary = RunSummary()
    started_executor = PoolExecutor(workers) if isinstance(workers, int) else workers(progress.note)
    with contextlib.closing(started_executor) as executor, store.writing():
        pending = open_pending(cells, store, options.fresh, options.shard)
        for note in [*describe_lacking(experiment), *collect_data_notes(cells), *store.notes]:
            progress.note(note)
        totals, done = _count_tasks(pending)
        summary.n_tasks, summary.n_done_before = sum(totals.values()), sum(done.values())
        earlier = store.find_earlier_runs(experiment.name, keys)
        store.write_manifest(build_manifest(experiment, all_cells, source, earlier))
        hosts: dict[str, HostShare] = {}
        try:
            if summary.n_done_before < summary.n_tasks:
                executor.prepare([part.cell for part in pending if part.splits], progress.note)
                for note in _collect_seed_notes(pending):
                    progress.note(note)
            progress.start(totals, done)
            scheduler = Scheduler(pending, executor)
            for chunk in scheduler.run():
                cell = chunk.pending.cell
                store.append(cell, chunk.records, sizes[(cell.data, cell.rule)])
                failed = _count_chunk(chunk, summary, hosts)
                progress.advance(cell.data.name, len(chunk.records), scheduler.estimate_left())
                progress.show_workers(executor.describe_workers())
                if failed and options.fail_fast:
                    break
        except KeyboardInterrupt:
            summary.interrupted = True
        finally:
            executor.close()  # before anything else: workers must not continue while files are sorted
            progress.finish()
        summary.seconds = time.perf_counter() - clock
        for each in pending:
            store.sort_cell(each.cell)
        if summary.n_run:
            shard = "" if options.shard == WHOLE else str(options.shard)
            place = {"hosts": hosts, "cluster": executor.describe_cluster(), "shard": shard}
            run = describe_run(started, summary.seconds, executor.n_workers, summary.n_run, **place)
            store.write_manifest(build_manifest(experiment, all_cells, source, [*earlier, run]))
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


def _collect_seed_notes(pending: list[PendingCell]) -> list[str]:
    """Return notes about other packages' estimators that ignore their seed."""
    learners = [part.cell.learner for part in pending if part.splits]
    asked = {
        spec.source: spec for spec in learners if is_external(spec.learner) and not is_trusted(spec.learner)
    }
    return list(filter(None, (run_interruptibly(functools.partial(find_unseeded, s)) for s in asked.values())))


def _count_tasks(pending: list[PendingCell]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of tasks of each data set, and how many of them are done."""
    totals, done = Counter[str](), Counter[str]()
    for part in pending:
        totals[part.cell.data.name] += part.n_tasks
        done[part.cell.data.name] += part.n_tasks - len(part.splits)
    return totals, done


def _count_chunk(chunk: ChunkResult, summary: RunSummary, hosts: dict[str, HostShare]) -> int:
    """Add a chunk to the summary and to its host, and return the number of failed tasks."""
    failed = [record for record in chunk.records if isinstance(record, FailedRecord)]
    cell = chunk.pending.cell
    summary.failures += [
        f"{cell.learner.label} on {cell.data.name}, split {record.split}: {record.failed}" for record in failed
    ]
    summary.n_run += len(chunk.records) - len(failed)
    if chunk.host:
        share = hosts.get(chunk.host, HostShare(0, 0.0))
        seconds = share.seconds + sum(record.wall_time for record in chunk.records)
        hosts[chunk.host] = HostShare(share.tasks + len(chunk.records), round(seconds, 3))
    return len(failed)
