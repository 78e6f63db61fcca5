"""Progress of a run for callers from Python: a bar in a notebook or on a terminal, nothing elsewhere.

A notebook's bar is an HTML element that IPython, which runs the notebook, updates in place: it needs no
widgets, and so no package that is not there anyway.
"""

from __future__ import annotations

import html
import sys
from typing import Any

from zoloss_cli.experiment.runner import Progress
from zoloss_cli.utils.durations import format_duration
from zoloss_cli.utils.safe_text import show_controls


def build_progress(shown: bool | None) -> Progress:
    """Return who is notified of progress.

    Parameters
    ----------
    shown : bool or None
        Whether progress is shown; None: in a notebook and on a terminal.

    Returns
    -------
    Progress
        Bars, or one that says nothing.
    """
    if shown is False:
        return Progress()
    if is_notebook():
        return NotebookBar()
    if shown or sys.stderr.isatty():
        return TerminalBar()
    return Progress()


def is_notebook() -> bool:
    """Return whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Counter(Progress):
    """Counts the tasks of all data sets."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self.left = "?"

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Begin, with the number of tasks of each data set and how many of them are done."""
        self.total, self.done = sum(totals.values()), sum(done.values())
        self.show()

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Count tasks that have finished."""
        self.done, self.left = self.done + tasks, format_duration(seconds_left)
        self.show()

    def show(self) -> None:
        """Show how many are done."""


class NotebookBar(_Counter):
    """A progress element in the output of a notebook's cell."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def note(self, text: str) -> None:
        """Write a line into the cell."""
        print(show_controls(text))

    def show(self) -> None:
        """Display the element, or update the one that is there."""
        from IPython.display import HTML, display

        element = HTML(self.render())
        if self._handle is None:
            self._handle = display(element, display_id=True)
        else:
            self._handle.update(element)

    def render(self) -> str:
        """Return the element."""
        text = f"{self.done:,} of {self.total:,} tasks" + (
            f", {self.left} left" if self.done < self.total else ""
        )
        return f'<progress value="{self.done}" max="{max(1, self.total)}"></progress> {html.escape(text)}'


class TerminalBar(_Counter):
    """One line on standard error that is written over."""

    def note(self, text: str) -> None:
        """Write a line."""
        print(show_controls(text), file=sys.stderr, flush=True)

    def show(self) -> None:
        """Write the count over the last one."""
        print(
            f"\r{self.done:,} of {self.total:,} tasks, {self.left} left  ", end="", file=sys.stderr, flush=True
        )

    def finish(self) -> None:
        """End the line."""
        if self.total:
            print(file=sys.stderr, flush=True)
