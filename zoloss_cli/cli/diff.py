"""The command `zoloss diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def diff(
    first: Annotated[Path, typer.Argument(help="Results folder.")],
    second: Annotated[Path, typer.Argument(help="The results folder to compare it with.")],
    format: options.Format = "text",
    table: options.TableName = None,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with code 9 unless both hold the same results.")
    ] = False,
    standalone: options.Standalone = False,
) -> None:
    """List the cells that differ between two results folders, with paired tests.

    Runs are matched by their names, cells by data set and learner, records by split. A cell differs if a
    record does, in anything but times. Its row has the means over the common splits, the number of these on
    which the records differ, and the p-value of the corrected resampled t-test. What only one folder contains
    is listed below.

    **Examples**

    `zoloss diff results/reference results/`

    `zoloss diff before/ after/ --table II --fail-on-change`: for continuous integration
    """
    from zoloss_cli.errors import CheckError
    from zoloss_cli.report.diff import compare_results, render_difference, summarize_difference
    from zoloss_cli.report.runs import load_runs, select_runs

    options.validate_standalone(standalone, format)
    loaded = []
    for folder in (first, second):
        runs, store = load_runs(folder, table)
        options.show_notes(store.notes)
        loaded.append(select_runs(runs, table))
    found = compare_results(loaded[0], loaded[1])
    if text := render_difference(found, format, standalone):
        typer.echo(text)
    options.show_beside_document(summarize_difference(found, first, second), format)
    if fail_on_change and not found.is_empty:
        raise CheckError(f"{first} and {second} do not hold the same results")
