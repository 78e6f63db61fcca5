"""Why cells are off: what was found out about them, from one file that all reports share."""

from __future__ import annotations

import functools
import textwrap

from zoloss_cli.reporting.compare import Comparison
from zoloss_cli.utils.paths import PUBLISHED_FOLDER

REMARKS = PUBLISHED_FOLDER / "remarks.yaml"
UNEXPLAINED = "Not looked into yet."


@functools.cache
def remarks() -> list[dict]:
    import yaml

    return yaml.safe_load(REMARKS.read_text(encoding="utf-8"))


def remark_on(row: Comparison) -> str:
    """What is known about why a cell differs from print; '' where nothing is."""
    for entry in remarks():
        if (
            row.paper in entry["papers"]
            and row.table in entry.get("tables", [row.table])
            and row.learner in entry["learners"]
            and row.metric == entry["metric"]
            and row.dataset in entry.get("datasets", [row.dataset])
        ):
            return entry["remark"]
    return ""


def explained(rows: list[Comparison]) -> dict[str, list[Comparison]]:
    """Cells by what is known about them, in their order; those without a remark come last."""
    groups: dict[str, list[Comparison]] = {}
    for row in rows:
        groups.setdefault(remark_on(row) or UNEXPLAINED, []).append(row)
    if UNEXPLAINED in groups:
        groups[UNEXPLAINED] = groups.pop(UNEXPLAINED)
    return groups


def remark_lines(rows: list[Comparison]) -> list[str]:
    """The remarks on these cells as lines of text, each after the cells that it is on."""
    lines = [""] if rows else []
    for remark, part in explained(rows).items():
        places: dict[str, dict[str, None]] = {}
        for row in part:
            places.setdefault(f"{row.learner}, {row.metric}", {})[row.dataset] = None
        names = "; ".join(f"{learner} on {', '.join(datasets)}" for learner, datasets in places.items())
        lines += textwrap.wrap(f"- {names}: {remark}", 110, subsequent_indent="  ")
    return lines
