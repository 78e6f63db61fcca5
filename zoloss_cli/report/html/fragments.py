"""Render HTML fragments to embed in a page; `zoloss report` uses the same parts."""

from __future__ import annotations

import html
from collections.abc import Iterable

from zoloss_cli.report.render import (
    Grid,
    Renderer,
    build_header,
    build_lines,
    format_caption,
    format_cell,
    list_notes,
)
from zoloss_cli.report.tables import Table, TableCell
from zoloss_cli.utils.text import show_controls


def escape(text: str) -> str:
    """Return a text with special and control characters escaped."""
    return html.escape(show_controls(text))


class HtmlRenderer(Renderer):
    """Fragments of HTML."""

    def escape(self, text: str) -> str:
        """Return a text with special and control characters escaped."""
        return escape(text)

    def render_table(self, table: Table, terminal: bool = False) -> str:
        """Return a table with the best cells in bold and published numbers in italics."""

        def format_ours(cell: TableCell) -> str:
            text = escape(format_cell(cell))
            return f"<b>{text}</b>" if cell.best else text

        lines = build_lines(table, format_ours, lambda c: f"<i>{escape(format_cell(c))}</i>", escape)
        header = [f"<th>{escape(heading)}</th>" for heading in build_header(table)]
        rows = ["".join(f"<td>{cell}</td>" for cell in line) for line in lines]
        body = render_table_element(header, [f"<tr>{row}</tr>" for row in rows])
        return f"<h3>{escape(format_caption(table))}</h3>\n{body}{render_notes(list_notes(table))}"

    def render_grid(self, grid: Grid) -> str:
        """Return a grid with its caption and notes."""
        notes = render_notes(grid.notes)
        if not grid.lines:
            return notes.strip()
        styles = ["" if side == "left" else ' style="text-align: right;"' for side in grid.alignment]
        header, *rows = (
            [f"<{tag}{style}>{escape(text)}</{tag}>" for text, style in zip(line, styles, strict=True)]
            for tag, line in [("th", grid.header), *(("td", line) for line in grid.lines)]
        )
        body = render_table_element(header, [f"<tr>{''.join(row)}</tr>" for row in rows])
        return (f"<h4>{escape(grid.caption)}</h4>\n" if grid.caption else "") + body + notes

    def render_heading(self, heading: str) -> str:
        """Return a heading above several grids."""
        return f"<h3>{escape(heading)}</h3>"

    def render_paragraph(self, text: str) -> str:
        """Return sentences as a paragraph."""
        return f"<p>{escape(text)}</p>"


def render_table_element(header: Iterable[str], rows: Iterable[str], css_class: str = "") -> str:
    """Return a table of th and tr elements."""
    start = f'<table class="{css_class}">' if css_class else "<table>"
    lines = [start, f"<thead><tr>{''.join(header)}</tr></thead>", "<tbody>", *rows, "</tbody>", "</table>"]
    return "\n".join(lines)


def render_notes(notes: Iterable[str], css_class: str = "") -> str:
    """Return a paragraph for each note."""
    start = f'<p class="{css_class}">' if css_class else "<p>"
    return "".join(f"\n{start}{escape(note)}</p>" for note in notes)
