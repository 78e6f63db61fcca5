"""What differs from another results folder: a panel of the page, with the results of `zoloss diff`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zoloss_cli.report.agreement import summarize_agreement, summarize_published
from zoloss_cli.report.cells import build_column_titles
from zoloss_cli.report.compare import (
    CellComparison,
    compare_run,
    drop_repeated,
    find_single_pools,
    group_by_remark,
    load_compared_metric,
)
from zoloss_cli.report.diff import ResultsDifference, compare_results, render_difference, summarize_difference
from zoloss_cli.report.html.document import (
    Panel,
    explain_page,
    provenance_html,
    render_document,
    render_download,
    render_table_downloads,
)
from zoloss_cli.report.html.figures import PageFigures
from zoloss_cli.report.html.tables import Z_WARN, is_different, render_split_values, table_html
from zoloss_cli.report.papers import read_paper_titles
from zoloss_cli.report.render.html import escape, render_grid, render_notes, render_table_element
from zoloss_cli.report.render.render import (
    Grid,
    format_caption,
    format_our_value,
    format_published_value,
    format_table_name,
)
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.tables import Table, build_table
from zoloss_cli.utils.processes import pause_garbage_collection


def render_changes(runs: list[RunResult], source: Path, others: list[RunResult], other_source: Path) -> str:
    """Return what differs between the page's runs and those of another folder.

    Parameters
    ----------
    runs : list of RunResult
        The runs of the page.
    source : Path
        Their folder.
    others : list of RunResult
        The runs of the other folder.
    other_source : Path
        The other folder, whose numbers are the first column.

    Returns
    -------
    str
        The HTML of the panel.
    """
    found = compare_results(others, runs)
    parts = [render_notes(summarize_difference(found, other_source, source))]
    if found.cells:
        parts.append(
            f'<p class="tools">{render_download("CSV", "changes.csv", render_difference(found, "csv"))}</p>'
        )
        parts.append(f'<div class="wide" tabindex="0">{_render_cells(found)}</div>')
        parts.append(render_notes([f"First: {other_source}; second: {source}."], "note"))
    return "".join(parts)


def _render_cells(found: ResultsDifference) -> str:
    return render_difference(found, "html").replace("<table>", '<table class="plain">', 1)


OTHER_RUNS = "Other runs"
DIFFERENT = "Cells that differ, and why"


@dataclass(frozen=True)
class ReportedTable:
    """A run with its table, and its cells compared with the published ones."""

    run: RunResult
    table: Table
    compared: list[CellComparison]


@pause_garbage_collection()  # a collection would search everything that was read, most of which stays
def build_page(
    runs: list[RunResult],
    source: Path,
    notes: list[str],
    against: tuple[list[RunResult], Path] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    runs : list of RunResult
        All runs of a results folder.
    source : Path
        The folder.
    notes : list of str
        What was left out of the folder.
    against : tuple of (list of RunResult, Path) or None, default=None
        The runs of another folder, and the folder: differences get a panel of their own.

    Returns
    -------
    str
        One self-contained HTML document.
    """
    compared = {run.name: compare_run(run) for run in runs}
    shown = [
        ReportedTable(run, table, compared[run.name])
        for run in runs
        if not run.figure and (table := build_table(run, runs)).rows
    ]
    figures = PageFigures(runs, source)
    figures.render_all()
    tables = [_build_table_panel(one, figures) for one in shown]
    drawn = figures.render_all_of_papers()
    every = [cell for run in runs for cell in compared[run.name]]
    cells, published = drop_repeated(every), summarize_published(runs, compared=every)
    pairs = list(zip(shown, tables, strict=True))
    overview = _build_overview(pairs, cells, published, find_single_pools(runs), notes)
    panels = [overview, *tables]
    if drawn:
        panels.insert(1, Panel("", "Figures", "Figures", drawn))
    if against is not None:
        changes = render_changes(runs, source, *against)
        panels.insert(1, Panel("", "Changes", f"Changes against {against[1]}", changes))
    return render_document(panels, source, runs)


def _build_overview(
    tables: list[tuple[ReportedTable, Panel]],
    cells: list[CellComparison],
    published: Grid,
    single_pools: list[str],
    notes: list[str],
) -> Panel:
    rows = []
    for one, panel in tables:
        agreement = "<br>".join(escape(line) for line in summarize_agreement(one.compared))
        state = " <em>incomplete</em>" if one.table.incomplete else ""
        rows.append(
            f'<tr><th scope="row"><a href="#{panel.id}">{escape(panel.title)}</a></th>'
            f"<td>{escape(panel.group)}</td><td>{escape(one.table.title)}{state}</td>"
            f"<td>{agreement or '–'}</td></tr>"
        )
    header = [f"<th>{h}</th>" for h in ("table", "of", "what it shows", "agreement with published values")]
    body = [f'<div class="wide">{render_table_element(header, rows, "list")}</div>']
    body.insert(0, explain_page(bool(cells)))
    if cells:
        grid = render_grid(published).replace("<table>", '<table class="plain">', 1)
        body.append(
            f'<h3 id="all-published">All published numbers</h3><div class="wide" tabindex="0">{grid}</div>'
        )
        body.append(f"<h3>All distinct cells</h3>{render_notes(summarize_agreement(cells))}")
        body.append(f'<div class="repeated"><h3>{DIFFERENT}</h3>{_render_different(cells)}</div>')
        if single_pools:
            names = ", ".join(single_pools)
            body.append(render_notes([f"One pool only of {names}: z leaves its luck out and is too large."]))
    body.append(render_notes(notes, "note"))
    return Panel("", "Overview", "Overview", "\n".join(body))


def _build_table_panel(one: ReportedTable, figures: PageFigures) -> Panel:
    run, table, compared = one.run, one.table, one.compared
    notes = [f"Bold: {table.bold}."] if table.bold else []
    if compared:
        notes.append("Below each number is the published value; point at a cell, or tap it, for z.")
    group = read_paper_titles().get(run.paper, run.paper or OTHER_RUNS)
    title = format_table_name(run.table) if run.table else run.name
    body = [
        f'<p class="cite">{escape(run.experiment.citation)}</p>',
        render_table_downloads(table, title),
        table_html(table, run, compared),
        render_split_values(run),
        render_notes([*notes, *table.notes], "note"),
    ]
    if compared:
        body.append(render_notes(summarize_agreement(compared)))
        if any(map(is_different, compared)):
            body.append(f"<h3>{DIFFERENT}</h3>{_render_different(compared)}")
    body += [figures.render_of_table(run), provenance_html(run)]
    return Panel(group, title, format_caption(table), "\n".join(body))


def _render_different(cells: list[CellComparison]) -> str:
    """Return the cells that differ from the published values, with what is known about them."""
    items = []
    for remark, part in group_by_remark([cell for cell in cells if is_different(cell)]).items():
        names = ", ".join(map(_describe_different, part))
        items.append(f"<li><b>{escape(names)}</b>. {escape(remark)}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else f"<p>No cell is beyond |z| = {Z_WARN:g}.</p>"


def _describe_different(cell: CellComparison) -> str:
    title = build_column_titles([cell.learner])[cell.learner]
    name = " ".join(filter(None, [title, load_compared_metric(cell.metric).heading]))
    distance = f"z {cell.z:+.1f}" if cell.z == cell.z else cell.match
    numbers = f"{format_our_value(cell)} for {format_published_value(cell)}"
    return f"{name} on {cell.dataset} ({format_table_name(cell.table)}: {numbers}, {distance})"
