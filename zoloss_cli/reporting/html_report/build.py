"""The page of `zoloss report`: panels for the overview, each table and the figures, in one HTML file."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from zoloss_cli import __version__
from zoloss_cli.reporting.compare import Comparison, compare_run, distinct, missing_pools
from zoloss_cli.reporting.formats import caption, our_number, printed_number
from zoloss_cli.reporting.html_report.cells import FAR, is_off, table_html
from zoloss_cli.reporting.html_report.figures import Figures
from zoloss_cli.reporting.html_report.provenance import made_html
from zoloss_cli.reporting.metrics import KNOWN
from zoloss_cli.reporting.published.cells import PAPERS
from zoloss_cli.reporting.published.remarks import explained
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.summary import summary_lines
from zoloss_cli.reporting.tables import TableView, column_titles, make_table

HERE = Path(__file__).parent
OWN = "Other runs"


@dataclass(frozen=True)
class Panel:
    """A part of the page that its navigation switches to."""

    group: str
    title: str
    heading: str
    body: str

    @property
    def id(self) -> str:
        """Its address: readable, and another one for every name."""
        name = f"{self.group} {self.title}".strip()
        slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
        return slug if re.fullmatch(r"[A-Za-z0-9.&'() -]+", name) else f"{slug}-{zlib.crc32(name.encode()):08x}"


def make_page(runs: list[RunResult], source: Path, notes: list[str]) -> str:
    """`notes` tell what of the folder was left out."""
    compared = {run.name: compare_run(run) for run in runs}
    views = [(run, make_table(run, runs)) for run in runs if not run.published.get("figure")]
    views = [(run, view) for run, view in views if view.rows]
    figures = Figures(runs, source)
    tables = [_table_panel(run, view, compared[run.name], figures.of_table(run)) for run, view in views]
    panels = [_overview(runs, views, tables, compared, notes), *tables]
    if drawn := figures.of_papers():
        panels.insert(1, Panel("", "Figures", "Figures", drawn))
    return _document(panels, source, runs)


def _overview(
    runs, views, tables: list[Panel], compared: dict[str, list[Comparison]], notes: list[str]
) -> Panel:
    lines = []
    for (run, view), panel in zip(views, tables, strict=True):
        agreement = "<br>".join(escape(line) for line in summary_lines(compared[run.name]))
        state = "" if not view.incomplete else " <em>incomplete</em>"
        lines.append(
            f'<tr><th scope="row"><a href="#{panel.id}">{escape(panel.title)}</a></th>'
            f"<td>{escape(panel.group)}</td><td>{escape(view.title)}{state}</td>"
            f"<td>{agreement or '–'}</td></tr>"
        )
    body = [
        '<div class="wide"><table class="list"><thead><tr><th>table</th><th>of</th><th>what it shows</th>'
        f"<th>agreement with print</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    ]
    every = distinct([row for run in runs for row in compared[run.name]])
    if every:
        body.append("<h3>All distinct cells</h3>")
        body += [f"<p>{escape(line)}</p>" for line in summary_lines(every)]
        body.append("<h3>What is off, and why</h3>")
        body.append(_off_html(every))
        if missing := missing_pools(runs):
            body.append(
                f"<p>Pool variance not measured for {escape(', '.join(missing))}: their z is too large.</p>"
            )
    body += [f'<p class="note">{escape(note)}</p>' for note in notes]
    return Panel("", "Overview", "Overview", "\n".join(body))


def _table_panel(run: RunResult, view: TableView, compared: list[Comparison], figures: str) -> Panel:
    body = [f'<p class="cite">{escape(run.experiment.get("citation") or "")}</p>']
    body.append(table_html(view, run, compared))
    notes = [f"Bold: {view.bold}."] if view.bold else []
    if compared:
        notes.append("Below each number is the printed one; point at a cell, or tap it, for z.")
    notes += view.notes
    body += [f'<p class="note">{escape(note)}</p>' for note in notes]
    if compared:
        body += [f"<p>{escape(line)}</p>" for line in summary_lines(compared)]
        if any(map(is_off, compared)):
            body += ["<h3>What is off, and why</h3>", _off_html(compared)]
    body += [figures, made_html(run)]
    group = PAPERS.get(run.published.get("paper"), OWN)
    title = f"Table {run.table}" if run.table else run.name
    return Panel(group, title, caption(view), "\n".join(body))


def _off_html(rows: list[Comparison]) -> str:
    """The cells that differ from print by more than chance explains, with what is known about them."""
    items = []
    for remark, part in explained([row for row in rows if is_off(row)]).items():
        cells = ", ".join(map(_off_cell, part))
        items.append(f"<li><b>{escape(cells)}</b>. {escape(remark)}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else f"<p>No cell is beyond |z| = {FAR:g}.</p>"


def _off_cell(row: Comparison) -> str:
    name = " ".join(filter(None, [column_titles([row.learner])[row.learner], KNOWN[row.metric].heading]))
    distance = f"z {row.z:+.1f}" if row.z == row.z else row.match
    numbers = f"{our_number(row)} for {printed_number(row)}"
    return f"{name} on {row.dataset} (Table {row.table}: {numbers}, {distance})"


def _document(panels: list[Panel], source: Path, runs: list[RunResult]) -> str:
    newest = max((entry["finished"] for run in runs for entry in run.manifest["runs"]), default="")
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        groups.setdefault(panel.group, []).append(panel)
    links = "".join(
        f"<li>{f'<span>{escape(group)}</span>' if group else ''}"
        + "".join(f'<a href="#{p.id}">{escape(p.title)}</a>' for p in part)
        + "</li>"
        for group, part in groups.items()
    )
    sections = "\n".join(
        f'<section id="{p.id}"><h2>{escape(p.heading)}</h2>\n{p.body}\n</section>' for p in panels
    )
    return PAGE.format(
        title=escape(f"zoloss: {source}"),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        source=escape(str(source)),
        facts=escape(f"made by zoloss {__version__}" + (f"; newest result {newest[:10]}" if newest else "")),
        links=links,
        sections=sections,
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>Results in {source}</h1>
<p>{facts}</p>
</header>
<nav aria-label="Tables and figures"><ul>{links}</ul></nav>
<form class="filters" role="search" hidden>
<label>data set <input name="rows" type="search" placeholder="heart, sonar"></label>
<label>learner <input name="columns" type="search" placeholder="rcd, svm"></label>
<label><input name="off" type="checkbox"> only what is off</label>
<output name="count"></output>
</form>
<main>
{sections}
</main>
<div id="tip" role="status" hidden></div>
<script>
{script}</script>
</body>
</html>
"""
