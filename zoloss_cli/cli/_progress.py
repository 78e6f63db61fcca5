"""Progress of a run: bars with the time left on a terminal, one line per finished data set elsewhere."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import typer

from zoloss_cli.cli._options import show
from zoloss_cli.cli.app import INTERRUPTED
from zoloss_cli.config.models import Experiment
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.executors.dask_cluster import DaskWorkers
from zoloss_cli.experiment.plan import WHOLE, Shard
from zoloss_cli.experiment.runner import Progress, RunOptions, run_experiment
from zoloss_cli.results.store import Store
from zoloss_cli.utils.text import format_duration, show_controls


def build_progress() -> Progress:
    """Return bars if standard error is a terminal, otherwise lines."""
    return ProgressBars() if sys.stderr.isatty() else ProgressLines()


class ProgressLines(Progress):
    """Progress for logs: a line for each finished data set."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self.workers = ""

    def note(self, text: str) -> None:
        """Write a line."""
        print(show_controls(text), file=sys.stderr, flush=True)

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Store the number of tasks of each data set, and how many of them are done."""
        self.totals, self.done = totals, dict(done)

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Count finished tasks of a data set."""
        self.done[dataset] += tasks
        if self.done[dataset] >= self.totals[dataset]:
            overall = f"{sum(self.done.values()):,} of {sum(self.totals.values()):,} tasks"
            where = f" with {self.workers}" if self.workers else ""
            self.note(f"{dataset} done; {overall}, about {format_duration(seconds_left)} left{where}")

    def show_workers(self, text: str) -> None:
        """Store how many workers a cluster has."""
        self.workers = text


class ProgressBars(Progress):
    """Progress on a terminal: one bar per data set and one for all, with the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
        from rich.progress import Progress as RichProgress

        self.console = Console(stderr=True)
        self.bars = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=True,
        )
        self.overall: TaskID | None = None  # until it is started
        self.by_dataset: dict[str, TaskID] = {}
        self.workers = ""

    def note(self, text: str) -> None:
        """Write a line above the bars."""
        self.console.print(show_controls(text), highlight=False, markup=False)

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Show a bar for all tasks, and one for each unfinished data set."""
        self.overall = self.bars.add_task(
            "all", total=sum(totals.values()), completed=sum(done.values()), left=""
        )
        for name, total in totals.items():
            self.by_dataset[name] = self.bars.add_task(
                show_controls(name, keep=""),
                total=total,
                completed=done[name],
                left="",
                visible=done[name] < total,
            )
        self.bars.start()

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Move the bar of a data set and the overall bar; the bar of a finished data set disappears."""
        bar = self.by_dataset[dataset]
        self.bars.advance(bar, tasks)
        if self.overall is not None:
            where = f", {self.workers}" if self.workers else ""
            self.bars.update(self.overall, advance=tasks, left=f"{format_duration(seconds_left)} left{where}")
        if self.bars.tasks[bar].finished:
            self.bars.update(bar, visible=False)

    def show_workers(self, text: str) -> None:
        """Show how many workers a cluster has, in the overall bar."""
        self.workers = text

    def finish(self) -> None:
        """Remove the bars."""
        if self.overall is not None:
            self.bars.stop()


MAX_SHOWN_FAILURES = 5


def show_plan(experiment: Experiment, out: Path, workers: int | DaskWorkers, shard: Shard = WHOLE) -> None:
    """Print what would run, what is already done, and how long it may take."""
    from zoloss_cli.api.experiments import count_workers
    from zoloss_cli.report.plan import render_plan

    noun = "jobs" if isinstance(workers, int) else "workers"
    text, notes = render_plan(experiment, Store(out), count_workers(workers), noun, shard)
    for note in notes:
        show(note, err=True)
    show(text)


def run_and_report(
    experiment: Experiment,
    source: str,
    out: Path,
    workers: int | DaskWorkers,
    command: list[str],
    options: RunOptions,
) -> None:
    """Run an experiment and show its progress; exit with an error if it did not finish.

    Parameters
    ----------
    experiment : Experiment
        The whole experiment, which the manifest names.
    source : str
        Where it comes from: the path of a config, or a command.
    out : Path
        The results folder.
    workers : int or DaskWorkers
        Worker processes, or a cluster.
    command : list of str
        The command that continues it, if the program was not started under its own name.
    options : RunOptions
        Other options.

    Raises
    ------
    RunError
        If tasks failed.
    """
    progress = build_progress()
    heard: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    summary = run_experiment(experiment, source, Store(out), workers, progress, options)
    counts = f"{summary.n_tasks:,} tasks: {summary.n_done_before:,} were done, {summary.n_run:,} run"
    progress.note(f"{experiment.name}: {counts} in {format_duration(summary.seconds)}; results in {out}")
    if summary.interrupted:
        left = summary.n_tasks - summary.n_done_before - summary.n_run
        again = [a for a in sys.argv[1:] if a != "--fresh"] if sys.argv[0].endswith("zoloss") else command
        progress.note(f"interrupted with {left:,} tasks to go; continue with: {shlex.join(['zoloss', *again])}")
        raise typer.Exit(128 + heard[0] if heard else INTERRUPTED)
    if summary.failures:
        shown = summary.failures[:MAX_SHOWN_FAILURES]
        more = len(summary.failures) - len(shown)
        lines = [f"{len(summary.failures)} tasks failed (each is tried again in the next run)", *shown]
        raise RunError("\n".join(lines + ([f"and {more} more"] if more else [])))
