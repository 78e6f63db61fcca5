"""Progress on standard error: of a run, in bars or lines, and of other long computations, in one line."""

from __future__ import annotations

import contextlib
import math
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from zoloss_cli.cli._options import show
from zoloss_cli.cli.app import INTERRUPTED
from zoloss_cli.config.models import Experiment
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.dask import DaskWorkers
from zoloss_cli.experiment.plan import WHOLE, Shard
from zoloss_cli.experiment.runner import Progress, RunOptions, run_experiment
from zoloss_cli.results.store import Store
from zoloss_cli.utils.text import format_duration, show_controls

MAX_SHOWN_FAILURES = 5
CLEAR_LINE = "\r\x1b[K"


class ProgressLines(Progress):
    """Progress for logs: a line for each finished data set."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}
        self.done: dict[str, int] = {}

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


class ProgressBars(Progress):
    """Progress on a terminal: one bar per data set and one for all, with the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
        from rich.progress import Progress as RichProgress

        self.console = Console(stderr=True)
        ends = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
        name = TextColumn("{task.description}", markup=False)
        self.bars = RichProgress(name, *ends, console=self.console, transient=True)
        self.overall: TaskID | None = None  # until it is started
        self.by_dataset: dict[str, TaskID] = {}

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

    def finish(self) -> None:
        """Remove the bars."""
        if self.overall is not None:
            self.bars.stop()


def show_plan(experiment: Experiment, out: Path, workers: int | DaskWorkers, shard: Shard = WHOLE) -> None:
    """Print what would run, what is already done, and how long it may take."""
    from zoloss_cli.api.experiments import count_workers
    from zoloss_cli.report.status import render_plan

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
    """Run an experiment and show its progress; exit with an error if it did not finish."""
    progress = ProgressBars() if sys.stderr.isatty() else ProgressLines()
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    summary = run_experiment(experiment, source, Store(out), workers, progress, options)
    counts = f"{summary.n_tasks:,} tasks: {summary.n_done_before:,} were done, {summary.n_run:,} run"
    progress.note(f"{experiment.name}: {counts} in {format_duration(summary.seconds)}; results in {out}")
    if summary.interrupted:
        left = summary.n_tasks - summary.n_done_before - summary.n_run
        again = [a for a in sys.argv[1:] if a != "--fresh"] if sys.argv[0].endswith("zoloss") else command
        progress.note(f"interrupted with {left:,} tasks to go; continue with: {shlex.join(['zoloss', *again])}")
        raise typer.Exit(128 + received[0] if received else INTERRUPTED)
    if summary.failures:
        shown = summary.failures[:MAX_SHOWN_FAILURES]
        more = len(summary.failures) - len(shown)
        lines = [f"{len(summary.failures)} tasks failed (the next run retries them)", *shown]
        raise RunError("\n".join(lines + ([f"and {more} more"] if more else [])))


class Countdown:
    """A line on a terminal with the progress of each stage; elsewhere nothing is written."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def count_steps(self, stage: str) -> Callable[[int, int], None]:
        """Start a stage and return its callback, which takes the number of steps done and the total."""
        began = time.perf_counter()
        first: list[tuple[int, float]] = []

        def report(done: int, total: int) -> None:
            now = time.perf_counter()
            # The first step may include compilation, so later ones give a better estimate.
            first.append((done, now))
            since, start = first[0] if done > first[0][0] else (0, began)
            self.show(f"{stage}: {done:,} of {total:,}", (now - start) * (total - done) / (done - since))

        self.show(stage, math.inf)
        return report

    def show_share(self, stage: str) -> Callable[[float, float], None]:
        """Start a stage and return its callback, which takes the share done and the seconds left."""
        self.show(stage, math.inf)
        return lambda share, left: self.show(f"{stage}: {100 * share:.1f} %", left)

    def show(self, text: str, left: float) -> None:
        """Rewrite the line, with the seconds left unless they are infinite."""
        if self.shown:
            time_left = "" if math.isinf(left) else f", {format_duration(left)} left"
            sys.stderr.write(f"{CLEAR_LINE}{show_controls(text, keep='')}{time_left}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self.shown:
            sys.stderr.write(CLEAR_LINE)


@contextlib.contextmanager
def countdown(consequence: str = "") -> Iterator[Countdown]:
    """Provide a countdown whose line disappears at the end; Ctrl-C ends the command with a message."""
    line = Countdown()
    try:
        yield line
    except KeyboardInterrupt:
        line.clear()
        typer.echo(f"zoloss: interrupted{consequence}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        line.clear()
