"""Build the tables of the page: our numbers, the published ones, and the values of all splits."""

from __future__ import annotations

import gzip
import json
import math
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from zoloss_cli.figures.comparisons import MIN_VALUES, name_metric
from zoloss_cli.report.agreement import format_difference
from zoloss_cli.report.compare import CellComparison
from zoloss_cli.report.papers import AGREEMENT
from zoloss_cli.report.render import format_cell
from zoloss_cli.report.runs import RunResult, build_column_titles
from zoloss_cli.report.tables import Table, TableCell, TableColumn

Z_WARN, Z_ALERT = 2.0, 3.0
MAX_COLUMN_LETTERS, MARGIN_LETTERS = 150, 2  # per half of a printed page, and between columns
MATCHES = {"=": "equal to the published value"}


def is_different(cell: CellComparison) -> bool:
    """Return whether a cell differs significantly from the published value, in either direction."""
    if cell.comparison == "ratio":
        return False
    return abs(cell.z) > Z_WARN or (math.isnan(cell.z) and cell.is_beyond(Z_WARN))


@dataclass(frozen=True)
class PageCell:
    """A table cell as the template shows it; all of it is text."""

    is_empty: bool = False
    css_class: str = ""
    value: str = ""  # for sorting
    tip: str = ""
    ours: str = ""
    z: str = ""  # only for cells that differ
    published: str | None = None


def build_rows(table: Table, run: RunResult, compared: list[CellComparison]) -> dict[str, list[PageCell]]:
    """Return the cells of a table by data set, each with its comparison with the published value."""
    by_place = {(cell.dataset, cell.learner, cell.metric): cell for cell in compared}
    rows = {}
    for row in table.rows:
        beside = row.published or [TableCell(None)] * len(table.columns)
        rows[row.dataset] = [
            _build_cell(run, (row.dataset, column), (ours, published), by_place)
            for ours, published, column in zip(row.ours, beside, table.columns, strict=True)
        ]
    return rows


def _build_cell(
    run: RunResult,
    place: tuple[str, TableColumn],
    values: tuple[TableCell, TableCell],
    compared: dict[tuple[str, str, str], CellComparison],
) -> PageCell:
    (dataset, column), (ours, published) = place, values
    if ours.mean is None and published.mean is None:
        return PageCell(is_empty=True)
    classes, z = ["best"] if ours.best else [], ""
    tip = _describe_numbers(run, place, values)
    if (comparison := compared.get((dataset, column.learner, column.metric))) is not None:
        tip += _describe_comparison(comparison)
        if is_different(comparison):
            classes.append("warn alert" if abs(comparison.z) > Z_ALERT else "warn")
            z = "" if math.isnan(comparison.z) else f"{comparison.z:+.1f}"
    return PageCell(
        css_class=" ".join(classes),
        value="" if ours.mean is None else f"{ours.mean:.6g}",
        tip="\n".join(tip),
        ours=format_cell(ours),
        z=z,
        published=None if published.mean is None else format_cell(published),
    )


def _describe_numbers(
    run: RunResult, place: tuple[str, TableColumn], values: tuple[TableCell, TableCell]
) -> list[str]:
    (dataset, column), (ours, published) = place, values
    stat = run.get_stat(dataset, column.learner) if ours.mean is not None else None
    splits = "" if stat is None else f" ({stat.splits} split{'s' * (stat.splits > 1)})"
    lines = [f"{column.title} on {dataset}", f"ours {format_cell(ours)}{splits}"]
    if ours.choice:
        lines.append(ours.choice)
    if published.mean is not None:
        lines.append(f"published {format_cell(published)}")
    return lines


def _describe_comparison(cell: CellComparison) -> list[str]:
    lines = []
    if not math.isnan(cell.z):
        lines.append(f"difference {format_difference(cell)}, z {cell.z:+.1f}")
    elif cell.comparison == "ratio" and cell.ratio is not None:
        lines.append(f"{cell.ratio:.2g} times the published value")
    choices = f" ({cell.choices})" if cell.choices else ""
    lines.append(f"agreement: {cell.apart or AGREEMENT[cell.agreement]}{choices}")
    if cell.comparison == "match" and cell.match:
        lines.append(MATCHES.get(cell.match, f"{cell.match} than the published value"))
    return lines


def is_broad(table: Table) -> bool:
    """Return whether a table needs the full width of a printed page, with published values next to ours."""
    width = max(len(row.dataset) for row in table.rows)
    for i, column in enumerate(table.columns):
        cells = [len(format_cell(row.ours[i])) for row in table.rows]
        beside = [len(format_cell(row.published[i])) for row in table.rows if row.published]
        width += MARGIN_LETTERS + max(len(column.title), max(cells) + max(beside, default=0))
    return width > MAX_COLUMN_LETTERS


FIRST_CODE, LAST_CODE = 35, 91  # characters that JSON does not escape, '#' to '['


def pack_split_values(run: RunResult) -> str:
    """Return the metric of all splits as gzipped JSON in base64; empty if no cell has several splits."""
    titles = build_column_titles(run.learners)
    cells: dict[str, dict[str, Any]] = {}
    for dataset in run.datasets:
        several = [x for x in run.learners if len(run.get_values(dataset, x)) >= MIN_VALUES]
        if several:
            cells[dataset] = {titles[x]: _pack(run, dataset, x) for x in several}
    if not cells:
        return ""
    content = json.dumps({"metric": name_metric(run.metric), "cells": cells}, separators=(",", ":"))
    return b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()


def _pack(run: RunResult, dataset: str, learner: str) -> dict[str, Any]:
    """Return the values of a cell; if few are distinct, as these and one character per split."""
    found = run.get_values(dataset, learner)
    rounded = {value: float(f"{value:.6g}") for value in set(found)}
    values = [rounded[value] for value in found]
    splits = run.cells[dataset, learner].splits
    packed: dict[str, Any] = {} if splits == list(range(len(splits))) else {"splits": splits}
    distinct = sorted(set(values))
    if len(distinct) > LAST_CODE - FIRST_CODE:
        return packed | {"values": values}
    codes = {value: chr(FIRST_CODE + place) for place, value in enumerate(distinct)}
    return packed | {"distinct": distinct, "codes": "".join(codes[value] for value in values)}
