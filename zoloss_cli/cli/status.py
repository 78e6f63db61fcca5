"""The command `zoloss status`."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.cli import _options as options


def status(results: options.ResultsFolder = Path("results")) -> None:
    """Show what a results folder contains: runs, how complete they are, and which tasks failed.

    **Example:** `zoloss status results/reference`
    """
    from zoloss_cli.report.status import load_progress, render_status

    runs, store = load_progress(results)
    options.show(render_status(runs, store))
    options.show_notes(store.notes)
