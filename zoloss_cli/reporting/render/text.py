"""Plain text, for terminals and logs."""

from __future__ import annotations

from tabulate import tabulate

from zoloss_cli.reporting.render.grid import Grid, align_columns
from zoloss_cli.reporting.render.numbers import build_grid, format_caption, format_cell
from zoloss_cli.reporting.tables import Table, TableCell

BOLD_ON_TERMINAL = "\x1b[1m{}\x1b[0m"


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table; its best cells are bold on a terminal and between asterisks elsewhere."""
    mark = (BOLD_ON_TERMINAL if terminal else "**{}**").format

    def format_ours(cell: TableCell) -> str:
        text = format_cell(cell)
        return mark(text) if cell.best else text

    lines = build_grid(table, format_ours, format_cell, str)
    body = tabulate(lines, ["data set", *table.headings], tablefmt="simple", disable_numparse=True)
    bold = [f"{'bold' if terminal else '**'}: {table.bold}"] if table.bold else []
    return f"{format_caption(table)}\n\n{body}\n" + "\n".join(f"({text})" for text in [*bold, *table.notes])


def render_grid(grid: Grid) -> str:
    """Return a grid with its caption and notes."""
    notes = "\n".join(f"({note})" for note in grid.notes)
    if not grid.lines:
        return notes
    body = tabulate(
        grid.lines, grid.header, tablefmt="simple", disable_numparse=True, colalign=align_columns(grid)
    )
    return "\n".join(filter(None, [f"{grid.caption}\n" if grid.caption else "", body, notes]))


def render_heading(heading: str) -> str:
    """Return what stands over several grids."""
    return heading


def join(parts: list[str]) -> str:
    """Return tables or grids one after the other."""
    return "\n\n".join(parts)
