"""Plain text, for terminals and logs."""

from __future__ import annotations

import re
import shutil
import textwrap

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

PARAGRAPH_WIDTH = 100  # characters
COMMAND = re.compile(r"zoloss (?:run|evaluate) .*")  # to the end of a note
BOLD_ON_TERMINAL = "\x1b[1m{}\x1b[0m"


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table; its best cells are bold on a terminal, and between asterisks elsewhere."""
    mark = (BOLD_ON_TERMINAL if terminal else "**{}**").format

    def format_ours(cell: TableCell) -> str:
        text = format_cell(cell)
        return mark(text) if cell.best else text

    lines = build_grid(table, format_ours, format_cell, show_text)
    header = [*map(show_text, build_header(table))]
    body = tabulate(lines, header, tablefmt="simple", disable_numparse=True)
    notes = [f"({show_text(text)})" for text in list_notes(table, "bold" if terminal else "**")]
    if terminal:
        notes = [*map(wrap_note, notes)]
    return "\n".join([f"{show_text(format_caption(table))}\n\n{body}", "\n".join(notes)])


def wrap_note(note: str) -> str:
    """Return a note in lines that fit the terminal; a command in it stays on one line, for copying."""
    kept = COMMAND.sub(lambda command: command[0].replace(" ", "\0"), note)
    width = shutil.get_terminal_size().columns
    lines = textwrap.wrap(kept, width, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def render_grid(grid: Grid) -> str:
    """Return a grid with its caption and notes."""
    notes = "\n".join(f"({show_text(note)})" for note in grid.notes)
    if not grid.lines:
        return notes
    header, *lines = [[show_text(text) for text in line] for line in [grid.header, *grid.lines]]
    body = tabulate(lines, header, tablefmt="simple", disable_numparse=True, colalign=align_columns(grid))
    return "\n".join(filter(None, [f"{show_text(grid.caption)}\n" if grid.caption else "", body, notes]))


def render_heading(heading: str) -> str:
    """Return a heading above several grids."""
    return show_text(heading)


def render_paragraph(text: str) -> str:
    """Return sentences as a paragraph."""
    return textwrap.fill(show_text(text), PARAGRAPH_WIDTH, break_on_hyphens=False)


def show_text(text: str) -> str:
    """Return a text in one line, without control characters for the terminal."""
    return show_controls(text, keep="")


def join(parts: list[str]) -> str:
    """Return tables or grids one after the other."""
    return "\n\n".join(parts)
