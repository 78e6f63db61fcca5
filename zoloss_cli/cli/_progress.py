"""Progress of a run: bars with the time left on a terminal, one line per finished data set elsewhere."""

from __future__ import annotations

import sys

from zoloss_cli.experiment.runner import Progress
from zoloss_cli.utils.durations import format_duration
from zoloss_cli.utils.safe_text import show_controls


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
