"""What a results folder holds: each run, how complete it is, and what failed."""

from __future__ import annotations

from tabulate import tabulate

from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.store import Store

HEADER = ["run", "mirrors", "cells", "tasks", "state", "failed", "last run"]


def render_status(runs: list[RunResult], store: Store) -> str:
    """Return a table with a line for each run, and how many files belong to none of them.

    Parameters
    ----------
    runs : list of RunResult
        All runs of the store.
    store : Store
        The results folder.

    Returns
    -------
    str
        Text for a terminal.
    """
    text = tabulate([_describe_run(run) for run in runs], HEADER, tablefmt="simple", disable_numparse=True)
    used = {cell.file for run in runs for cell in run.manifest.cells}
    unused = {path.name for path in (store.folder / "cells").glob("*.jsonl")} - used
    if not unused:
        return text
    return f"{text}\n\n{len(unused)} cell files belong to no run here (earlier versions or settings)"


def _describe_run(run: RunResult) -> list:
    state = "complete" if run.n_done >= run.n_tasks else f"{100 * run.n_done / run.n_tasks:.0f} %"
    if run.n_done >= run.n_tasks and len(run.cells) < run.n_cells:
        state = f"lacks {run.metric}"
    return [
        run.name,
        f"{run.paper} {run.table or run.figure}" if run.paper else "",
        f"{len(run.cells)}/{run.n_cells}",
        f"{run.n_done:,}/{run.n_tasks:,}",
        state,
        run.n_failed,
        run.manifest.runs[-1].finished[:16] if run.manifest.runs else "by other runs",
    ]
