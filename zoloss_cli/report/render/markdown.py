"""GitHub's Markdown."""

from __future__ import annotations

import re

from tabulate import tabulate

from zoloss_cli.report.render.render import (
    Grid,
    align_columns,
    build_grid,
    build_header,
    format_caption,
    format_cell,
    list_notes,
)
from zoloss_cli.report.tables import Table, TableCell
from zoloss_cli.utils.text import show_controls

_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table with the best cells in bold and published numbers in italics."""

    def format_number(cell: TableCell) -> str:
        return format_cell(cell, star=r"\*")

    def format_ours(cell: TableCell) -> str:
        return f"**{format_number(cell)}**" if cell.best else format_number(cell)

    def format_label(text: str) -> str:
        return escape_markdown(text.strip())

    lines = build_grid(table, format_ours, lambda c: f"*{format_number(c)}*", format_label)
    header = [*map(escape_markdown, build_header(table))]
    body = tabulate(lines, header, tablefmt="github", disable_numparse=True)
    notes = "".join(f"\n\n{escape_markdown(note)}" for note in list_notes(table))
    return f"**{escape_markdown(format_caption(table))}**\n\n{body}{notes}"


def render_grid(grid: Grid) -> str:
    """Return a grid with its caption and notes."""
    notes = [escape_markdown(note) for note in grid.notes]
    if not grid.lines:
        return "\n\n".join(notes)
    header, *lines = [[escape_markdown(text) for text in line] for line in [grid.header, *grid.lines]]
    body = tabulate(lines, header, tablefmt="github", disable_numparse=True, colalign=align_columns(grid))
    return "\n\n".join(filter(None, [escape_markdown(grid.caption), body, *notes]))


def render_heading(heading: str) -> str:
    """Return a heading above several grids."""
    return f"**{escape_markdown(heading)}**"


def render_paragraph(text: str) -> str:
    """Return sentences as a paragraph."""
    return escape_markdown(text)


def join(parts: list[str]) -> str:
    """Return tables or grids one after the other."""
    return "\n\n".join(parts)


def escape_markdown(text: str) -> str:
    """Return a text in one line without HTML, links, emphasis by asterisks, code or cell separators."""
    for character in "\\`*[|":
        text = text.replace(character, "\\" + character)
    return _TAG_START.sub("&lt;", show_controls(text, keep=""))
