"""A run: compare the plan with what is stored, execute the rest, store it as it comes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from zoloss_cli.config.models import DataSpec, Experiment
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.datasets.scaling import compute_finite_scaling
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.execute import Remaining, Work, compile_kernels, execute
from zoloss_cli.experiment.fitting import check_classes
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.results.manifest import make_manifest, make_run, now
from zoloss_cli.results.store import CellRows, Store


@dataclass
class Summary:
    """How a run ended."""

    units: int = 0
    done_before: int = 0
    run: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


class Progress:
    """What a run tells while it works; the command line shows it, a library may ignore it."""

    def note(self, text: str) -> None: ...

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None: ...

    def advance(self, dataset: str, units: int, seconds_left: float | None) -> None: ...

    def finish(self) -> None: ...


def sizes_of(cells: Iterable[Cell], positive: str = "positive: CLASS") -> dict[tuple, tuple[int, int]]:
    """(n_train, n_test) of every cell; reads every data set, so that a bad one stops the run at once.

    `positive` is how one class is chosen against the rest.
    """
    sizes: dict[tuple, tuple[int, int]] = {}
    for cell in cells:
        where, data = (cell.data, cell.rule), load_data(cell.data)
        check_classes(cell.learner, data.classes, f"data set '{cell.data.name}'", positive)
        if cell.prune is not None and len(data.classes) > 2:
            raise DataError(
                f"data set '{cell.data.name}' has {len(data.classes)} classes, and pruning is for two: use "
                f"{positive} for one class against the rest, or leave prune out"
            )
        if where not in sizes:
            compute_finite_scaling(data.X, cell.scale, data.features, f"data set '{cell.data.name}'")
            sizes[where] = cell.rule.compute_sizes(len(data.y), f"data set '{cell.data.name}'")
        if cell.tuning and cell.tuning.folds > sizes[where][0]:
            raise DataError(
                f"data set '{cell.data.name}' has {sizes[where][0]} rows to train: too few for "
                f"{cell.tuning.folds} folds of tuning"
            )
    return sizes


def data_notes(cells: Iterable[Cell]) -> list[str]:
    """What the readers of the data sets have to say, once each."""
    return list(dict.fromkeys(note for cell in cells for note in load_data(cell.data).notes))


def work_of(cell: Cell, found: CellRows) -> Work:
    """What is left to do in a cell, and what is known of its cost."""
    work = Work(cell, deque(k for k in range(cell.repeats) if k not in found.rows))
    work.seconds = sum(row.get("s", 0.0) for row in found.rows.values())
    work.timed = len(found.rows)
    return work


def open_works(cells: list[Cell], store: Store, fresh: bool) -> list[Work]:
    """The work of each cell; two columns that ask for the same cell share it."""
    works: dict[str, Work] = {}
    for cell in cells:
        if cell.key not in works:
            if fresh:
                store.set_aside(cell)
            works[cell.key] = work_of(cell, store.open_cell(cell))
    return list(works.values())


def run_experiment(
    experiment: Experiment,
    source: str,
    store: Store,
    jobs: int,
    progress: Progress,
    fail_fast: bool = False,
    fresh: bool = False,
    part: Experiment | None = None,
) -> Summary:
    """Run what is missing of the experiment, or of the `part` of it that was asked for.

    The manifest always names the whole, so that tables show all that is there. On Ctrl-C what is
    finished stays, and the summary says so.
    """
    started, clock = now(), time.perf_counter()
    all_cells, cells = plan(experiment), plan(part or experiment)
    sizes = sizes_of(cells)
    summary = Summary()
    with store.writing():
        works = open_works(cells, store, fresh)
        for note in [*data_notes(cells), *store.notes]:
            progress.note(note)
        totals, done = _tally(works)
        summary.units, summary.done_before = sum(totals.values()), sum(done.values())
        earlier = store.earlier_runs(experiment.name, {cell.key for cell in all_cells})
        store.write_manifest(experiment.name, make_manifest(experiment, all_cells, source, earlier))
        try:
            if summary.done_before < summary.units:
                seconds = compile_kernels([w.cell for w in works if w.todo])
                if seconds > 5.0:
                    progress.note(f"kernels compiled in {seconds:.0f} s (kept for the next run)")
            progress.start(totals, done)
            remaining = Remaining(works, jobs)
            outcomes = execute(works, jobs)
            try:
                for outcome in outcomes:
                    cell = outcome.work.cell
                    store.append(cell, outcome.rows, sizes[(cell.data, cell.rule)])
                    failed = [r for r in outcome.rows if "failed" in r]
                    summary.failures += [_failure(cell.data, cell, r) for r in failed]
                    summary.run += len(outcome.rows) - len(failed)
                    progress.advance(cell.data.name, len(outcome.rows), remaining.seconds())
                    if failed and fail_fast:
                        break
            finally:
                outcomes.close()
        except KeyboardInterrupt:
            summary.interrupted = True
        finally:
            progress.finish()
        summary.seconds = time.perf_counter() - clock
        for work in works:
            store.tidy(work.cell)
        if summary.run:
            runs = [*earlier, make_run(started, summary.seconds, jobs, summary.run)]
            store.write_manifest(experiment.name, make_manifest(experiment, all_cells, source, runs))
    return summary


def _tally(works: list[Work]) -> tuple[dict[str, int], dict[str, int]]:
    totals: dict[str, int] = {}
    done: dict[str, int] = {}
    for work in works:
        name = work.cell.data.name
        totals[name] = totals.get(name, 0) + work.cell.repeats
        done[name] = done.get(name, 0) + work.cell.repeats - len(work.todo)
    return totals, done


def _failure(data: DataSpec, cell: Cell, row: dict) -> str:
    return f"{cell.learner.label} on {data.name}, split {row['k']}: {row['failed']}"
