"""What to write in which format."""

from __future__ import annotations

import importlib
import math
from types import ModuleType

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.reporting.comparison import CellComparison
from zoloss_cli.reporting.derived_metrics import load_compared_metric
from zoloss_cli.reporting.render.formats import FORMATS
from zoloss_cli.reporting.render.grid import Grid
from zoloss_cli.reporting.render.numbers import count_decimals, format_our_value, format_published_value
from zoloss_cli.reporting.tables import Table


def validate_format(name: str) -> str:
    """Return the name of a format; ConfigError if it is unknown."""
    if name not in FORMATS:
        raise ConfigError(f"--format '{name}' is unknown{suggest_nearest(name, FORMATS)}")
    return name


def load_renderer(format: str) -> ModuleType:
    """Return the module that writes a format."""
    return importlib.import_module(f"zoloss_cli.reporting.render.{validate_format(format)}")


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
