"""GitHub's Markdown."""

from __future__ import annotations

from tabulate import tabulate

from zoloss_cli.reporting.render.grid import Grid, align_columns
from zoloss_cli.reporting.render.numbers import build_grid, format_caption, format_cell
from zoloss_cli.reporting.tables import Table, TableCell


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table whose best cells are bold and whose published numbers are in italics."""

    def format_number(cell: TableCell) -> str:
        return format_cell(cell, star=r"\*")

    def format_ours(cell: TableCell) -> str:
        return f"**{format_number(cell)}**" if cell.best else format_number(cell)

    lines = build_grid(table, format_ours, lambda c: f"*{format_number(c)}*", str.strip)
    body = tabulate(lines, ["data set", *table.headings], tablefmt="github", disable_numparse=True)
    notes = "".join(f"\n\n{note[:1].replace('*', chr(92) + '*')}{note[1:]}" for note in table.notes)
    return f"**{format_caption(table)}**\n\n{body}{notes}"


def render_grid(grid: Grid) -> str:
    """Return a grid with its caption and notes."""
    notes = [note.replace("*", r"\*") for note in grid.notes]
    if not grid.lines:
        return "\n\n".join(notes)
    body = tabulate(
        grid.lines, grid.header, tablefmt="github", disable_numparse=True, colalign=align_columns(grid)
    ).replace("*", r"\*")
    return "\n\n".join(filter(None, [grid.caption, body, *notes]))


def render_heading(heading: str) -> str:
    """Return what stands over several grids."""
    return f"**{heading}**"


def join(parts: list[str]) -> str:
    """Return tables or grids one after the other."""
    return "\n\n".join(parts)
