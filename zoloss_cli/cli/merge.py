"""The command `zoloss merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Two or more results folders.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New results folder.")],
) -> None:
    """Merge results folders into a new one: shards of one run, or runs from several machines.

    A task in several folders is kept once and must have the same numbers in all of them; times may differ. If
    numbers differ, the tasks and both values are listed, the exit code is 4, and nothing is written. The same
    holds if folders have different experiments under one name, or results of two versions of an algorithm. A
    damaged line is skipped with a note. The input folders are not changed.

    **Examples**

    `zoloss merge results-a/ results-b/ --out results-both/`

    `zoloss merge shard-*/ --out results/`
    """
    from zoloss_cli.api.merge import merge_folders, render_summary

    summary = merge_folders(folders, out)
    options.show_notes(summary.notes)
    for line in render_summary(summary, out):
        options.show(line)
