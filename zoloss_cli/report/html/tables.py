"""A results table as HTML: ours, the published value below, and what the page's script sorts and filters by."""

from __future__ import annotations

import gzip
import json
import math
from base64 import b64encode
from typing import Any

from zoloss_cli.figures.comparisons import MIN_VALUES, name_metric
from zoloss_cli.report.cells import build_column_titles
from zoloss_cli.report.compare import CellComparison
from zoloss_cli.report.render.html import escape, render_table_element
from zoloss_cli.report.render.render import format_cell
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.tables import Table, TableCell, TableColumn

Z_WARN, Z_ALERT = 2.0, 3.0
MAX_COLUMN_LETTERS, MARGIN_LETTERS = 150, 2  # of half a page on paper, and between columns
MATCHES = {"=": "equal to the published value"}


def is_different(cell: CellComparison) -> bool:
    """Return whether a cell differs significantly from the published value, in either direction."""
    if cell.comparison == "ratio":
        return False
    return abs(cell.z) > Z_WARN or (math.isnan(cell.z) and cell.is_beyond(Z_WARN))


def table_html(table: Table, run: RunResult, compared: list[CellComparison]) -> str:
    """Return a table that the page's script sorts and filters.

    Parameters
    ----------
    table : Table
        The table.
    run : RunResult
        The run that it shows.
    compared : list of CellComparison
        Its cells against the published ones.

    Returns
    -------
    str
        The table element, in a box that scrolls.
    """
    by_place = {(cell.dataset, cell.learner, cell.metric): cell for cell in compared}
    header = [_render_heading("data set", 0)]
    header += [_render_heading(c.title, i, f"{c.learner} {c.title}") for i, c in enumerate(table.columns, 1)]
    rows = []
    for row in table.rows:
        beside = row.published or [TableCell(None)] * len(table.columns)
        cells = [
            PageCell(
                row.dataset, column, ours, published, by_place.get((row.dataset, column.learner, column.metric))
            )
            for ours, published, column in zip(row.ours, beside, table.columns, strict=True)
        ]
        name = escape(row.dataset)
        body = "".join(cell.render(run) for cell in cells)
        rows.append(f'<tr data-name="{name}"><th scope="row">{name}</th>{body}</tr>')
    broad = " broad" if _count_letters(table) > MAX_COLUMN_LETTERS else ""
    body = render_table_element(header, rows, "numbers")
    return f'<div class="wide{broad}" tabindex="0" role="region" aria-label="Table">{body}</div>'


def _count_letters(table: Table) -> int:
    """Return the width of a table in letters if the published value is next to ours, as on paper."""
    width = max(len(row.dataset) for row in table.rows)
    for i, column in enumerate(table.columns):
        cells = [len(format_cell(row.ours[i])) for row in table.rows]
        beside = [len(format_cell(row.published[i])) for row in table.rows if row.published]
        width += MARGIN_LETTERS + max(len(column.title), max(cells) + max(beside, default=0))
    return width


def _render_heading(title: str, index: int, name: str = "") -> str:
    named = f' data-name="{escape(name)}"' if name else ""
    return (
        f'<th scope="col" aria-sort="none" data-column="{index}"{named}>'
        f'<button type="button">{escape(title)}</button></th>'
    )


class PageCell:
    """A cell of a table on the page: our number, the published one, and how they compare."""

    def __init__(
        self,
        dataset: str,
        column: TableColumn,
        ours: TableCell,
        published: TableCell,
        comparison: CellComparison | None,
    ):
        self.dataset, self.column = dataset, column
        self.ours, self.published, self.comparison = ours, published, comparison

    def render(self, run: RunResult) -> str:
        """Return the td element."""
        if self.ours.mean is None and self.published.mean is None:
            return "<td></td>"
        classes = " ".join(filter(None, ["best" if self.ours.best else "", self._find_class()]))
        attributes = f' class="{classes}"' if classes else ""
        if self.ours.mean is not None:
            attributes += f' data-value="{self.ours.mean:.6g}"'
        tip = "\n".join([*self._describe_numbers(run), *self._describe_comparison()])
        attributes += f' tabindex="0" data-tip="{escape(tip)}"'
        text = f'<span class="ours">{escape(format_cell(self.ours))}</span>'
        if self._find_class() and self.comparison is not None and not math.isnan(self.comparison.z):
            text += f'<sup class="z">{self.comparison.z:+.1f}</sup>'
        if self.published.mean is not None:
            text += f'<span class="published">{escape(format_cell(self.published))}</span>'
        return f"<td{attributes}>{text}</td>"

    def _find_class(self) -> str:
        if self.comparison is None or not is_different(self.comparison):
            return ""
        return "warn alert" if abs(self.comparison.z) > Z_ALERT else "warn"

    def _describe_numbers(self, run: RunResult) -> list[str]:
        ours = f"ours {format_cell(self.ours)}"
        stat = run.get_stat(self.dataset, self.column.learner) if self.ours.mean is not None else None
        if stat is not None:
            ours += f" ({stat.splits} split{'s' * (stat.splits > 1)})"
        lines = [f"{self.column.title} on {self.dataset}", ours]
        if self.ours.choice:
            lines.append(self.ours.choice)
        if self.published.mean is not None:
            lines.append(f"published {format_cell(self.published)}")
        return lines

    def _describe_comparison(self) -> list[str]:
        cell, lines = self.comparison, []
        if cell is None:
            return []
        if not math.isnan(cell.z):
            lines.append(f"difference {cell.difference:+.2f}, z {cell.z:+.1f}")
        elif cell.comparison == "ratio" and cell.ratio is not None:
            lines.append(f"{cell.ratio:.2g} times the published value")
        if cell.apart:
            lines.append(f"counted apart: {cell.apart}" + (f" ({cell.choices})" if cell.choices else ""))
        if cell.comparison == "match" and cell.match:
            lines.append(MATCHES.get(cell.match, f"{cell.match} than the published value"))
        return lines


FIRST_CODE, LAST_CODE = 35, 91  # characters that JSON does not escape, '#' to '['


def render_split_values(run: RunResult) -> str:
    """Return an element with the values of the metric in a run's table, by data set and learner.

    Parameters
    ----------
    run : RunResult
        The run.

    Returns
    -------
    str
        A template element with gzipped JSON in base64; empty if no cell has several splits.
    """
    titles = build_column_titles(run.learners)
    cells: dict[str, dict[str, Any]] = {}
    for dataset in run.datasets:
        packed = {
            titles[x]: _pack(run, dataset, x) for x in run.learners if _count(run, dataset, x) >= MIN_VALUES
        }
        if packed:
            cells[dataset] = packed
    if not cells:
        return ""
    content = json.dumps({"metric": name_metric(run.metric), "cells": cells}, separators=(",", ":"))
    packed_content = b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()
    return f'<template class="splits">{packed_content}</template>'


def _count(run: RunResult, dataset: str, learner: str) -> int:
    return len(run.get_values(dataset, learner))


def _pack(run: RunResult, dataset: str, learner: str) -> dict[str, Any]:
    """Return the values of a cell: if few are distinct, each of them once, and one character per split."""
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
