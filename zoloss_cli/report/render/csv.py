"""CSV: every number separately, for other programs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from zoloss_cli.report.compare import COLUMNS, CellComparison
from zoloss_cli.report.tables import Table, TableCell
from zoloss_cli.utils.text import show_controls

FORMULA_STARTS = tuple("=+-@\t\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")
# The columns of a cell's numbers, by the statistic shown.
NUMBER_COLUMNS = {
    "": ("mean", "stderr"),
    "stderr": ("mean", "stderr"),
    "sd": ("mean", "sd"),
    "ci": ("mean", "ci_low", "ci_high"),
    "median": ("median",),
    "quartiles": ("median", "q1", "q3"),
}


def render_tables(tables: Sequence[Table]) -> str:
    """Return all cells of tables, one row each; all tables show the same statistic."""
    stat, lines = tables[0].stat if tables else "", []
    for table in tables:
        for row in table.rows:
            beside = row.published or [TableCell(None)] * len(table.columns)
            for column, ours, published in zip(table.columns, row.ours, beside, strict=True):
                lines.append(
                    [
                        *(table.number, row.dataset, column.learner, column.metric),
                        *map(format_value, list_numbers(ours, stat)),
                        *(int(ours.best), int(ours.star), ours.choice),
                        *(format_value(published.mean), format_value(published.stderr)),
                        int(published.star),
                        ours.apart,
                    ]
                )
    header = [
        *("table", "dataset", "learner", "metric", *NUMBER_COLUMNS[stat], "best", "star", "choice"),
        *("published", "published_stderr", "published_star", "apart"),
    ]
    return write_csv(header, lines)


def list_numbers(cell: TableCell, stat: str) -> list[float | None]:
    """Return the numbers of a cell in the order of their columns."""
    if stat in ("ci", "quartiles"):
        return [cell.mean, *(cell.interval or (None, None))]
    if stat == "median":
        return [cell.mean]
    return [cell.mean, cell.deviation if stat == "sd" else cell.stderr]


def render_comparison(cells: Iterable[CellComparison]) -> str:
    """Return all compared cells, one row each."""
    return write_csv(COLUMNS, [[format_value(getattr(cell, name)) for name in COLUMNS] for cell in cells])


def format_value(value: Any) -> str:
    """Return a value with six digits; empty if it is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_csv(header: Sequence[str], lines: Iterable[Sequence]) -> str:
    """Return lines as CSV under a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([guard_cell(cell) for cell in line] for line in [header, *lines])
    return out.getvalue().rstrip("\n")


def guard_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet treats as a formula and no terminal as a command.

    Text that starts like a formula gets a leading apostrophe; a number and a lone sign are unchanged.

    References
    ----------
    OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
    """
    if not isinstance(cell, str):
        return cell
    is_formula = cell.startswith(FORMULA_STARTS) and len(cell) > 1 and not _NUMBER.fullmatch(cell)
    return ("'" if is_formula else "") + show_controls(cell)
