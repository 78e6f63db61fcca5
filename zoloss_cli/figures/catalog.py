"""Parts of runs: only some data sets and learners, and the parts with a picture each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.figures.registry import FIGURES, FigureKind, find_drawn_as, find_figure
from zoloss_cli.figures.style import add_origin, apply_style
from zoloss_cli.report.loading import select_runs
from zoloss_cli.report.render.render import format_table_name
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.tables import describe_splits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def narrow_run(run: RunResult, datasets: Sequence[str], learners: Sequence[str]) -> RunResult:
    """Return the run with only these data sets and learners, if any are named."""
    for what, wanted, known in (("data set", datasets, run.datasets), ("learner", learners, run.learners)):
        for name in wanted:
            if name not in known:
                raise ResultsError(f"'{run.name}' has no {what} '{name}'{suggest_nearest(name, known)}")
    kept_data, kept_learners = set(datasets or run.datasets), set(learners or run.learners)
    experiment = run.experiment
    changes: dict[str, Any] = {"datasets": tuple(d for d in experiment.datasets if d.name in kept_data)}
    if experiment.ratios:
        changes["ratios"] = {x: ratio for x, ratio in experiment.ratios.items() if x in kept_learners}
        columns = {spec.label for spec in experiment.learners}
    else:
        changes["learners"] = tuple(spec for spec in experiment.learners if spec.label in kept_learners)
        columns = kept_learners
    manifest = replace(
        run.manifest,
        experiment=experiment.model_copy(update=changes),
        cells=[c for c in run.manifest.cells if c.dataset in kept_data and c.learner in columns],
    )
    kept = {(dataset, learner) for dataset in kept_data for learner in kept_learners}
    return replace(
        run,
        manifest=manifest,
        cells={place: cell for place, cell in run.cells.items() if place in kept},
        measurements={place: draws for place, draws in run.measurements.items() if place in kept},
    )


def split_into_pages(kind: FigureKind, run: RunResult) -> list[RunResult]:
    """Return the parts of a run that a figure shows on one page each: as many panels as are readable.

    Parameters
    ----------
    kind : FigureKind
        The figure, which says how many data sets and learners a page has.
    run : RunResult
        The run.

    Returns
    -------
    list of RunResult
        Only the run itself if one page suffices.
    """
    datasets = _split(run.datasets, kind.datasets_per_page)
    learners = _split(run.learners, kind.learners_per_page)
    if len(datasets) * len(learners) == 1:
        return [run]
    shown = [d for d in run.datasets if kind.accepts(narrow_run(run, [d], []))]
    parts = [
        narrow_run(run, some, others) for some in _split(shown, kind.datasets_per_page) for others in learners
    ]
    return [part for part in parts if kind.accepts(part)] or [run]


def _split(names: list[str], size: int) -> list[list[str]]:
    """Return names in groups of nearly equal size, none larger than `size`; 0 for one group of all."""
    n_groups = -(-len(names) // size) if size and names else 1
    each, larger = divmod(len(names), n_groups)
    starts = [i * each + min(i, larger) for i in range(n_groups + 1)]
    return [names[first:last] for first, last in pairwise(starts)]


MAX_NAMED = 6  # data sets named one by one; if there are more, the panels or the caption name them


@dataclass(frozen=True)
class Drawing:
    """A figure of certain results, not drawn yet.

    Attributes
    ----------
    kind : FigureKind
        Which figure it is.
    title : str
        The title above it.
    caption : str
        What it shows, from which run and config, and the command that draws it.
    command : str
        The command.
    stem : str
        File name for it, without an extension.
    draw : callable
        Draws it.
    run : str
        Name of its run; empty if it has none.
    later_pages : tuple of callable
        Draw the pages after the first, if one picture would have too many panels.
    """

    kind: FigureKind
    title: str
    caption: str
    command: str
    stem: str
    draw: Callable[[], Figure]
    run: str = ""
    later_pages: tuple[Callable[[], Figure], ...] = ()

    def draw_pages(self) -> list[Figure]:
        """Draw all of its pages."""
        return [draw() for draw in (self.draw, *self.later_pages)]

    @property
    def name(self) -> str:
        """Return the name of the figure."""
        return self.kind.name


def list_kinds(runs: Sequence[RunResult]) -> list[FigureKind]:
    """Return all figures: the registered ones, and those that a run's config describes.

    A config whose `published` section names a figure and `drawn_as` adds one, without any code. If it names no
    known way to draw, the figure is left out; `find_kind` reports what is wrong.
    """
    kinds = {kind.name: kind for kind in FIGURES}
    for run in runs:
        try:
            kind = _build_kind(run)
        except ConfigError:
            continue
        if kind is not None:
            kinds[kind.name] = kind
    return list(kinds.values())


def find_kind(name: str, runs: Sequence[RunResult]) -> FigureKind:
    """Return the figure with a name, among the registered ones and those of these runs."""
    for run in runs:
        if run.figure and name == f"{run.paper}/{run.figure}":
            _build_kind(run)  # raises if the config names no known way to draw
            if all(name != kind.name for kind in list_kinds(runs)):
                raise ConfigError(
                    f"--figure: '{run.manifest.config}' does not say how '{name}' is drawn: add to its section "
                    f"`published` such as drawn_as: curves; then run: {run.manifest.command()}"
                )
    return find_figure(name, list_kinds(runs))


def _build_kind(run: RunResult) -> FigureKind | None:
    published = run.experiment.published
    if published is None or published.figure is None or published.drawn_as is None:
        return None
    base = find_drawn_as(published.drawn_as, run.manifest.config)
    return replace(
        base,
        name=f"{published.paper}/{published.figure}",
        title=run.experiment.title or base.title,
        config=run.manifest.config,
        source_figure="",
        is_covered=False,
        beside_tables="none",
    )


def find_drawings(
    runs: Sequence[RunResult], results: Path = Path("results"), only_quick: bool = True
) -> list[Drawing]:
    """Return what can be drawn from these runs.

    Parameters
    ----------
    runs : sequence of RunResult
        All runs of a results folder.
    results : Path, default=Path("results")
        The folder, for the commands.
    only_quick : bool, default=True
        Whether to leave out figures that fit learners for a long time.

    Returns
    -------
    list of Drawing
        In the order of the registry.
    """
    kinds = list_kinds(runs)
    found = [
        (kind, run) for kind in kinds if kind.is_quick or not only_quick for run in runs if kind.matches(run)
    ]
    published = {(run.name, kind.target) for kind in kinds if kind.paper for run in runs if kind.matches(run)}
    covered = {run for run, _ in published}
    return [
        _build_drawing(kind, run, results)
        for kind, run in found
        if kind.paper or not ((run.name, kind.target) in published or (kind.is_covered and run.name in covered))
    ]


def choose_drawing(
    kind: FigureKind,
    runs: list[RunResult],
    results: Path,
    table: str | None = None,
    datasets: Sequence[str] = (),
    learners: Sequence[str] = (),
    metric: str | None = None,
    against: str | None = None,
) -> Drawing:
    """Return a figure of the run that `table` names, or of the only run that has what it shows.

    Parameters
    ----------
    kind : FigureKind
        Which figure.
    runs : list of RunResult
        All runs of a results folder.
    results : Path
        The folder.
    table : str or None, default=None
        The number of a table, or the name of a run.
    datasets, learners : sequence of str
        Only these; none for all.
    metric : str or None, default=None
        A metric other than the one that the table shows.
    against : str or None, default=None
        The learner to compare the others with.

    Returns
    -------
    Drawing
        The figure, not drawn yet.
    """
    kind.check_options(metric=metric, against=against)
    selected = select_runs(runs, table)
    hits = [run for run in (_show_metric(selected, metric) if metric else selected) if kind.matches(run)]
    if not hits:
        where = f"table '{table}' of {results}" if table else f"{results}"
        if not kind.requirement:
            command = f"zoloss run {kind.config} --out {results}"
            raise ResultsError(f"{where} has no results for figure '{kind.name}'; run: {command}")
        raise ResultsError(f"{where} has no results for figure '{kind.name}', which needs {kind.requirement}")
    if len(hits) > 1:
        names = ", ".join(run.number for run in hits)
        raise ResultsError(f"figure '{kind.name}' can be of several runs; choose one with --table: {names}")
    part = narrow_run(hits[0], datasets, learners)
    if not kind.matches(part):
        requirement = kind.requirement or "all that it compares"
        raise ResultsError(
            f"this part of '{part.name}' is too little for figure '{kind.name}', which needs {requirement}"
        )
    if against is not None and against not in part.learners:
        hint = suggest_nearest(against, part.learners)
        raise ResultsError(f"--against: '{part.name}' has no learner '{against}'{hint}")
    options = {
        "dataset": ",".join(datasets),
        "learners": ",".join(learners),
        "metric": metric,
        "against": against,
    }
    return _build_drawing(kind, part, results, options)


def _show_metric(runs: list[RunResult], metric: str) -> list[RunResult]:
    """Return the runs whose records provide a metric; if there are none, an error says why."""
    found, faults = [], []
    for run in runs:
        try:
            found.append(run.show_metric(metric))
        except ResultsError as error:
            faults.append(error)
    if faults and not found:
        raise faults[0]
    return found


def build_drawing_without_results(kind: FigureKind) -> Drawing:
    """Return a figure that needs no results."""
    command = f"zoloss plot --figure {kind.name}"
    title = kind.full_title
    caption = " ".join(filter(None, [f"{title}.", kind.legend, f"Drawn by: {command}"]))

    def draw() -> Figure:
        figure = kind.draw()
        if kind.origin:
            add_origin(figure, kind.origin)
        return figure

    return Drawing(kind, title, caption, command, build_stem(kind), draw_in_style(draw))


def _build_drawing(
    kind: FigureKind,
    run: RunResult,
    results: Path,
    chosen: Mapping[str, str | None] | None = None,
) -> Drawing:
    options: dict[str, str | None] = {}
    stem = build_stem(kind)
    if kind.paper:
        title = kind.full_title
    else:
        options["table"] = run.number
        stem += f"-{run.number}"
        title = f"{kind.title}, {format_table_name(run.number)}"
    options |= chosen or {}
    command = build_command(f"zoloss plot {shlex.quote(str(results))} --figure {kind.name}", options)
    origin = f"{describe_splits(run)}; run '{run.name}' of {run.manifest.config}"
    told = run.experiment.title in ("", kind.title)
    what = title if told else f"{title}: {run.experiment.title}"
    caption = " ".join(filter(None, [f"{what} ({origin}).", kind.legend, f"Drawn by: {command}"]))
    parts = split_into_pages(kind, run)
    against = options.get("against")
    pages = [
        draw_in_style(partial(_draw_page, kind, part, against, _describe_page(i, len(parts))))
        for i, part in enumerate(parts, 1)
    ]
    return Drawing(kind, title, caption, command, stem, pages[0], run.name, tuple(pages[1:]))


def _draw_page(kind: FigureKind, run: RunResult, against: str | None, page: str) -> Figure:
    figure = kind.draw(run, against=against)
    add_origin(figure, "; ".join(filter(None, [describe_data(run), kind.spread, page])))
    return figure


def _describe_page(number: int, count: int) -> str:
    return f"page {number} of {count}" if count > 1 else ""


def describe_data(run: RunResult) -> str:
    """Return which data sets a figure of a run shows, and over which splits."""
    names = run.datasets
    shown = ", ".join(names) if len(names) <= MAX_NAMED else f"{len(names)} data sets"
    return f"{shown}: {describe_splits(run)}"


def build_stem(kind: FigureKind) -> str:
    """Return the name of a figure's file, without an extension."""
    return f"figure-{kind.name.replace('/', '-')}"


def build_command(start: str, options: Mapping[str, str | None]) -> str:
    """Return a command with those of its options that have a value."""
    return " ".join([start, *(f"--{key} {shlex.quote(value)}" for key, value in options.items() if value)])


def draw_in_style(draw: Callable[[], Figure]) -> Callable[[], Figure]:
    """Return a function that draws with our matplotlib settings."""

    def draw_styled() -> Figure:
        with apply_style():
            return draw()

    return draw_styled
