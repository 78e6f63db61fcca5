"""The command `zoloss merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Results folders, two or more.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new results folder.")],
) -> None:
    """Join results folders into a new one: parts of one run, or runs of several machines.

    A task that several folders have is kept once, and must have the same numbers in all of them; times may
    differ. Where numbers differ the tasks and both values are named, the exit code is 4, and nothing is
    written. So it is where folders have different experiments under one name, or those of two versions of an
    algorithm. A damaged line is left out with a note. The folders that are read are not changed.

    **Examples**

    `zoloss merge results-a/ results-b/ --out results-both/`

    `zoloss merge shard-*/ --out results/`
    """
    from zoloss_cli.workflows.merge import merge_folders, render_summary

    summary = merge_folders(folders, out)
    options.show_notes(summary.notes)
    for line in render_summary(summary, out):
        options.show(line)
