"""Progress of a run started from Python: a bar in a notebook or on a terminal, nothing elsewhere.

The bar in a notebook is an HTML element that IPython, which runs the notebook, updates in place: it needs no
widgets, and so no additional package.
"""

from __future__ import annotations

import html
import sys
from typing import Any

from zoloss_cli.experiment.runner import Progress
from zoloss_cli.utils.durations import format_duration
from zoloss_cli.utils.safe_text import show_controls


def build_progress(shown: bool | None) -> Progress:
    """Return the object that is notified of progress.

    Parameters
    ----------
    shown : bool or None
        Whether to show progress; None: in a notebook and on a terminal.

    Returns
    -------
    Progress
        A bar, or an object that shows nothing.
    """
    if shown is False:
        return Progress()
    if is_notebook():
        return NotebookBar()
    if shown or sys.stderr.isatty():
        return TerminalBar()
    return Progress()


def is_notebook() -> bool:
    """Return whether this runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Counter(Progress):
    """Count the tasks of all data sets."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self.left = "?"

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        """Start with the number of tasks of each data set, and how many of them are done."""
        self.total, self.done = sum(totals.values()), sum(done.values())
        self.show()

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        """Count finished tasks."""
        self.done, self.left = self.done + tasks, format_duration(seconds_left)
        self.show()

    def show(self) -> None:
        """Show how many are done."""


class NotebookBar(_Counter):
    """A progress element in the output of a notebook cell."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def note(self, text: str) -> None:
        """Write a line into the cell."""
        print(show_controls(text))

    def show(self) -> None:
        """Display the element, or update it if it is already there."""
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
    """A line on standard error that overwrites itself."""

    def note(self, text: str) -> None:
        """Write a line."""
        print(show_controls(text), file=sys.stderr, flush=True)

    def show(self) -> None:
        """Overwrite the line with the current count."""
        print(
            f"\r{self.done:,} of {self.total:,} tasks, {self.left} left  ", end="", file=sys.stderr, flush=True
        )

    def finish(self) -> None:
        """End the line."""
        if self.total:
            print(file=sys.stderr, flush=True)
