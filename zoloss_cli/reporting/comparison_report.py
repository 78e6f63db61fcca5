"""All cells next to the published values: which to list, remarks on those that are off, and a summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from zoloss_cli.errors import CheckError, ResultsError
from zoloss_cli.reporting.compare import compare_run, compare_stars, find_single_pools
from zoloss_cli.reporting.comparison import CellComparison, drop_repeated
from zoloss_cli.reporting.derived_metrics import load_compared_metric
from zoloss_cli.reporting.loading import select_runs
from zoloss_cli.reporting.notes import describe_incomplete
from zoloss_cli.reporting.published.fitted_choices import NO_TEST
from zoloss_cli.reporting.published.remarks import format_remarks
from zoloss_cli.reporting.published.values import name_place_in_text
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.stars import find_baseline
from zoloss_cli.reporting.summary import summarize_agreement

REMARKABLE_Z = 2.0
MAX_NAMED_CELLS = 5


@dataclass(frozen=True)
class ComparisonReport:
    """The contents of `zoloss compare`.

    Attributes
    ----------
    cells : list of CellComparison
        The cells to list.
    remarks : list of str
        What is known about listed cells that are off.
    summary : list of str
        Counts for each table, over all its cells, and for all tables.
    notes : list of str
        Which runs are incomplete.
    all_cells : list of CellComparison
        All cells, listed or not.
    """

    cells: list[CellComparison]
    remarks: list[str]
    summary: list[str]
    notes: list[str]
    all_cells: list[CellComparison]


def build_comparison_report(
    runs: list[RunResult], folder: Path, table: str | None, beyond: float | None = None
) -> ComparisonReport:
    """Compare the cells of runs that mirror published tables with the published values.

    Parameters
    ----------
    runs : list of RunResult
        All runs of a results folder.
    folder : Path
        The folder, for messages.
    table : str or None
        The table's number or the run's name; None for all.
    beyond : float or None
        List only cells with |z| above this, losses that differ and slower times; None lists all.

    Returns
    -------
    ComparisonReport
        The cells, remarks and summary.
    """
    selected = select_runs(runs, table)
    by_run = [(run, cells) for run in selected if (cells := compare_run(run))]
    every = [cell for _, cells in by_run for cell in cells]
    if not every:
        raise ResultsError(f"nothing in {folder} mirrors a published table")
    listed = every if beyond is None else [cell for cell in every if cell.is_beyond(beyond)]
    remarks = format_remarks([cell for cell in listed if cell.is_beyond(REMARKABLE_Z)])
    summary = [line for run, cells in by_run for line in _summarize_run(run, cells, runs)]
    if len(by_run) > 1:
        summary += [f"all distinct: {line}" for line in summarize_agreement(drop_repeated(every))]
    if single := find_single_pools(selected):
        summary.append(f"one pool only of {', '.join(single)}: z leaves its luck out and is too large")
    return ComparisonReport(listed, remarks, summary, describe_incomplete([run for run, _ in by_run]), every)


def check_agreement(cells: list[CellComparison], limit: float) -> list[str]:
    """Raise CheckError if a cell is beyond a limit; times, which depend on the machine, do not count.

    Parameters
    ----------
    cells : list of CellComparison
        The cells.
    limit : float
        The largest |z| allowed. A loss must not be worse than the published one, or if it varies, not beyond
        the limit, and an error without randomness must match.

    Returns
    -------
    list of str
        Which cells could not be checked, since their standard error is unknown or too large.
    """
    checked = [cell for cell in drop_repeated(cells) if cell.comparison != "ratio"]
    if beyond := [cell for cell in checked if cell.fails(limit)]:
        named = ", ".join(map(_name_cell, beyond[:MAX_NAMED_CELLS]))
        more = f" and {len(beyond) - MAX_NAMED_CELLS:,} more" if len(beyond) > MAX_NAMED_CELLS else ""
        subject = f"{len(beyond):,} of {len(checked):,} cells"
        raise CheckError(f"{subject} are beyond |z| = {limit:g} or do not match: {named}{more}")
    unchecked = [cell for cell in checked if cell.comparison == "z" and math.isnan(cell.z)]
    sizes = {cell: "too large a" if cell.apart == NO_TEST else "no" for cell in unchecked}
    return [
        f"{_name_cell(cell)} has {size} standard error, so it was not checked" for cell, size in sizes.items()
    ]


def _name_cell(cell: CellComparison) -> str:
    how = cell.match if math.isnan(cell.z) else f"z {cell.z:+.1f}"
    shown = f" {cell.metric}" if load_compared_metric(cell.metric).heading else ""
    return f"{cell.learner} on {cell.dataset}{shown} ({cell.paper}/{cell.table}{', ' * bool(how)}{how})"


def _summarize_run(run: RunResult, cells: list[CellComparison], runs: list[RunResult]) -> list[str]:
    by_table: dict[str, list[CellComparison]] = {}
    for cell in cells:
        by_table.setdefault(cell.table, []).append(cell)
    lines = [
        f"{name_place_in_text(table)}: {line}"
        for table, part in by_table.items()
        for line in summarize_agreement(part)
    ]
    if find_baseline(run, runs):
        same, differ = compare_stars(run, runs)
        others = f"{len(differ)} differ: {', '.join(differ)}" if differ else "none differs"
        lines.append(f"table {run.table}, stars: {same} cells as published; {others}")
    return lines
