"""Render LaTeX: tables to include in an article, or a complete document."""

from __future__ import annotations

import re
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

PACKAGES = "booktabs", "longtable"
DOCUMENT_START = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}"""
DOCUMENT_PAGE = r"""\usepackage[a4paper,landscape,margin=1cm]{geometry}
\begin{document}"""
COMMANDS = {
    "\0": "textbackslash",
    "^": "textasciicircum",
    "~": "textasciitilde",
    "<": "textless",
    ">": "textgreater",
    "|": "textbar",  # a different character in LaTeX's default encoding
}


class LatexRenderer(Renderer):
    """LaTeX tables to include in an article, or a complete document."""

    def render_table(self, table: Table, terminal: bool = False) -> str:
        """Return a table environment with the best cells in bold."""

        def format_number(cell: TableCell) -> str:
            text = format_cell(cell, r"\pm", "^*").replace(" [", r"\ [")
            return "--" if cell.mean is None else f"${text}$"

        def format_ours(cell: TableCell) -> str:
            text = format_number(cell)
            return rf"$\mathbf{{{text.strip('$')}}}$" if cell.best else text

        def format_published(cell: TableCell) -> str:
            return rf"{{\small {format_number(cell)}}}"

        def format_label(text: str) -> str:
            return r"\quad{\small\itshape published}" if text.startswith(" ") else self.escape(text)

        header = build_header(table)
        lines = build_lines(table, format_ours, format_published, format_label)
        # A label may contain letters, digits and characters that are not commands.
        label = re.sub(r"[^\w./:-]+", "-", table.number)
        parts = [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{self.escape(format_caption(table).partition('. ')[2])}}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            _render_line(map(self.escape, header)),
            r"\midrule",
            *map(_render_line, lines),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\small {self.escape(note)}}}" for note in list_notes(table)),
            r"\end{table}",
        ]
        return "\n".join(parts)

    def render_grid(self, grid: Grid) -> str:
        """Return a grid as a table that may span pages, with its caption and notes."""
        notes = "\n\n".join(map(self.escape, grid.notes))
        if not grid.lines:
            return f"{notes}\n"
        body = [
            rf"\begin{{longtable}}{{{''.join(side[0] for side in grid.alignment)}}}",
            r"\toprule",
            _render_line(map(self.escape, grid.header)),
            r"\midrule",
            r"\endhead",
            *(_render_line(map(self.escape, line)) for line in grid.lines),
            r"\bottomrule",
            r"\end{longtable}",
        ]
        heading = [rf"\subsection*{{{self.escape(grid.caption)}}}"] if grid.caption else []
        return "\n".join([*heading, *body, notes, ""])

    def render_heading(self, heading: str) -> str:
        """Return a heading above several grids."""
        return rf"\section*{{{self.escape(heading)}}}"

    def render_paragraph(self, text: str) -> str:
        """Return sentences as a paragraph."""
        return f"\n{self.escape(text)}\n"

    def join(self, parts: list[str], standalone: bool = False) -> str:
        """Return a complete document of tables or grids, or the parts to include in one."""
        if standalone:
            packages = [rf"\usepackage{{{name}}}" for name in PACKAGES]
            return "\n".join([DOCUMENT_START, *packages, DOCUMENT_PAGE, *parts, r"\end{document}"])
        is_long = any(r"\begin{longtable}" in part for part in parts)
        needed = "".join(rf"\usepackage{{{name}}}" for name in PACKAGES if is_long or name != "longtable")
        return "\n\n".join([f"% to include in a document with {needed}", *parts])

    def escape(self, text: str) -> str:
        """Return a text with the special characters of LaTeX escaped."""
        text = show_controls(text, keep="").replace("\\", "\0")
        for character in "&%$#_{}":
            text = text.replace(character, "\\" + character)
        for character, command in COMMANDS.items():
            text = text.replace(character, rf"\{command}{{}}")
        return text.replace("±", r"$\pm$")


def _render_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
