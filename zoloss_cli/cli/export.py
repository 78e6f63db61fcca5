"""The command `zoloss export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import EXPORT_FORMATS
from zoloss_cli.cli import _options as options


def export(
    results: options.ResultsFolder = Path("results"),
    format: Annotated[
        str | None,
        options.choice_option(
            "--format",
            "-f",
            choices=EXPORT_FORMATS,
            help="Output format: csv or parquet (default: by the extension of --out, else csv).",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file (default: CSV to standard output).")
    ] = None,
    table: options.TableName = None,
    force: options.Force = False,
) -> None:
    """Export all records of a results folder as one table, CSV or Parquet, with one row per record.

    The columns are those of the DataFrame that `zoloss_cli.load_results` returns: data set, learner,
    parameters, split, seed, counts, rates in %, times and versions. A record that several runs share appears
    once; with --table, all records of that table appear, under its own names. A failed task has a row with
    the reason and no numbers.

    **Examples**

    `zoloss export results/ --out records.parquet`

    `zoloss export results/reference --table II > table2.csv`
    """
    from zoloss_cli.report.frame import build_frame, choose_export_format, render_frame
    from zoloss_cli.utils import files as atomic_io

    chosen = choose_export_format(format, out)
    if out is not None:
        atomic_io.check_target(out, force, [])
    frame, notes = build_frame(results, table)
    options.show_notes(notes)
    content = render_frame(frame, chosen)
    if out is None:
        typer.echo(content, nl=False)
        return
    atomic_io.write(out, content, force, [])
    options.show(f"{out}: {len(frame):,} records, {frame.shape[1]} columns, {len(content) / 1e6:.1f} MB")
