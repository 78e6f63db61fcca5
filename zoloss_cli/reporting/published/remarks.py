"""Why cells are off: what was found out about them, from one file that all reports share."""

from __future__ import annotations

import functools
import textwrap

from zoloss_cli.reporting.comparison import CellComparison
from zoloss_cli.utils.paths import PUBLISHED_FOLDER

REMARKS = PUBLISHED_FOLDER / "remarks.yaml"
UNEXPLAINED = "Not looked into yet."


@functools.cache
def read_remarks() -> list[dict]:
    """Return all remarks as in the file."""
    import yaml

    return yaml.safe_load(REMARKS.read_text(encoding="utf-8"))


def find_remark(cell: CellComparison) -> str:
    """Return what is known about why a cell differs from the published value; empty if nothing is."""
    for entry in read_remarks():
        if (
            cell.paper in entry["papers"]
            and cell.table in entry.get("tables", [cell.table])
            and cell.learner in entry.get("learners", [cell.learner])
            and cell.metric == entry.get("metric", cell.metric)
            and cell.dataset in entry.get("datasets", [cell.dataset])
        ):
            return entry["remark"]
    return ""


def group_by_remark(cells: list[CellComparison]) -> dict[str, list[CellComparison]]:
    """Return cells by what is known about them, in order; those without a remark come last."""
    groups: dict[str, list[CellComparison]] = {}
    for cell in cells:
        groups.setdefault(find_remark(cell) or UNEXPLAINED, []).append(cell)
    if UNEXPLAINED in groups:
        groups[UNEXPLAINED] = groups.pop(UNEXPLAINED)
    return groups


def format_remarks(cells: list[CellComparison]) -> list[str]:
    """Return the remarks on these cells as lines of text, each after the cells that it concerns."""
    lines = [""] if cells else []
    for remark, part in group_by_remark(cells).items():
        places: dict[str, dict[str, None]] = {}
        for cell in part:
            places.setdefault(f"{cell.learner}, {cell.metric}", {})[cell.dataset] = None
        names = "; ".join(f"{learner} on {', '.join(datasets)}" for learner, datasets in places.items())
        lines += textwrap.wrap(f"- {names}: {remark}", 110, subsequent_indent="  ")
    return lines
