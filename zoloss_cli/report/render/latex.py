"""LaTeX: tables to include in an article, or a document of them."""

from __future__ import annotations

import re

from zoloss_cli.report.render.render import (
    Grid,
    build_grid,
    build_header,
    format_caption,
    format_cell,
    list_notes,
)
from zoloss_cli.report.tables import Table, TableCell
from zoloss_cli.utils.text import show_controls

PACKAGES = "booktabs", "longtable"
PLUS_MINUS, STAR = r"\pm", "^*"
COMMANDS = {
    "\0": "textbackslash",
    "^": "textasciicircum",
    "~": "textasciitilde",
    "<": "textless",
    ">": "textgreater",
    "|": "textbar",  # other characters in LaTeX's default encoding
}


def render_table(table: Table, terminal: bool = False) -> str:
    """Return a table environment with the best cells in bold."""

    def format_number(cell: TableCell) -> str:
        text = format_cell(cell, PLUS_MINUS, STAR).replace(" [", r"\ [")
        return "--" if cell.mean is None else f"${text}$"

    def format_ours(cell: TableCell) -> str:
        text = format_number(cell)
        return rf"$\mathbf{{{text.strip('$')}}}$" if cell.best else text

    def format_published(cell: TableCell) -> str:
        return rf"{{\small {format_number(cell)}}}"

    def format_label(text: str) -> str:
        return r"\quad{\small\itshape published}" if text.startswith(" ") else escape_latex(text)

    header = build_header(table)
    lines = [
        " & ".join(line) + r" \\" for line in build_grid(table, format_ours, format_published, format_label)
    ]
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{escape_latex(format_caption(table).partition('. ')[2])}}}",
            rf"\label{{tab:{format_key(table.number)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            " & ".join(map(escape_latex, header)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\small {escape_latex(note)}}}" for note in list_notes(table)),
            r"\end{table}",
        ]
    )


def render_grid(grid: Grid) -> str:
    """Return a grid as a table that may span pages, with its caption and notes."""
    notes = "\n\n".join(escape_latex(note) for note in grid.notes)
    if not grid.lines:
        return f"{notes}\n"
    body = "\n".join(
        [
            rf"\begin{{longtable}}{{{'l' * grid.n_left}{'r' * (len(grid.header) - grid.n_left)}}}",
            r"\toprule",
            " & ".join(map(escape_latex, grid.header)) + r" \\",
            r"\midrule",
            r"\endhead",
            *(" & ".join(map(escape_latex, line)) + r" \\" for line in grid.lines),
            r"\bottomrule",
            r"\end{longtable}",
        ]
    )
    heading = [rf"\subsection*{{{escape_latex(grid.caption)}}}"] if grid.caption else []
    return "\n".join([*heading, body, notes, ""])


def render_heading(heading: str) -> str:
    """Return a heading above several grids."""
    return rf"\section*{{{escape_latex(heading)}}}"


def join_fragments(parts: list[str]) -> str:
    """Return tables or grids one after the other, to include in your own document."""
    used = [name for name in PACKAGES if name != "longtable" or any(rf"\begin{{{name}}}" in p for p in parts)]
    needed = "".join(rf"\usepackage{{{name}}}" for name in used)
    return "\n\n".join([f"% a part of a document that has {needed}", *parts])


def render_paragraph(text: str) -> str:
    """Return sentences as a paragraph."""
    return f"\n{escape_latex(text)}\n"


def join(parts: list[str]) -> str:
    """Return a document of tables or grids."""
    head = [
        r"\documentclass{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[T1]{fontenc}",
        *(rf"\usepackage{{{name}}}" for name in PACKAGES),
        r"\usepackage[a4paper,landscape,margin=1cm]{geometry}",
        r"\begin{document}",
    ]
    return "\n".join([*head, *parts, r"\end{document}"])


def escape_latex(text: str) -> str:
    """Return a text in which every character stands for itself."""
    text = show_controls(text, keep="").replace("\\", "\0")
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    for character, command in COMMANDS.items():
        text = text.replace(character, rf"\{command}{{}}")
    return text.replace("±", r"$\pm$")


def format_key(name: str) -> str:
    r"""Return a name in the form that \label takes: letters, digits and marks that are not commands."""
    return re.sub(r"[^\w./:-]+", "-", name)
