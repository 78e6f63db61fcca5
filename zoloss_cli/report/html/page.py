"""Build the page of `zoloss report`, one self-contained HTML document, from its templates."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from zoloss_cli import __version__
from zoloss_cli.config.models import Experiment
from zoloss_cli.figures.drawings import Drawing, build_drawing_without_results, find_drawings
from zoloss_cli.figures.figure_kinds import list_figures
from zoloss_cli.figures.style import apply_style, list_drawing_faults
from zoloss_cli.registry import load_metric
from zoloss_cli.report.agreement import (
    format_our_value,
    format_published_value,
    group_by_remark,
    summarize_agreement,
    summarize_published,
)
from zoloss_cli.report.compare import (
    CellComparison,
    compare_run,
    drop_repeated,
    find_single_pools,
    load_compared_metric,
)
from zoloss_cli.report.diff import compare_results, render_difference, summarize_difference
from zoloss_cli.report.html.tables import Z_ALERT, Z_WARN, build_rows, is_broad, is_different, pack_split_values
from zoloss_cli.report.papers import read_paper_titles
from zoloss_cli.report.render import format_caption, format_table_name, render_grid, render_tables
from zoloss_cli.report.runs import RunResult, build_column_titles, drop_alternatives
from zoloss_cli.report.tables import Table, build_table
from zoloss_cli.results.manifest import RunInfo
from zoloss_cli.utils.processes import map_in_forks
from zoloss_cli.utils.text import show_controls

OTHER_RUNS = "Other runs"
SCRIPTS = "page.js", "details.js"
MEDIA_TYPES = {"csv": "text/csv", "tex": "application/x-tex"}
SVG_SIZE = re.compile(r'(width|height)="([\d.]+)pt"')
SCREEN_SCALE = 1.4  # figures are designed for a column on paper


class Panel(NamedTuple):
    """A part of the page that its navigation switches to."""

    group: str  # before its link, such as the paper
    title: str  # of the link
    heading: str
    body: Markup

    @property
    def id(self) -> str:
        """Return its id on the page."""
        return build_id(f"{self.group} {self.title}".strip())


def build_id(name: str) -> str:
    """Return a readable id that is unique to a name."""
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
    return slug if re.fullmatch(r"[A-Za-z0-9.&'() -]+", name) else f"{slug}-{zlib.crc32(name.encode()):08x}"


def build_file_stem(name: str) -> str:
    """Return a name without characters that a file system may reject."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "table"


