"""All cells beside the published values: which to list, remarks on those that are off, and a summary."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.compare import Comparison, compare_run, distinct, missing_pools, star_differences
from zoloss_cli.reporting.published.cells import printed_name
from zoloss_cli.reporting.published.remarks import remark_lines
from zoloss_cli.reporting.results import RunResult, baseline_of, choose
from zoloss_cli.reporting.summary import summary_lines

REMARKABLE_Z = 2.0


@dataclass(frozen=True)
class ComparisonReport:
    """What `zoloss compare` shows.

    Attributes
    ----------
    cells : list of Comparison
        The cells to list.
    remarks : list of str
        What is known about listed cells that are off.
    summary : list of str
        Counts for each table, over all its cells, and for all tables.
    """

    cells: list[Comparison]
    remarks: list[str]
    summary: list[str]


def build_comparison_report(
    runs: list[RunResult], folder: Path, table: str | None, beyond: float | None = None
) -> ComparisonReport:
    """Compare the cells of runs that mirror published tables with the published values.

    Parameters
    ----------
    runs : list of RunResult
        All runs of a results folder.
    folder : Path
        That folder, for messages.
    table : str or None
        The table's number or the run's name; None for all.
    beyond : float or None
        List only cells with |z| above this, worse losses and slower times; None lists all.

    Returns
    -------
    ComparisonReport
        The cells, remarks and summary.
    """
    selected = choose(runs, table)
    by_run = [(run, cells) for run in selected if (cells := compare_run(run))]
    every = [cell for _, cells in by_run for cell in cells]
    if not every:
        raise ResultsError(f"nothing in {folder} mirrors a published table")
    listed = every if beyond is None else [cell for cell in every if cell.beyond(beyond)]
    remarks = remark_lines([cell for cell in listed if cell.beyond(REMARKABLE_Z)])
    summary = [line for run, cells in by_run for line in _summarize_run(run, cells, runs)]
    if len(by_run) > 1:
        summary += [f"all distinct: {line}" for line in summary_lines(distinct(every))]
    if missing := missing_pools(selected):
        summary.append(f"pool variance not measured for {', '.join(missing)}: their z is too large")
    return ComparisonReport(listed, remarks, summary)


def _summarize_run(run: RunResult, cells: list[Comparison], runs: list[RunResult]) -> list[str]:
    lines = [f"{printed_name(run.published)}: {line}" for line in summary_lines(cells)]
    if baseline_of(run, runs):
        same, differ = star_differences(run, runs)
        others = f"{len(differ)} differ: {', '.join(differ)}" if differ else "none differs"
        lines.append(f"table {run.table}, stars: {same} cells as published; {others}")
    return lines
