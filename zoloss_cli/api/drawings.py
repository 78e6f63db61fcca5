"""Which figure the user asks for: of results, of their own data, or one that needs neither."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from zoloss_cli.api.boundary import build_boundary_drawing
from zoloss_cli.api.tables import RunSource
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.figures import catalog
from zoloss_cli.figures.catalog import Drawing
from zoloss_cli.figures.files import ANIMATION, render_animation, render_pages
from zoloss_cli.figures.registry import FIGURES, FigureKind, find_figure
from zoloss_cli.figures.style import apply_style
from zoloss_cli.report.loading import load_runs
from zoloss_cli.report.notes import describe_incomplete
from zoloss_cli.report.runs import RunResult

if TYPE_CHECKING:
    import pandas as pd

    AnyResults = str | PathLike[str] | RunSource | pd.DataFrame


DEFAULT_RESULTS = Path("results")


@dataclass(frozen=True)
class PlotRequest:
    """A figure as described by the options of `zoloss plot`.

    Attributes
    ----------
    figure : str
        The figure's name: a word, PAPER/NUMBER, or the number alone if only one paper has it.
    results : Path
        The results folder.
    table : str or None
        The table's number or the run's name.
    datasets : list of str
        Names of data sets, none for all; for a boundary also one generator or CSV file.
    learners : list of str
        Names of learners; none for all.
    positive, label : str or None
        The positive class and the label column of your own data.
    metric : str or None
        A metric other than the one that the table shows.
    against : str or None
        The learner to compare the others with.
    selection : ColumnSelection
        The columns of your own CSV file to use as features.
    """

    figure: str
    results: Path
    table: str | None
    datasets: list[str]
    learners: list[str]
    positive: str | None
    label: str | None
    metric: str | None = None
    against: str | None = None
    selection: ColumnSelection = ALL_COLUMNS

    @property
    def is_of_own_data(self) -> bool:
        """Whether to fit learners on a data set that the options name, without results."""
        return self.figure == "boundary" and bool(self.datasets) and self.table is None

    @property
    def inputs(self) -> list[Path]:
        """The user's files to read."""
        return [Path(self._own_data)] if self.is_of_own_data else []

    @property
    def _own_data(self) -> str:
        return ",".join(self.datasets)  # a file's name may have commas

    @property
    def is_animated(self) -> bool:
        """Whether the figure has frames, and so can be a GIF."""
        kind = self._find_without_results()
        return kind is not None and bool(kind.frames)

    def validate(self) -> None:
        """Refuse options that do not go together."""
        for kind in FIGURES:
            if kind.name == self.figure:
                kind.check_options(metric=self.metric, against=self.against)
        if self.is_of_own_data:
            if not self.learners:
                raise ConfigError("--learners: name those to fit on --dataset, such as rcd-bias,adaboost")
            return
        own_options = {"positive": self.positive, "label": self.label} | self.selection.to_keys()
        if given := [f"--{option}" for option, value in own_options.items() if value is not None]:
            raise ConfigError(
                f"{' and '.join(given)}: only for --figure boundary with --dataset and without --table"
            )
        if self._find_without_results() and (self.table is not None or self.datasets or self.learners):
            raise ConfigError(
                f"figure '{self.figure}' uses no results: leave out --table, --dataset and --learners"
            )

    def choose_drawing(self) -> tuple[Drawing, list[str]]:
        """Return the figure, not drawn yet, and notes on the results that it shows."""
        if self.is_of_own_data:
            drawing = build_boundary_drawing(
                self._own_data, self.learners, self.positive, self.label, self.selection
            )
            return drawing, []
        if kind := self._find_without_results():
            return catalog.build_drawing_without_results(kind), []
        try:
            runs, store = load_runs(self.results, self.table)
        except ResultsError:
            find_figure(self.figure)  # report an unknown figure first
            raise
        kind = catalog.find_kind(self.figure, runs)
        drawing = catalog.choose_drawing(
            kind, runs, self.results, self.table, self.datasets, self.learners, self.metric, self.against
        )
        return drawing, [*store.notes, *describe_incomplete([run for run in runs if run.name == drawing.run])]

    def _find_without_results(self) -> FigureKind | None:
        """Return the figure if it needs no results; which others exist depends on the results."""
        named = [kind for kind in FIGURES if self.figure in (kind.name, kind.number)]
        return named[0] if len(named) == 1 and not named[0].needs_results else None


def render_drawing(drawing: Drawing, format: str) -> list[bytes]:
    """Return a figure as files: its pages, or its animation.

    Parameters
    ----------
    drawing : Drawing
        The figure.
    format : str
        The format from `find_format`.

    Returns
    -------
    list of bytes
        The contents: of several files if each holds one page.
    """
    if format == ANIMATION:
        with apply_style():
            frames = drawing.kind.draw_frames()
        return [render_animation(frames)]
    return render_pages(drawing.draw_pages(), format)


def list_drawings(results: Path | None) -> tuple[str, list[str]]:
    """List all figures that can be drawn, with the command for each.

    Parameters
    ----------
    results : Path or None
        The results folder; None for the default one, which may be missing.

    Returns
    -------
    text : str
        A table of commands and titles.
    notes : list of str
        Notes on the results, or what is missing.
    """
    folder = results or DEFAULT_RESULTS
    runs: list[RunResult] = []
    notes: list[str] = []
    try:
        runs, store = load_runs(folder)
        notes += store.notes
    except ResultsError as error:
        if results is not None:
            raise
        notes.append(f"these need no results; for others, {error}")
    drawings = catalog.find_drawings(runs, folder, only_quick=False)
    drawings += [catalog.build_drawing_without_results(kind) for kind in FIGURES if not kind.needs_results]
    drawings.append(build_boundary_drawing("yinyang", ["rcd-bias", "adaboost"], None, None))
    lines = [[drawing.command, drawing.title] for drawing in drawings]
    return tabulate(lines, ["command", "what it draws"], tablefmt="simple"), notes
