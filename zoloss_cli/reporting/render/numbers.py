"""Numbers and captions in the form shared by all formats."""

from __future__ import annotations

import math
from collections.abc import Callable

from zoloss_cli.reporting.comparison import CellComparison
from zoloss_cli.reporting.derived_metrics import load_compared_metric
from zoloss_cli.reporting.tables import Table, TableCell


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
