"""Fragments of HTML, to stand in a page of one's own."""

from __future__ import annotations

from html import escape

from tabulate import tabulate

from zoloss_cli.reporting.render.grid import Grid, align_columns
from zoloss_cli.reporting.render.numbers import build_grid, format_caption, format_cell
from zoloss_cli.reporting.tables import Table, TableCell


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table whose best cells are bold and whose published numbers are in italics."""

    def format_ours(cell: TableCell) -> str:
        text = escape(format_cell(cell))
        return f"<b>{text}</b>" if cell.best else text

    lines = build_grid(table, format_ours, lambda c: f"<i>{escape(format_cell(c))}</i>", escape)
    header = ["data set", *map(escape, table.headings)]
    body = tabulate(lines, header, tablefmt="unsafehtml", disable_numparse=True)
    notes = "".join(f"\n<p>{escape(note)}</p>" for note in table.notes)
    return f"<h3>{escape(format_caption(table))}</h3>\n{body}{notes}"


def render_grid(grid: Grid) -> str:
    """Return a grid with its caption and notes."""
    notes = "".join(f"\n<p>{escape(note)}</p>" for note in grid.notes)
    if not grid.lines:
        return notes.strip()
    body = tabulate(
        grid.lines, grid.header, tablefmt="html", disable_numparse=True, colalign=align_columns(grid)
    )
    return (f"<h4>{escape(grid.caption)}</h4>\n" if grid.caption else "") + body + notes


def render_heading(heading: str) -> str:
    """Return what stands over several grids."""
    return f"<h3>{escape(heading)}</h3>"


def join(parts: list[str]) -> str:
    """Return tables or grids one after the other."""
    return "\n\n".join(parts)
