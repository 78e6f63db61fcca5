"""Progress: bars with time left on a terminal, one line a finished data set elsewhere."""

from __future__ import annotations

import sys

from zoloss_cli.experiment.runner import Progress


def clock(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{s:02d}" if hours else f"{minutes}:{s:02d}"


def make_progress() -> Progress:
    return Bars() if sys.stderr.isatty() else Lines()


class Lines(Progress):
    """For logs: says when a data set is finished."""

    def note(self, text):
        print(text, file=sys.stderr, flush=True)

    def start(self, totals, done):
        self.totals, self.done = totals, dict(done)

    def advance(self, dataset, units, seconds_left):
        self.done[dataset] += units
        if self.done[dataset] >= self.totals[dataset]:
            overall = f"{sum(self.done.values()):,} of {sum(self.totals.values()):,} units"
            self.note(f"{dataset} done; {overall}, about {clock(seconds_left)} left")


class Bars(Progress):
    """For people: one bar a data set and one for all, with time left."""

    def __init__(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self.console = Console(stderr=True)
        self.bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=True,
        )
        self.started = False

    def note(self, text):
        self.console.print(text, highlight=False, markup=False)

    def start(self, totals, done):
        self.overall = self.bars.add_task(
            "all", total=sum(totals.values()), completed=sum(done.values()), left=""
        )
        self.tasks = {
            name: self.bars.add_task(
                name, total=total, completed=done[name], left="", visible=done[name] < total
            )
            for name, total in totals.items()
        }
        self.bars.start()
        self.started = True

    def advance(self, dataset, units, seconds_left):
        task = self.tasks[dataset]
        self.bars.advance(task, units)
        self.bars.update(self.overall, advance=units, left=f"{clock(seconds_left)} left")
        if self.bars.tasks[task].finished:
            self.bars.update(task, visible=False)

    def finish(self):
        if self.started:
            self.bars.stop()
