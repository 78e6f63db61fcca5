"""The command `zoloss compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def compare(
    results: options.ResultsFolder = Path("results"),
    format: options.Format = "text",
    table: options.TableName = None,
    beyond: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="List only cells with |z| above this, losses that differ, and slower times; the summary "
            "counts all cells.",
        ),
    ] = None,
    fail_beyond: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Exit with code 9 if any cell has |z| above this, a loss is worse, or a deterministic error"
            " does not match.",
        ),
    ] = None,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Show only counts: how many published numbers agree, and what the agreement rests on.",
        ),
    ] = False,
    standalone: options.Standalone = False,
) -> None:
    """Compare every cell with its published value: both, their difference, and z, match or ratio.

    z is the difference divided by its standard error, which follows ±. This combines the standard errors of
    both values over splits, the rounding of the published value, and the variance between generated pools and
    between noise draws. Iterations are published without a standard error, so ours is used for both. Counts of
    training errors match (=) or are better or worse; over several noise draws, z tests whether ours are
    consistent with the published value. Times are compared by the ratio of ours to the published one. The
    column `agreement` says what agreement rests on: everything is stated in the paper, a rule is from the
    authors' program, a rule was inferred from published values, or a setting was chosen for nearness to them.

    **Examples**

    `zoloss compare results/reference`

    `zoloss compare results/reference --summary`: all published numbers in one table

    `zoloss compare results/ --beyond 2`: only the cells that differ

    `zoloss compare results/ --format csv > cells.csv`

    `zoloss compare results/ --table II --fail-beyond 3`: for continuous integration; times do not count
    """
    from zoloss_cli.report.agreement import (
        build_comparison_report,
        check_agreement,
        render_comparison,
        summarize_published,
    )
    from zoloss_cli.report.render import render_grid
    from zoloss_cli.report.runs import load_runs, select_runs

    options.validate_standalone(standalone, format)
    runs, store = load_runs(results, table)
    options.show_notes(store.notes)
    report = build_comparison_report(runs, results, table, beyond)
    options.show_notes(report.notes)
    if summary:
        counts = summarize_published(select_runs(runs, table), report.all_cells, every=table is None)
        typer.echo(render_grid(counts, format, standalone))
    else:
        if report.cells or format == "csv":
            typer.echo(render_comparison(report.cells, format, standalone))
        options.show_beside_document([*report.remarks, "", *report.summary], format)
    if fail_beyond is not None:
        options.show_notes(check_agreement(report.all_cells, fail_beyond))
