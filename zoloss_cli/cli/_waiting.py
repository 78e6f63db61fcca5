"""A countdown on the terminal while something long runs, and Ctrl-C heard meanwhile."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator

import typer

from zoloss_cli.cli.app import INTERRUPTED
from zoloss_cli.utils.text import format_duration, show_controls

CLEAR_LINE = "\r\x1b[K"


class Countdown:
    """A line on a terminal that shows how far each stage is; elsewhere nothing is written."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def count_steps(self, stage: str) -> Callable[[int, int], None]:
        """Start a stage and return its callback, which takes the number of steps done and the total."""
        began = time.perf_counter()
        first: list[tuple[int, float]] = []

        def report(done: int, total: int) -> None:
            now = time.perf_counter()
            # The first part may have waited for a compiler, so later ones are a better measure.
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
def countdown(unwritten: str = "") -> Iterator[Countdown]:
    """Provide a countdown whose line disappears at the end; Ctrl-C ends the command with a sentence.

    `unwritten` ends that sentence.
    """
    line = Countdown()
    try:
        yield line
    except KeyboardInterrupt:
        line.clear()
        typer.echo(f"zoloss: interrupted{unwritten}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        line.clear()
