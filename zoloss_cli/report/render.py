"""Render tables and grids as text, Markdown or CSV; other formats are in latex.py and html/fragments.py."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabulate import tabulate

from zoloss_cli.choices import FORMATS
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.report.tables import Table, TableCell
from zoloss_cli.utils.text import show_controls

PARAGRAPH_WIDTH = 100  # characters
COMMAND = re.compile(r"zoloss (?:run|evaluate) .*")  # to the end of a note
BOLD_ON_TERMINAL = "\x1b[1m{}\x1b[0m"
TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
FORMULA_STARTS = tuple("=+-@\t\r")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")
# The CSV columns of a cell's numbers, by the statistic shown.
NUMBER_COLUMNS = {
    "": ("mean", "stderr"),
    "stderr": ("mean", "stderr"),
    "sd": ("mean", "sd"),
    "ci": ("mean", "ci_low", "ci_high"),
    "median": ("median",),
    "quartiles": ("median", "q1", "q3"),
}


@dataclass(frozen=True)
class Grid:
    """Lines of text under a header, or notes only, in no particular format."""

    caption: str = ""
    header: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    n_left: int = 1  # how many columns are left-aligned; the others are right-aligned
    notes: list[str] = field(default_factory=list)

    @property
    def alignment(self) -> tuple[str, ...]:
        """Return the alignment of each column, as tabulate names it."""
        return ("left",) * self.n_left + ("right",) * (len(self.header) - self.n_left)


def format_cell(cell: TableCell, plus_minus: str = "±", star: str = "*") -> str:
    """Return a cell's number with its error and star; a dash if it is empty."""
    if cell.mean is None:
        return "–"
    text = f"{cell.mean:{'+' if cell.signed else ''}.{cell.decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    spread = cell.stderr if cell.deviation is None else cell.deviation
    if cell.interval is not None:
        text += " [{0:.{2}f}, {1:.{2}f}]".format(*cell.interval, cell.decimals)
    elif spread is not None and not math.isnan(spread):
        text += f" {plus_minus} {spread:.{cell.decimals}f}"
    return text + (star if cell.star else "")


def format_caption(table: Table) -> str:
    """Return a table's caption: its name, its title, and what the numbers are means over."""
    state = "; incomplete" if table.incomplete else ""
    return f"{format_table_name(table.number)}. {table.title} ({table.splits}{state})"


def format_table_name(number: str) -> str:
    """Return a table's number as in a sentence; a run without a number has its own name."""
    return f"Table {number}" if number[:1].isdigit() or number.isupper() else number


def build_lines(
    table: Table,
    format_ours: Callable[[TableCell], str],
    format_published: Callable[[TableCell], str],
    format_label: Callable[[str], str],
) -> list[list[str]]:
    """Return two lines per data set, or per learner of a transposed table: ours, then the published numbers."""
    rows = [(row.dataset, row.ours, row.published) for row in table.rows]
    if table.transpose:
        empty = [TableCell(None)] * len(table.columns)
        rows = [
            (
                column.title,
                [row.ours[i] for row in table.rows],
                [(row.published or empty)[i] for row in table.rows],
            )
            for i, column in enumerate(table.columns)
        ]
    lines = []
    for label, ours, published in rows:
        lines.append([format_label(label), *map(format_ours, ours)])
        if any(cell.mean is not None for cell in published):
            lines.append([format_label("  published"), *map(format_published, published)])
    return lines


def build_header(table: Table) -> list[str]:
    """Return the headings of a table's columns."""
    if table.transpose:
        return ["learner", *(row.dataset for row in table.rows)]
    return ["data set", *table.headings]


def list_notes(table: Table, bold: str = "bold") -> list[str]:
    """Return the notes under a table, starting with what bold cells are; `bold` is the format's word for it."""
    return [*([f"{bold}: {table.bold}"] if table.bold else []), *table.notes]


