"""What a command does while it computes for long: one line on a terminal with the time left, and Ctrl-C."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

import typer

INTERRUPTED = 130  # as shells say it


class Countdown:
    """A line on a terminal that says how far each stage is; elsewhere it says nothing."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def steps(self, stage: str) -> Callable[[int, int], None]:
        """For work that reports steps that are done, of how many."""
        began, first = time.perf_counter(), []

        def tell(done: int, of: int) -> None:
            now = time.perf_counter()
            # The first part may have been waiting for a compiler, so later ones are a better measure.
            first.append((done, now))
            since, start = first[0] if done > first[0][0] else (0, began)
            self.show(f"{stage}: {done:,} of {of:,}", (now - start) * (of - done) / (done - since))

        self.show(stage, float("inf"))
        return tell

    def share(self, stage: str) -> Callable[[float, float], None]:
        """For work that reports the share of all that is done, and the seconds left."""
        self.show(stage, float("inf"))
        return lambda share, left: self.show(f"{stage}: {100 * share:.1f} %", left)

    def show(self, text: str, left: float) -> None:
        if self.shown:
            from zoloss_cli.cli._progress import clock

            time_left = "" if left == float("inf") else f", {clock(left)} left"
            sys.stderr.write(f"\r\x1b[K{text}{time_left}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")


@contextlib.contextmanager
def countdown(unwritten: str = "") -> Iterator[Countdown]:
    """A countdown whose line is gone at the end; Ctrl-C ends the command with a sentence."""
    line = Countdown()
    try:
        yield line
    except KeyboardInterrupt:
        line.clear()
        typer.echo(f"zoloss: interrupted{unwritten}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        line.clear()
