"""Which figures can be drawn from results: of a whole run, or of some of its data sets and learners."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.figures.figure_kinds import FigureKind, find_drawn_as, find_figure, list_figures
from zoloss_cli.figures.style import add_origin, apply_style
from zoloss_cli.report.render import format_table_name
from zoloss_cli.report.runs import RunResult, select_runs
from zoloss_cli.report.tables import describe_splits, replace_experiment
from zoloss_cli.utils.text import list_options

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
    else:
        changes["learners"] = tuple(spec for spec in experiment.learners if spec.label in kept_learners)
    kept = {(dataset, learner) for dataset in kept_data for learner in kept_learners}
    return replace(
        run,
        manifest=replace_experiment(run, changes).manifest,
        cells={place: cell for place, cell in run.cells.items() if place in kept},
        measurements={place: draws for place, draws in run.measurements.items() if place in kept},
    )


def split_into_pages(kind: FigureKind, run: RunResult) -> list[RunResult]:
    """Return the parts of a run that a figure shows on one page each: as many panels as are readable."""
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
    """A figure of certain results, not drawn yet."""

    kind: FigureKind
    title: str
    caption: str  # what it shows, from which run and config, and the command that draws it
    command: str
    stem: str  # of its file name
    pages: Sequence[Callable[[], Figure]]  # draw a page each: several if one would have too many panels
    run: str = ""  # name of its run, if it has one

    def draw_pages(self) -> list[Figure]:
        """Draw all of its pages."""
        with apply_style():
            return [draw() for draw in self.pages]

    @property
    def name(self) -> str:
        """Return the name of the figure."""
        return self.kind.name


def list_kinds(runs: Sequence[RunResult]) -> list[FigureKind]:
    """Return all figures: the registered ones, and those that a run's config describes.

    A config whose `published` section names a figure and `drawn_as` adds one, without any code. If it names no
    known way to draw, the figure is left out; `find_kind` reports what is wrong.
    """
    kinds = {kind.name: kind for kind in list_figures()}
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
                    f"--figure: '{run.manifest.config}' does not say how '{name}' is drawn: add a key such as "
                    f"drawn_as: curves to its section `published`; then run: {run.manifest.command()}"
                )
    return find_figure(name, list_kinds(runs))


def _build_kind(run: RunResult) -> FigureKind | None:
    published = run.experiment.published
    if published is None or published.figure is None or published.drawn_as is None:
        return None
    config = run.manifest.config
    base = find_drawn_as(published.drawn_as, config)
    name, title = f"{published.paper}/{published.figure}", run.experiment.title or base.title
    own = replace(base, name=name, title=title, config=config, source_figure="")
    return replace(own, is_covered=False, beside_tables="none")


def find_drawings(
    runs: Sequence[RunResult], results: Path = Path("results"), only_quick: bool = True
) -> list[Drawing]:
    """Return what can be drawn from these runs, unless it is slow and `only_quick` is set."""
    kinds = list_kinds(runs)
    found = [
        (kind, run) for kind in kinds if kind.is_quick or not only_quick for run in runs if kind.matches(run)
    ]
    published = {(run.name, kind.function) for kind in kinds if kind.paper for run in runs if kind.matches(run)}
    covered = {run for run, _ in published}
    return [
        _build_drawing(kind, run, results)
        for kind, run in found
        if kind.paper
        or not ((run.name, kind.function) in published or (kind.is_covered and run.name in covered))
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
    """Return a figure of the run that `table` names, or of the only run that has what it shows."""
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
        raise ResultsError(f"figure '{kind.name}' matches several runs; choose one with --table: {names}")
    part = narrow_run(hits[0], datasets, learners)
    if not kind.matches(part):
        requirement = kind.requirement or "all that it compares"
        raise ResultsError(
            f"this part of '{part.name}' is not enough for figure '{kind.name}', which needs {requirement}"
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

    return Drawing(kind, title, caption, command, build_stem(kind), [draw])


def _build_drawing(
    kind: FigureKind, run: RunResult, results: Path, chosen: Mapping[str, str | None] | None = None
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
    command = shlex.join(["zoloss", "plot", str(results), "--figure", kind.name, *list_options(options)])
    origin = f"{describe_splits(run)}; run '{run.name}' of {run.manifest.config}"
    told = run.experiment.title in ("", kind.title)
    what = title if told else f"{title}: {run.experiment.title}"
    caption = " ".join(filter(None, [f"{what} ({origin}).", kind.legend, f"Drawn by: {command}"]))
    parts = split_into_pages(kind, run)
    against = options.get("against")
    pages = [
        partial(_draw_page, kind, part, against, f"page {i} of {len(parts)}" * (len(parts) > 1))
        for i, part in enumerate(parts, 1)
    ]
    return Drawing(kind, title, caption, command, stem, pages, run.name)


def _draw_page(kind: FigureKind, run: RunResult, against: str | None, page: str) -> Figure:
    figure = kind.draw(run, against=against)
    add_origin(figure, "; ".join(filter(None, [describe_data(run), kind.spread, page])))
    return figure


def describe_data(run: RunResult) -> str:
    """Return which data sets a figure of a run shows, and over which splits."""
    names = run.datasets
    shown = ", ".join(names) if len(names) <= MAX_NAMED else f"{len(names)} data sets"
    return f"{shown}: {describe_splits(run)}"


def build_stem(kind: FigureKind) -> str:
    """Return the name of a figure's file, without an extension."""
    return f"figure-{kind.name.replace('/', '-')}"