class Renderer(ABC):
    """Base class of renderers, each of one format."""

    @abstractmethod
    def escape(self, text: str) -> str:
        """Return a text with the special characters of the format escaped."""

    @abstractmethod
    def render_table(self, table: Table, terminal: bool = False) -> str:
        """Return a table with caption and notes; `terminal` allows terminal codes in text."""

    @abstractmethod
    def render_grid(self, grid: Grid) -> str:
        """Return a grid with its caption and notes."""

    def render_heading(self, heading: str) -> str:
        """Return a heading above several grids."""
        return self.escape(heading)

    def render_paragraph(self, text: str) -> str:
        """Return sentences as a paragraph."""
        return self.escape(text)

    def join(self, parts: list[str], standalone: bool = False) -> str:
        """Return tables or grids one after the other; `standalone` makes LaTeX a complete document."""
        return "\n\n".join(parts)


class TextRenderer(Renderer):
    """Plain text, for terminals and logs."""

    def escape(self, text: str) -> str:
        """Return a text in one line, with control characters escaped."""
        return show_controls(text, keep="")

    def render_table(self, table: Table, terminal: bool = False) -> str:
        """Return a table; its best cells are bold on a terminal, and between asterisks elsewhere."""
        mark = (BOLD_ON_TERMINAL if terminal else "**{}**").format

        def format_ours(cell: TableCell) -> str:
            return mark(format_cell(cell)) if cell.best else format_cell(cell)

        lines = build_lines(table, format_ours, format_cell, self.escape)
        header = [*map(self.escape, build_header(table))]
        body = tabulate(lines, header, tablefmt="simple", disable_numparse=True)
        notes = [f"({self.escape(text)})" for text in list_notes(table, "bold" if terminal else "**")]
        if terminal:
            notes = [*map(_wrap_note, notes)]
        return "\n".join([f"{self.escape(format_caption(table))}\n\n{body}", "\n".join(notes)])

    def render_grid(self, grid: Grid) -> str:
        """Return a grid with its caption and notes."""
        notes = "\n".join(f"({self.escape(note)})" for note in grid.notes)
        if not grid.lines:
            return notes
        header, *lines = [[*map(self.escape, line)] for line in [grid.header, *grid.lines]]
        body = tabulate(lines, header, tablefmt="simple", disable_numparse=True, colalign=grid.alignment)
        return "\n".join(filter(None, [f"{self.escape(grid.caption)}\n" if grid.caption else "", body, notes]))

    def render_paragraph(self, text: str) -> str:
        """Return sentences as a paragraph."""
        return textwrap.fill(self.escape(text), PARAGRAPH_WIDTH, break_on_hyphens=False)


