"""The command `zoloss prune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import DEFAULT_SCALING, NOISE_SCORES
from zoloss_cli.cli import _options as options


def prune(
    data: options.DataFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the kept rows to this new file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write the dropped rows and the reasons to this new CSV file (default: OUT with .dropped.csv)."
        ),
    ] = None,
    by: Annotated[
        str,
        options.choice_option(
            "--by",
            choices=NOISE_SCORES,
            help="Noise criterion: contribution to the complexity, or neighbours with the other label.",
        ),
    ] = "contribution",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Drop rows whose score is above this (default: 1 for contribution, 0.5 for neighbours)."
        ),
    ] = None,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Number of random orders for contributions (default: 200).")
    ] = None,
    neighbours: Annotated[
        int | None, typer.Option(min=1, help="Number of neighbours to consider (default: 10).")
    ] = None,
    label: options.LabelColumn = None,
    positive: options.PositiveClass = None,
    scale: options.Scaling = DEFAULT_SCALING,
    missing: options.MissingPolicy = "error",
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    seed: options.OrderSeed = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the rows; write nothing.")] = False,
) -> None:
    """Write a copy of your data without the rows that look like noise, and a report on those rows.

    Kept lines are copied byte for byte. Rows with equal features and different labels are dropped first,
    those of the rarer label or all of them; a class never loses its last row. With more than two classes, a
    row's contribution is the largest over one class against the rest. No file is overwritten.

    **Examples**

    `zoloss prune mine.csv --out clean.csv`: the report is in clean.dropped.csv

    `zoloss prune mine.csv --dry-run --threshold 1.5`: how many rows would be dropped

    `zoloss prune large.csv --out clean.csv --by neighbours --neighbours 5`: for large tables
    """
    from zoloss_cli.api import prune as pruning
    from zoloss_cli.cli._progress import countdown
    from zoloss_cli.utils import files as atomic_io
    from zoloss_cli.utils.processes import run_interruptibly

    how = pruning.build_prune_settings(by, threshold, permutations, neighbours)
    targets = None if dry_run else pruning.choose_targets(out, report)
    if targets is not None:
        atomic_io.check_new_files(list(targets), [data])
    with countdown("; nothing was written") as line:
        source = pruning.read_source_file(data, label, missing, options.select_columns(drop, features, id))
        pruned = run_interruptibly(
            lambda: pruning.prune_table(source, how, positive, scale, seed, lambda: line.count_steps(by))
        )
        if targets is not None:
            contents = (pruned.render_kept(), pruned.render_report())
            atomic_io.write_new_files(dict(zip(targets, contents, strict=True)), [data])
    options.show_notes(pruned.list_notes())
    options.show(pruning.render_text(pruned))
    if targets is not None:
        options.show(f"kept      {targets[0]}\ndropped   {targets[1]}")
