"""The command `zoloss table`."""

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
    from zoloss_cli.errors import ResultsError
    from zoloss_cli.reporting.loading import explain_empty, load_runs
    from zoloss_cli.reporting.render.render import render_tables
    from zoloss_cli.reporting.selection import select_tables
    from zoloss_cli.reporting.tables import build_table

    runs, store = load_runs(results, table)
    selected = select_tables(runs, table)
    tables = [build_table(run, runs) for run in selected if run.cells]
    options.show_notes([*store.notes, *filter(None, map(explain_empty, selected if tables else []))])
    if not tables:
        raise ResultsError("\n".join(map(explain_empty, selected)) or f"{results} holds no tables")
    typer.echo(render_tables(tables, format, terminal=sys.stdout.isatty()))
