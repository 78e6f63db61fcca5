"""zoloss table."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from zoloss_cli.cli import _options as options


def table(
    results: options.ResultsFolder = Path("results"),
    format: options.Format = "text",
    table: options.TableName = None,
) -> None:
    """Print tables of mean ± standard error as in the papers, beside the published values.

    The best cells are in bold.

    **Examples**

    `zoloss table results/`

    `zoloss table results/reference --table II --format latex > table2.tex`
    """
    from zoloss_cli.reporting.formats import render_tables
    from zoloss_cli.reporting.results import load_results
    from zoloss_cli.reporting.selection import select_tables
    from zoloss_cli.reporting.tables import make_table

    runs, store = load_results(results, table)
    tables = [make_table(run, runs) for run in select_tables(runs, table)]
    options.show_notes(store.notes)
    typer.echo(render_tables([each for each in tables if each.rows], format, bold_terminal=sys.stdout.isatty()))
