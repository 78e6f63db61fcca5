"""The differences between two results folders as text, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.diff import CellDifference, ResultsDifference
from zoloss_cli.reporting.render.csv import format_value, write_csv
from zoloss_cli.reporting.render.grid import Grid
from zoloss_cli.reporting.render.render import join_parts, load_renderer

COLUMNS = (
    *("run", "table", "dataset", "learner", "metric", "first", "second", "difference"),
    *("splits", "n_differ", "t", "p", "is_same_task"),
)
MAX_LISTED = 8
OTHER_TASK = "†"


def render_difference(found: ResultsDifference, format: str, standalone: bool = False) -> str:
    """Return the differing cells in a format; nothing, or only a header, if there are none."""
    renderer = load_renderer(format)
    if format == "csv":
        lines = [[_format_csv(getattr(cell, name)) for name in COLUMNS] for cell in found.cells]
        return write_csv(COLUMNS, lines)
    if not found.cells:
        return ""
    header = ["table", "data set", "learner", "metric", "first", "second", "difference", "differ", "p"]
    notes = [
        "means over the splits that both folders have; differ: on how many of these the records do",
        "p: corrected t-test of Nadeau & Bengio (2003), not corrected for several tests",
    ]
    if any(not cell.is_same_task for cell in found.cells):
        notes.append(f"{OTHER_TASK}: data, seed, parameters or version are not the same in both")
    grid = Grid(header=header, lines=[_format_line(cell) for cell in found.cells], n_left=4, notes=notes)
    return join_parts([renderer.render_grid(grid)], format, standalone)


def summarize_difference(found: ResultsDifference, first: Path, second: Path) -> list[str]:
    """Return how many cells differ, and what only one folder has, one sentence each."""
    cells = f"{found.n_cells:,} cell{'s' * (found.n_cells != 1)}"
    splits = f"{found.n_splits:,} split{'s' * (found.n_splits != 1)}"
    if found.is_empty:
        return [f"no difference: {first} and {second} have the same numbers in {cells} and {splits}"]
    lines = []
    if found.n_changed:
        lines.append(f"{found.n_changed:,} of {found.n_cells:,} cells differ; {splits} compared")
    elif found.n_cells:
        lines.append(f"the numbers of {cells} are the same on the {splits} that both folders have")
    for folder, names in ((first, found.only_first), (second, found.only_second)):
        if names:
            more = f", and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
            lines.append(f"only in {folder}: {', '.join(names[:MAX_LISTED])}{more}")
    return lines


def _format_line(cell: CellDifference) -> list[str]:
    metric = load_metric(cell.metric)
    decimals = metric.count_decimals(cell.second, cell.splits)
    return [
        cell.table,
        cell.dataset,
        cell.learner + (f" {OTHER_TASK}" if not cell.is_same_task else ""),
        cell.metric,
        f"{cell.first:.{decimals}f}",
        f"{cell.second:.{decimals}f}",
        f"{cell.difference:+.{decimals}f}",
        f"{cell.n_differ:,} of {cell.splits:,}",
        "" if cell.p is None else f"{cell.p:.2g}" if cell.p >= 0.001 else "<0.001",
    ]


def _format_csv(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else format_value(value)
