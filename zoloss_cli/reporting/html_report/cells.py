"""A results table as HTML: ours, print below it, and what the page's script sorts, filters and shows by."""

from __future__ import annotations

import math
from html import escape

from zoloss_cli.reporting.compare import Comparison
from zoloss_cli.reporting.formats import number_text
from zoloss_cli.reporting.metrics import BY_MATCH, BY_RATIO
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import CellText, Column, TableView

FAR, FARTHER = 2.0, 3.0


def is_off(row: Comparison) -> bool:
    """Whether a cell differs from print by more than chance explains, to either side."""
    return row.compared != BY_RATIO and (abs(row.z) > FAR or (math.isnan(row.z) and row.beyond(FAR)))


def table_html(view: TableView, run: RunResult, compared: list[Comparison]) -> str:
    by_place = {(row.dataset, row.learner, row.metric): row for row in compared}
    head = "".join(_heading(column, i) for i, column in enumerate(view.columns, 1))
    body = []
    for row in view.rows:
        beside = row.printed or [CellText(None)] * len(view.columns)
        cells = [
            _cell(
                ours,
                printed,
                by_place.get((row.dataset, column.learner, column.metric)),
                run,
                row.dataset,
                column,
            )
            for ours, printed, column in zip(row.ours, beside, view.columns, strict=True)
        ]
        name = escape(row.dataset)
        body.append(f'<tr data-name="{name}"><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return (
        '<div class="wide"><table class="numbers"><thead><tr>'
        f'<th scope="col" aria-sort="none" data-column="0"><button type="button">data set</button></th>{head}'
        f"</tr></thead><tbody>\n{chr(10).join(body)}\n</tbody></table></div>"
    )


def _heading(column: Column, i: int) -> str:
    name, title = escape(f"{column.learner} {column.title}"), escape(column.title)
    return (
        f'<th scope="col" aria-sort="none" data-column="{i}" data-name="{name}">'
        f'<button type="button">{title}</button></th>'
    )


def _cell(
    ours: CellText,
    printed: CellText,
    row: Comparison | None,
    run: RunResult,
    dataset: str,
    column: Column,
) -> str:
    if ours.mean is None and printed.mean is None:
        return "<td></td>"
    marks = " ".join(filter(None, ["best" if ours.best else "", _distance(row)]))
    attributes = f' class="{marks}"' if marks else ""
    if ours.mean is not None:
        attributes += f' data-value="{ours.mean:.6g}"'
    attributes += f' tabindex="0" data-tip="{escape(_tip(ours, printed, row, run, dataset, column))}"'
    text = f'<span class="ours">{escape(number_text(ours, "±"))}</span>'
    if row is not None and is_off(row) and not math.isnan(row.z):
        text += f'<sup class="z">{row.z:+.1f}</sup>'
    if printed.mean is not None:
        text += f'<span class="print">{escape(number_text(printed, "±"))}</span>'
    return f"<td{attributes}>{text}</td>"


def _distance(row: Comparison | None) -> str:
    if row is None or not is_off(row):
        return ""
    return "off far" if abs(row.z) > FARTHER else "off"


def _tip(
    ours: CellText, printed: CellText, row: Comparison | None, run: RunResult, dataset: str, column: Column
):
    """What is shown of a cell when one points at it: one fact a line."""
    lines = [f"{column.title} on {dataset}", f"ours {number_text(ours, '±')}"]
    stat = run.stat(dataset, column.learner) if ours.mean is not None else None
    if stat is not None:
        lines[-1] += f" ({stat.splits} {'run' if stat.splits == 1 else 'runs'})"
    if ours.choice:
        lines.append(ours.choice)
    if printed.mean is not None:
        lines.append(f"print {number_text(printed, '±')}")
    if row is not None:
        if not math.isnan(row.z):
            lines.append(f"difference {row.difference:+.2f}, z {row.z:+.1f}")
        elif row.compared == BY_RATIO and row.ratio is not None:
            lines.append(f"{row.ratio:.2g} times print")
        if row.compared == BY_MATCH and row.match:
            lines.append({"=": "equal to print"}.get(row.match, f"{row.match} than print"))
    return "\n".join(lines)
