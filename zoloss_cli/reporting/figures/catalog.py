"""Figures by name: which can be drawn of given runs, and each as something to draw with its caption."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.reporting.figures.inline import to_svg as to_svg  # for whoever puts these figures into a page
from zoloss_cli.reporting.figures.kinds import KINDS, FigureKind
from zoloss_cli.reporting.figures.style import styled
from zoloss_cli.reporting.results import RunResult, choose
from zoloss_cli.reporting.tables import splits_text


@dataclass(frozen=True)
class Drawing:
    """A figure of certain results, not yet drawn."""

    name: str
    title: str
    caption: str  # what it shows, of which run and config, and the command that draws it
    command: str
    stem: str  # of a file for it
    draw: Callable
    run: str = ""  # the name of the run that it is of, if it is of one


def kind_of(name: str) -> FigureKind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    known = suggest_nearest(name, [kind.name for kind in KINDS]) or "; zoloss plot lists them"
    raise ConfigError(f"--figure: no figure is called '{name}'{known}")


def available(runs: list[RunResult], results: Path = Path("results"), quick: bool = True) -> list[Drawing]:
    """What can be drawn from these runs; with `quick`, only what needs no long training."""
    found = [(kind, run) for kind in KINDS for run in runs if (kind.quick or not quick) and kind.fits(run)]
    # The curves of a run that mirrors a figure of a paper are that figure.
    papers = {run.name for kind in KINDS for run in runs if kind.config and kind.fits(run)}
    return [
        _of_run(kind, run, results) for kind, run in found if not (kind.name == "curves" and run.name in papers)
    ]


def drawing(
    kind: FigureKind,
    runs: list[RunResult],
    results: Path,
    table: str | None = None,
    datasets: Sequence[str] = (),
    learners: Sequence[str] = (),
) -> Drawing:
    """A figure of the run that `table` names, or of the one run that suits; of a part of it, if asked for."""
    named = choose(runs, table)
    hits = [run for run in named if kind.fits(run)]
    if not hits:
        where = f"table '{table}' of {results}" if table else f"{results}"
        if kind.config:
            run = f"zoloss run {kind.config} --out {results}"
            raise ResultsError(f"{where} has no results for figure '{kind.name}'; run: {run}")
        raise ResultsError(f"{where} has no results for figure '{kind.name}', which needs {kind.needs}")
    if len(hits) > 1:
        names = ", ".join(run.table or run.name for run in hits)
        raise ResultsError(f"figure '{kind.name}' can be of several runs; choose one with --table: {names}")
    part = narrowed(hits[0], datasets, learners)
    if not kind.fits(part):
        needs = kind.needs or "all that it compares"
        raise ResultsError(
            f"this part of '{part.name}' is too little for figure '{kind.name}', which needs {needs}"
        )
    return _of_run(kind, part, results, datasets, learners)


def without_results(kind: FigureKind) -> Drawing:
    """A figure that needs none."""
    command = f"zoloss plot --figure {kind.name}"
    title = kind.printed_title
    caption = f"{title}. Drawn by: {command}"
    return Drawing(kind.name, title, caption, command, f"figure-{kind.name}", with_style(kind.draw))


def narrowed(run: RunResult, datasets: Sequence[str], learners: Sequence[str]) -> RunResult:
    """The run with only these data sets and learners, if any are named."""
    experiment = dict(run.experiment)
    parts = [
        ("datasets", "name", "data set", datasets, run.datasets),
        ("learners", "label", "learner", learners, run.learners),
    ]
    for key, field, what, wanted, known in parts:
        for name in wanted:
            if name not in known:
                raise ResultsError(f"'{run.name}' has no {what} '{name}'{suggest_nearest(name, known)}")
        if wanted:
            experiment[key] = [entry for entry in experiment[key] if entry[field] in wanted]
    return replace(run, experiment=experiment)


def _of_run(
    kind: FigureKind, run: RunResult, results: Path, datasets: Sequence[str] = (), learners: Sequence[str] = ()
) -> Drawing:
    options, stem = {}, f"figure-{kind.name}"
    if kind.config:
        title = kind.printed_title
    else:
        name = run.table or run.name
        options["table"] = name
        stem += f"-{name}"
        title = f"{kind.title}, {f'Table {name}' if run.table else name}"
    options |= {"dataset": ",".join(datasets), "learners": ",".join(learners)}
    command = build_command(f"zoloss plot {shlex.quote(str(results))} --figure {kind.name}", options)
    origin = f"{splits_text(run)}; run '{run.name}' of {run.manifest['config']}"
    what = f"{title}: {run.experiment['title']}" if run.experiment["title"] else title
    caption = " ".join(filter(None, [f"{what} ({origin}).", kind.legend, f"Drawn by: {command}"]))
    return Drawing(kind.name, title, caption, command, stem, with_style(lambda: kind.draw(run)), run.name)


def build_command(start: str, options: Mapping[str, str | None]) -> str:
    return " ".join([start, *(f"--{key} {shlex.quote(value)}" for key, value in options.items() if value)])


def with_style(draw: Callable) -> Callable:
    def drawn():
        with styled():
            return draw()

    return drawn
