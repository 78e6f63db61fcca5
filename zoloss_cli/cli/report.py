"""The command `zoloss report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def report(
    results: options.ResultsFolder = Path("results"),
    out: Annotated[Path, typer.Option("--out", "-o", help="Output file.")] = Path("report.html"),
    against: Annotated[
        Path | None,
        typer.Option(
            help="Another results folder: a panel lists the cells that differ, as `zoloss diff` does."
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write a self-contained HTML page: tables beside published values, figures, cells that differ.

    It records how everything was computed, and needs neither network nor server: open it in a browser, send
    it, or print it. Tables can be saved as CSV and LaTeX, figures as SVG, and each table has the values of all
    splits.

    **Examples**

    `zoloss report results/reference -o report.html`

    `zoloss report results/ -o mine.html --force`: overwrite an older page

    `zoloss report results/ --against results/reference`: also what differs from the reference
    """
    from zoloss_cli.errors import ResultsError
    from zoloss_cli.figures.style import list_drawing_faults
    from zoloss_cli.report.html.page import build_page
    from zoloss_cli.report.runs import load_runs
    from zoloss_cli.utils import files as atomic_io

    atomic_io.check_target(out, force, [])
    runs, store = load_runs(results)
    notes = [*store.notes, *list_drawing_faults()]
    options.show_notes(notes)
    runs = [run for run in runs if run.cells]
    if not runs:
        raise ResultsError(f"{results} holds no finished task of any run")
    others = None
    if against is not None:
        other_runs, other_store = load_runs(against)
        options.show_notes(other_store.notes)
        others = (other_runs, against)
    page = build_page(runs, results, notes, others)
    atomic_io.write(out, page, force, [])
    options.show(f"{out}: {len(runs)} run{'s' * (len(runs) > 1)}, {len(page.encode()) / 1e6:.2f} MB")
