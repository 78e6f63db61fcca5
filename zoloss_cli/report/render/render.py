"""A plain grid of texts with caption and notes, which every format can write."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

from zoloss_cli.choices import FORMATS
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.report.compare import CellComparison, load_compared_metric
from zoloss_cli.report.tables import Table, TableCell


@dataclass(frozen=True)
class Grid:
    """Lines of text under a header, or notes only.

    Attributes
    ----------
    caption : str
        The caption above it.
    header : list of str
        Titles of the columns.
    lines : list of list of str
        The cells.
    n_left : int
        How many columns are left-aligned; the others are right-aligned.
    notes : list of str
        The notes below it.
    """

    caption: str = ""
    header: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    n_left: int = 1
    notes: list[str] = field(default_factory=list)


def align_columns(grid: Grid) -> tuple[str, ...]:
    """Return the alignment of each column, as tabulate names it."""
    return ("left",) * grid.n_left + ("right",) * (len(grid.header) - grid.n_left)


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


def build_grid(
    table: Table,
    format_ours: Callable[[TableCell], str],
    format_published: Callable[[TableCell], str],
    format_label: Callable[[str], str],
) -> list[list[str]]:
    """Return two lines per data set, or per learner of a transposed table: ours, then the published numbers."""
    if table.transpose:
        return _build_transposed(table, format_ours, format_published, format_label)
    lines = []
    for row in table.rows:
        lines.append([format_label(row.dataset), *map(format_ours, row.ours)])
        if row.published:
            lines.append([format_label("  published"), *map(format_published, row.published)])
    return lines


def _build_transposed(
    table: Table,
    format_ours: Callable[[TableCell], str],
    format_published: Callable[[TableCell], str],
    format_label: Callable[[str], str],
) -> list[list[str]]:
    lines = []
    for i, column in enumerate(table.columns):
        lines.append([format_label(column.title), *(format_ours(row.ours[i]) for row in table.rows)])
        beside = [row.published[i] if row.published else TableCell(None) for row in table.rows]
        if any(cell.mean is not None for cell in beside):
            lines.append([format_label("  published"), *map(format_published, beside)])
    return lines


def build_header(table: Table) -> list[str]:
    """Return the headings of a table's columns."""
    if table.transpose:
        return ["learner", *(row.dataset for row in table.rows)]
    return ["data set", *table.headings]


def list_notes(table: Table, bold: str = "bold") -> list[str]:
    """Return the notes under a table, starting with what bold cells are; `bold` is the format's word for it."""
    return [*([f"{bold}: {table.bold}"] if table.bold else []), *table.notes]


def format_our_value(cell: CellComparison) -> str:
    """Return our number of a compared cell."""
    return format_cell(TableCell(cell.mean, cell.stderr, decimals=count_decimals(cell)))


def format_published_value(cell: CellComparison) -> str:
    """Return the published number of a compared cell."""
    metric = load_compared_metric(cell.metric)
    decimals = metric.decimals if metric.comparison_decimals is None else metric.comparison_decimals
    if cell.comparison == "match" and not cell.is_exact:
        decimals = metric.published_decimals or 0
    return format_cell(TableCell(cell.published, cell.published_stderr, decimals=decimals))


def count_decimals(cell: CellComparison) -> int:
    """Return the number of decimals to show for a compared cell."""
    metric = load_compared_metric(cell.metric)
    if cell.comparison == "z":
        return metric.decimals if metric.comparison_decimals is None else metric.comparison_decimals
    return metric.count_decimals(cell.mean, cell.splits)


def validate_format(name: str) -> str:
    """Return the name of a format; ConfigError if it is unknown."""
    if name not in FORMATS:
        raise ConfigError(f"--format '{name}' is unknown{suggest_nearest(name, FORMATS)}")
    return name


def load_renderer(format: str) -> ModuleType:
    """Return the module that writes a format."""
    return importlib.import_module(f"zoloss_cli.report.render.{validate_format(format)}")


def render_tables(tables: list[Table], format: str, terminal: bool = False, standalone: bool = False) -> str:
    """Return tables in a format.

    Parameters
    ----------
    tables : list of Table
        The tables.
    format : str
        One of `formats.FORMATS`.
    terminal : bool, default=False
        Whether text may be bold.
    standalone : bool, default=False
        Whether LaTeX is a complete document instead of a fragment.

    Returns
    -------
    str
        The text.
    """
    renderer = load_renderer(format)
    if format == "csv":
        return renderer.render_tables(tables)
    return join_parts([renderer.render_table(table, terminal) for table in tables], format, standalone)


def join_parts(parts: list[str], format: str, standalone: bool = False) -> str:
    """Return tables or grids in a format other than CSV; LaTeX is a document only if `standalone`."""
    renderer = load_renderer(format)
    return renderer.join_fragments(parts) if format == "latex" and not standalone else renderer.join(parts)


def render_comparison(cells: list[CellComparison], format: str, standalone: bool = False) -> str:
    """Return a comparison with published values in a format; see :func:`render_tables` for `standalone`."""
    renderer = load_renderer(format)
    if format == "csv":
        return renderer.render_comparison(cells)
    marks = {
        "z": _format_z,
        "match": lambda cell: cell.match,
        "ratio": lambda cell: "" if cell.ratio is None else f"{cell.ratio:.2g}",
        "apart": lambda cell: cell.apart,
    }
    # A comparison of errors has no ratios, one of times no z.
    marks = {name: mark for name, mark in marks.items() if not cells or any(mark(cell) for cell in cells)}
    header = ["table", "data set", "learner", "ours", "published", "difference", *marks]
    lines = [
        [
            cell.table,
            cell.dataset,
            " ".join(filter(None, [cell.learner, load_compared_metric(cell.metric).heading])),
            format_our_value(cell),
            format_published_value(cell),
            f"{cell.difference:+.{count_decimals(cell)}f}",
            *(mark(cell) for mark in marks.values()),
        ]
        for cell in cells
    ]
    return join_parts([renderer.render_grid(Grid(header=header, lines=lines, n_left=3))], format, standalone)


def render_summary(grid: Grid, format: str, standalone: bool = False) -> str:
    """Return the counts of all published numbers in a format."""
    renderer = load_renderer(format)
    if format == "csv":
        return renderer.write_csv(grid.header, grid.lines)
    return join_parts([renderer.render_grid(grid)], format, standalone)


def _format_z(cell: CellComparison) -> str:
    if math.isnan(cell.z):
        return "" if cell.comparison != "z" else "–"
    return f"{cell.z:+.1f}"
