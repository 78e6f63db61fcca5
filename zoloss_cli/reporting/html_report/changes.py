"""What differs from another results folder: a panel of the page, with the results of `zoloss diff`."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.reporting.diff import ResultsDifference, compare_results
from zoloss_cli.reporting.diff_report import render_difference, summarize_difference
from zoloss_cli.reporting.html_report.downloads import render_download
from zoloss_cli.reporting.render.html import render_notes
from zoloss_cli.reporting.run_result import RunResult


def render_changes(runs: list[RunResult], source: Path, others: list[RunResult], other_source: Path) -> str:
    """Return what differs between the page's runs and those of another folder.

    Parameters
    ----------
    runs : list of RunResult
        The runs of the page.
    source : Path
        Their folder.
    others : list of RunResult
        The runs of the other folder.
    other_source : Path
        The other folder, whose numbers are the first column.

    Returns
    -------
    str
        The HTML of the panel.
    """
    found = compare_results(others, runs)
    parts = [render_notes(summarize_difference(found, other_source, source))]
    if found.cells:
        parts.append(
            f'<p class="tools">{render_download("CSV", "changes.csv", render_difference(found, "csv"))}</p>'
        )
        parts.append(f'<div class="wide" tabindex="0">{_render_cells(found)}</div>')
        parts.append(render_notes([f"First: {other_source}; second: {source}."], "note"))
    return "".join(parts)


def _render_cells(found: ResultsDifference) -> str:
    return render_difference(found, "html").replace("<table>", '<table class="plain">', 1)