@cache
def _load_environment() -> Environment:
    """Return the Jinja environment, which escapes markup and control characters unless text is Markup."""
    return Environment(
        loader=PackageLoader("zoloss_cli.report.html"),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else show_controls(str(value)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _render(template: str, **content: Any) -> Markup:
    return Markup(_load_environment().get_template(template).render(content))


def _read_asset(name: str) -> Markup:
    """Return a style sheet or script as it is."""
    return Markup((Path(__file__).parent / "templates" / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ReportedTable:
    """A run with its table, and its cells compared with the published ones."""

    run: RunResult
    table: Table
    compared: list[CellComparison]


def build_page(
    runs: list[RunResult], source: Path, notes: list[str], against: tuple[list[RunResult], Path] | None = None
) -> str:
    """Return all runs of a results folder as a page; `notes` say which parts of it were left out.

    Differences from the runs of another folder, `against`, are on a separate panel.
    """
    compared = {run.name: compare_run(run) for run in runs}
    shown = [
        ReportedTable(run, table, compared[run.name])
        for run in runs
        if not run.figure and (table := build_table(run, runs)).rows
    ]
    figures = PageFigures(runs, source)
    tables = [_build_table_panel(one, figures) for one in shown]
    every = [cell for run in drop_alternatives(runs) for cell in compared[run.name]]
    overview = _render(
        "overview.html",
        z_warn=f"{Z_WARN:g}",
        z_alert=f"{Z_ALERT:g}",
        tables=[_summarize_table(one, panel) for one, panel in zip(shown, tables, strict=True)],
        has_published=bool(cells := drop_repeated(every)),
        published=_mark_plain(render_grid(summarize_published(runs, every), "html")),
        agreement=summarize_agreement(cells),
        different=_group_different(cells),
        single_pools=find_single_pools(runs),
        remarks=notes,
    )
    panels = [Panel("", "Overview", "Overview", overview)]
    if against is not None:
        panels.append(
            Panel("", "Changes", f"Changes against {against[1]}", render_changes(runs, source, *against))
        )
    if figures.all:
        panels.append(Panel("", "Figures", "Figures", figures.render_of_papers()))
    groups: dict[str, list[Panel]] = {}
    for panel in [*panels, *tables]:
        groups.setdefault(panel.group, []).append(panel)
    return _render(
        "page.html",
        source=source,
        version=__version__,
        newest=max((info.finished for run in runs for info in run.manifest.runs), default="")[:10],
        style=_read_asset("page.css"),
        script=Markup("").join(map(_read_asset, SCRIPTS)),
        groups=groups,
    )


def _mark_plain(tables: str) -> Markup:
    """Return a rendered grid as a table that the script does not sort."""
    return Markup(tables.replace("<table>", '<table class="plain">', 1))


def _summarize_table(one: ReportedTable, panel: Panel) -> dict[str, Any]:
    return {
        "panel": panel,
        "title": one.table.title,
        "incomplete": one.table.incomplete,
        "agreement": summarize_agreement(one.compared),
    }


def render_changes(runs: list[RunResult], source: Path, others: list[RunResult], other_source: Path) -> Markup:
    """Return what differs from the runs of another folder, whose numbers are the first column."""
    found = compare_results(others, runs)
    return _render(
        "changes.html",
        summary=summarize_difference(found, other_source, source),
        data=_encode("changes.csv", render_difference(found, "csv")),
        cells=_mark_plain(render_difference(found, "html")),
        first=other_source,
        second=source,
    )


def _build_table_panel(one: ReportedTable, figures: PageFigures) -> Panel:
    run, table, compared = one.run, one.table, one.compared
    notes = [f"Bold: {table.bold}."] if table.bold else []
    if compared:
        notes.append("Below each number is the published value; hover over a cell, or tap it, for z.")
    title = format_table_name(run.table) if run.table else run.name
    stem = build_file_stem(title)
    files = [("CSV", f"{stem}.csv", "csv"), ("LaTeX", f"{stem}.tex", "latex")]
    headings = [{"title": "data set", "name": ""}]
    headings += [{"title": c.title, "name": f"{c.learner} {c.title}"} for c in table.columns]
    facts, config = describe_provenance(run)
    body = _render(
        "table.html",
        citation=run.experiment.citation,
        downloads=[(label, name, _encode(name, render_tables([table], way))) for label, name, way in files],
        is_broad=is_broad(table),
        headings=headings,
        rows=build_rows(table, run, compared),
        splits=pack_split_values(run),
        remarks=[*notes, *table.notes],
        has_published=bool(compared),
        agreement=summarize_agreement(compared),
        different=_group_different(compared),
        z_warn=f"{Z_WARN:g}",
        figures=[shown for shown in figures.beside_tables if shown.drawing.run == run.name],
        facts=facts,
        config=config,
    )
    group = read_paper_titles().get(run.paper, run.paper or OTHER_RUNS)
    return Panel(group, title, format_caption(table), body)


def _encode(name: str, content: str) -> str:
    """Return a text as a data URL, which a link can download without a script."""
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    data = b64encode(f"{content}\n".encode()).decode()
    return f"data:{media_type};charset=utf-8;base64,{data}"


def _group_different(cells: list[CellComparison]) -> dict[str, str]:
    """Return the cells that differ from the published values, by their remark."""
    groups = group_by_remark([cell for cell in cells if is_different(cell)])
    return {remark: ", ".join(map(_describe_different, part)) for remark, part in groups.items()}


def _describe_different(cell: CellComparison) -> str:
    title = build_column_titles([cell.learner])[cell.learner]
    name = " ".join(filter(None, [title, load_compared_metric(cell.metric).heading]))
    distance = f"z {cell.z:+.1f}" if cell.z == cell.z else cell.match
    numbers = f"{format_our_value(cell)} for {format_published_value(cell)}"
    return f"{name} on {cell.dataset} ({format_table_name(cell.table)}: {numbers}, {distance})"


# -- how a run was made ----------------------------------------------------------------------------------------


def describe_provenance(run: RunResult) -> tuple[dict[str, Any], str]:
    """Return the provenance of a run, and its resolved config."""
    runs = run.manifest.runs
    failed = f", {run.n_failed:,} failed" if run.n_failed else ""
    facts: dict[str, Any] = {
        "command": run.manifest.command(),
        "seed": run.experiment.split.seed,
        "tasks": f"{run.n_tasks:,}{failed}",
        "time": "none: other runs had computed all of its tasks",
    }
    if runs:
        duration = _format_duration(sum(info.seconds for info in runs))
        facts["time"] = f"{duration} in {len(runs)} run{'s' * (len(runs) > 1)}, {_format_jobs(runs)}"
        facts["finished"] = runs[-1].finished
        facts["versions"] = _format_versions(runs[-1])
    return facts, format_config(run.experiment)


def format_config(experiment: Experiment) -> str:
    """Return the resolved config as YAML, without unset keys."""
    import yaml

    content = experiment.model_dump(mode="json", exclude={"name", "title", "citation"})
    content["datasets"] = {d["name"]: {k: v for k, v in d.items() if k != "name"} for d in content["datasets"]}
    kept = _drop_empty(content)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml's, if available, is ten times as fast
    return yaml.dump(
        kept, None, dumper, sort_keys=False, default_flow_style=None, width=100, allow_unicode=True
    )


def _drop_empty(value: Any) -> Any:
    """Return a value without empty keys; lists of pairs, as in settings, become mappings."""
    if isinstance(value, dict):
        return {k: _drop_empty(v) for k, v in value.items() if v not in (None, "", [], {})}
    if isinstance(value, list):
        if value and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value):
            return {k: _drop_empty(v) for k, v in value}
        return [_drop_empty(v) for v in value]
    return value


def _format_duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _format_jobs(runs: list[RunInfo]) -> str:
    jobs = sorted({info.jobs for info in runs})
    return f"{' or '.join(map(str, jobs))} process{'es' * (jobs != [1])}"


def _format_versions(info: RunInfo) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in info.packages.items())
    return f"zoloss {info.zoloss}, Python {info.python} on {info.platform}; {packages}"


# -- figures ---------------------------------------------------------------------------------------------------


class PageFigure(NamedTuple):
    """A figure as the template shows it: an svg element for each of its pages, or why it cannot be drawn."""

    drawing: Drawing
    svg: Markup
    error: str = ""

    @property
    def id(self) -> str:
        """Return its id on the page."""
        return build_id(self.drawing.stem)


class PageFigures:
    """The figures that are drawn from these runs in a few seconds; without matplotlib there are none."""

    def __init__(self, runs: list[RunResult], source: Path):
        self._runs = {run.name: run for run in runs}
        drawings = [] if list_drawing_faults() else find_drawings(runs, source)
        beside_tables = [d for d in drawings if self._is_beside_table(d)]
        of_papers = [d for d in drawings if self._runs[d.run].figure and d.kind.beside_tables == "none"]
        if of_papers:
            kinds = [kind for kind in list_figures() if not kind.needs_results and kind.is_quick]
            of_papers += map(build_drawing_without_results, kinds)
        self.all = _draw_all([*of_papers, *beside_tables])
        self.of_papers, self.beside_tables = self.all[: len(of_papers)], self.all[len(of_papers) :]

    def _is_beside_table(self, drawing: Drawing) -> bool:
        """Return whether it belongs to a table; times are only beside times, since they are slowest to draw."""
        run = self._runs[drawing.run]
        if run.figure:
            return False
        compares_times = load_metric(run.metric).comparison == "ratio"
        return drawing.kind.beside_tables == "all" or (drawing.kind.beside_tables == "times" and compares_times)

    def render_of_papers(self) -> Markup:
        """Return the index of all figures, the papers' figures, and, once per run, how they were made."""
        runs = [figure.drawing.run for figure in self.of_papers]
        shown = [
            (figure, describe_provenance(self._runs[run]) if run not in ("", after) else None)
            for figure, run, after in zip(self.of_papers, runs, [*runs[1:], None], strict=False)
        ]
        index = {"Of the papers": self.of_papers, "Beside tables": self.beside_tables}
        return _render("figures.html", index=index, shown=shown)


def _draw_all(drawings: list[Drawing]) -> list[PageFigure]:
    """Draw figures in forks on all cores: two make the whole page a third faster."""
    if not drawings:
        return []
    numbered = list(zip(drawings, range(1, len(drawings) + 1), strict=True))
    with apply_style():  # once, since changing matplotlib's settings for each figure is slow
        found = map_in_forks(_draw, numbered)
    return [PageFigure(drawing, *each) for drawing, each in zip(drawings, found, strict=True)]


def _draw(numbered: tuple[Drawing, int]) -> tuple[Markup, str]:
    """Return an svg element for each page of a figure, with unique ids, or the error."""
    from zoloss_cli.figures.svg import render_svg  # which needs matplotlib

    drawing, number = numbered
    label = Markup('<svg role="img" aria-label="{}"').format(drawing.title)
    try:
        pages = [
            render_svg(page, f"f{number}-{i}" if i else f"f{number}").replace("<svg", label, 1)
            for i, page in enumerate(drawing.draw_pages())
        ]
    except Exception as error:  # an error in one figure must not abort the page
        return Markup(""), str(error)
    return Markup("".join(SVG_SIZE.sub(_scale, page, count=2) for page in pages)), ""


def _scale(side: re.Match) -> str:
    return f'{side[1]}="{float(side[2]) * SCREEN_SCALE:.0f}pt"'