def _wrap_note(note: str) -> str:
    """Wrap a note to the width of the terminal; a command in it stays on one line, for copying."""
    kept = COMMAND.sub(lambda command: command[0].replace(" ", "\0"), note)
    width = shutil.get_terminal_size().columns
    lines = textwrap.wrap(kept, width, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


class MarkdownRenderer(Renderer):
    """GitHub's Markdown."""

    def escape(self, text: str) -> str:
        """Return a text in one line without HTML, links, emphasis by asterisks, code or cell separators."""
        for character in "\\`*[|":
            text = text.replace(character, "\\" + character)
        return TAG_START.sub("&lt;", show_controls(text, keep=""))

    def render_table(self, table: Table, terminal: bool = False) -> str:
        """Return a table with the best cells in bold and published numbers in italics."""

        def format_number(cell: TableCell) -> str:
            return format_cell(cell, star=r"\*")

        def format_ours(cell: TableCell) -> str:
            return f"**{format_number(cell)}**" if cell.best else format_number(cell)

        def format_label(text: str) -> str:
            return self.escape(text.strip())

        lines = build_lines(table, format_ours, lambda cell: f"*{format_number(cell)}*", format_label)
        header = [*map(self.escape, build_header(table))]
        body = tabulate(lines, header, tablefmt="github", disable_numparse=True)
        return "\n\n".join(
            [self.render_heading(format_caption(table)), body, *map(self.escape, list_notes(table))]
        )

    def render_grid(self, grid: Grid) -> str:
        """Return a grid with its caption and notes."""
        notes = [*map(self.escape, grid.notes)]
        if not grid.lines:
            return "\n\n".join(notes)
        header, *lines = [[*map(self.escape, line)] for line in [grid.header, *grid.lines]]
        body = tabulate(lines, header, tablefmt="github", disable_numparse=True, colalign=grid.alignment)
        return "\n\n".join(filter(None, [self.escape(grid.caption), body, *notes]))

    def render_heading(self, heading: str) -> str:
        """Return a heading above several grids."""
        return f"**{self.escape(heading)}**"


def load_renderer(format: str) -> Renderer:
    """Return the renderer of a format other than CSV."""
    if format == "latex":
        from zoloss_cli.report.latex import LatexRenderer

        return LatexRenderer()
    if format == "html":
        from zoloss_cli.report.html.fragments import HtmlRenderer

        return HtmlRenderer()
    return MarkdownRenderer() if format == "markdown" else TextRenderer()


def render_tables(tables: list[Table], format: str, terminal: bool = False, standalone: bool = False) -> str:
    """Return tables in one of FORMATS; `terminal` allows bold text; `standalone` is for LaTeX."""
    if format not in FORMATS:
        raise ConfigError(f"--format '{format}' is unknown{suggest_nearest(format, FORMATS)}")
    if format == "csv":
        return _render_tables_csv(tables)
    renderer = load_renderer(format)
    return renderer.join([renderer.render_table(table, terminal) for table in tables], standalone)


def render_grid(grid: Grid, format: str = "text", standalone: bool = False) -> str:
    """Return a grid in a format; `standalone` is for LaTeX, and CSV has only header and lines."""
    if format == "csv":
        return write_csv(grid.header, grid.lines)
    renderer = load_renderer(format)
    return renderer.join([renderer.render_grid(grid)], standalone)


def _render_tables_csv(tables: Sequence[Table]) -> str:
    """Return all cells of tables, one row each; all tables show the same statistic."""
    stat, lines = tables[0].stat if tables else "", []
    for table in tables:
        for row in table.rows:
            beside = row.published or [TableCell(None)] * len(table.columns)
            for column, ours, published in zip(table.columns, row.ours, beside, strict=True):
                numbers = map(format_value, list_numbers(ours, stat))
                theirs = (format_value(published.mean), format_value(published.stderr), int(published.star))
                marks = (int(ours.best), int(ours.star), ours.choice)
                place = (table.number, row.dataset, column.learner, column.metric)
                lines.append([*place, *numbers, *marks, *theirs, ours.choices])
    header = [
        *("table", "dataset", "learner", "metric", *NUMBER_COLUMNS[stat], "best", "star", "choice"),
        *("published", "published_stderr", "published_star", "choices"),
    ]
    return write_csv(header, lines)


def list_numbers(cell: TableCell, stat: str) -> list[float | None]:
    """Return the numbers of a cell in the order of their columns."""
    if stat in ("ci", "quartiles"):
        return [cell.mean, *(cell.interval or (None, None))]
    if stat == "median":
        return [cell.mean]
    return [cell.mean, cell.deviation if stat == "sd" else cell.stderr]


def render_objects_csv(columns: Sequence[str], objects: Iterable[Any]) -> str:
    """Return attributes of objects as CSV, one row each."""
    return write_csv(columns, [[format_value(getattr(each, name)) for name in columns] for each in objects])


def format_value(value: Any) -> str:
    """Return a value for CSV: numbers with six digits, booleans as 0 or 1, missing values empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_csv(header: Sequence[str], lines: Iterable[Sequence]) -> str:
    """Return lines as CSV under a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([guard_cell(cell) for cell in line] for line in [header, *lines])
    return out.getvalue().rstrip("\n")


def guard_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet treats as a formula and no terminal as a command.

    Text that starts like a formula gets a leading apostrophe; a number and a lone sign are unchanged. See
    OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
    """
    if not isinstance(cell, str):
        return cell
    is_formula = cell.startswith(FORMULA_STARTS) and len(cell) > 1 and not NUMBER.fullmatch(cell)
    return ("'" if is_formula else "") + show_controls(cell)
