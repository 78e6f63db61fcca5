"""What is known about a figure before it is drawn: its name, its functions, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zoloss_cli.errors import ConfigError
from zoloss_cli.plugins import import_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoloss_cli.reporting.run_result import RunResult


@dataclass(frozen=True)
class FigureKind:
    """A figure that can be drawn, from a run that has what it shows or without results.

    Attributes
    ----------
    name : str
        The value of --figure: PAPER/NUMBER for a published figure, otherwise a word.
    title : str
        What it shows.
    target : str
        The function that draws it, as "module:function" in this package. It takes the run, if there is one.
    condition : str
        The function that returns whether a run has what it shows; empty for a figure without results.
    config : str
        Config of the run behind a published figure.
    legend : str
        What its caption says about how to read it.
    requirement : str
        What a run must have.
    source_figure : str
        Number of the published figure whose run it shows, if not its own.
    is_quick : bool
        Whether it takes at most seconds for all runs of a folder; a page has only such figures.
    is_covered : bool
        Whether a published figure of the same run shows as much, so that lists leave this one out.
    options : tuple of {'metric', 'against'}
        What can be chosen: a metric other than the table's, and the learner to compare others with.
    spread : str
        What its bands, boxes or bars are, as a phrase above the drawing.
    datasets_per_page, learners_per_page : int
        How many data sets or learners one picture shows, if each has a panel; more need further pages.
        0: all.
    origin : str
        For a figure without results: the data that it shows, written above it.
    frames : str
        The function that draws the frames of its animation; empty if there is none.
    beside_tables : {'none', 'all', 'times'}
        Next to which tables it appears on the page of `zoloss report`: none, as it is among the figures; all
        tables; or those that compare times.
    """

    name: str
    title: str
    target: str
    condition: str = ""
    config: str = ""
    legend: str = ""
    requirement: str = ""
    source_figure: str = ""
    is_quick: bool = True
    is_covered: bool = False
    beside_tables: Literal["none", "all", "times"] = "none"
    options: tuple[str, ...] = ()
    spread: str = ""
    datasets_per_page: int = 0
    learners_per_page: int = 0
    origin: str = ""
    frames: str = ""

    @property
    def paper(self) -> str:
        """Return the paper of a published figure; empty for others."""
        return self.name.rpartition("/")[0]

    @property
    def number(self) -> str:
        """Return the number of a published figure, or the name of another."""
        return self.name.rpartition("/")[2]

    @property
    def full_title(self) -> str:
        """Return the title, with number and paper if published."""
        from zoloss_cli.reporting.published.papers import read_paper_titles

        if not self.paper:
            return self.title
        paper = read_paper_titles().get(self.paper, self.paper)
        return f"Figure {self.number} of {paper}: {self.title}"

    @property
    def needs_results(self) -> bool:
        """Return whether it is drawn from a run."""
        return bool(self.condition)

    def draw(self, *run: RunResult, against: str | None = None) -> Figure:
        """Draw it, from a run if it needs one; some take the learner to compare others with."""
        return self._import(self.target)(*run, **({} if against is None else {"against": against}))

    def draw_frames(self) -> list[Figure]:
        """Draw the frames of its animation, all of the same size."""
        return self._import(self.frames)()

    def check_options(self, **options: str | None) -> None:
        """Refuse an option that this figure does not have."""
        from zoloss_cli.reporting.figures.registry import FIGURES

        for name, value in options.items():
            if value is not None and name not in self.options:
                those = ", ".join(kind.name for kind in FIGURES if name in kind.options)
                raise ConfigError(f"--{name} is for the figures {those}, and '{self.name}' has no such choice")

    def accepts(self, run: RunResult) -> bool:
        """Return whether a run has what it shows."""
        return self.needs_results and bool(run.cells) and self._import(self.condition)(run)

    def matches(self, run: RunResult) -> bool:
        """Return whether this run has what it shows and, if the figure is published, mirrors it."""
        mirrored = (run.paper, run.figure)
        if self.paper and mirrored != (self.paper, self.source_figure or self.number):
            return False
        return self.accepts(run)

    def _import(self, target: str) -> Callable[..., Any]:
        return import_target(f"{__package__}.{target}")
