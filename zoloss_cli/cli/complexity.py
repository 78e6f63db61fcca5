"""zoloss complexity, prune"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli._choices import KERNELS, POLICIES, SCALINGS, SIGNS_OF_NOISE
from zoloss_cli.cli.fitting import DATA, FORCE, LABEL, MISSING, POSITIVE, SCALE, check_choice, show_notes
from zoloss_cli.errors import ConfigError

SEED = typer.Option(min=0, help="The seed of the random orders.")


def complexity(
    data: Annotated[Path, DATA],
    label: Annotated[str | None, LABEL] = None,
    positive: Annotated[str | None, POSITIVE] = None,
    scale: Annotated[str, SCALE] = "minmax",
    missing: Annotated[str, MISSING] = "error",
    kernel: Annotated[
        str,
        typer.Option(help="Of the SVM: perceptron, stump, rbf or linear.", autocompletion=completion.kernel),
    ] = "perceptron",
    gamma: Annotated[float | None, typer.Option(help="Of the rbf kernel, exp(-gamma ||x - x'||^2).")] = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Random orders of the rows that contributions are averaged over.")
    ] = 200,
    clusters: Annotated[
        int, typer.Option(min=0, help="Find principal points among unions of so many clusters; 0: do not.")
    ] = 0,
    exact: Annotated[
        bool, typer.Option("--exact/--heuristic", help="Account for every union, or leave out the unlikely.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=2, help="Take so many rows at random, where all would be too many.")
    ] = None,
    seed: Annotated[int, SEED] = 1,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw it into this file: .png, .svg or .pdf.")
    ] = None,
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all rows.")] = False,
) -> None:
    """How complex your own CSV is, which rows look like noise, and how far a simpler rule goes.

    The complexity is the number of support vectors of the SVM that separates all rows (Li's thesis 2006,
    chapter 1). A row that adds much to it, on average over random orders, looks like noise. With --clusters,
    principal points say how few rows must be left out at each complexity.

    **Examples**

    `zoloss complexity mine.csv`: the measure, and the rows that look most like noise

    `zoloss complexity mine.csv --plot mine.png --json`: drawn, and every row for another program

    `zoloss complexity mine.csv --label outcome --positive yes --clusters 15 --exact`: principal points

    `zoloss complexity large.csv --sample 1000 --seed 7`: of rows drawn at random
    """
    from zoloss_cli.cli._waiting import countdown
    from zoloss_cli.datasets.csv_table import read_for_training
    from zoloss_cli.reporting.figures.files import format_of, rendered
    from zoloss_cli.utils import atomic_io as output
    from zoloss_cli.utils.interruptible import run_interruptibly
    from zoloss_cli.workflows import complexity_text as show_complexity
    from zoloss_cli.workflows.complexity import Asked, examples_of, measure

    _check_reading(scale, missing)
    check_choice("--kernel", kernel, KERNELS)
    asked = Asked(kernel, gamma, permutations, seed, clusters, exact, all_pairs=plot is not None)
    asked.check()
    if plot is not None:
        format_of(plot, "--plot")
        output.check_target(plot, force, [data])
    with countdown() as line:
        examples = examples_of(read_for_training(data, label, missing), positive, scale, sample, seed)
        stages = (lambda: line.steps("random orders"), lambda: line.share("unions of clusters"))
        measured = run_interruptibly(lambda: measure(examples, asked, *stages))
        line.clear()
        typer.echo(show_complexity.as_json(measured) if as_json else show_complexity.as_text(measured))
        show_notes(examples.table.notes)
        if plot is not None:
            from zoloss_cli.workflows.complexity_figure import draw

            output.write(plot, rendered(draw(measured), format_of(plot)), force, [data])
            show_notes([f"the figure is in {plot}"])


def prune(
    data: Annotated[Path, DATA],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the rows that are kept to this new file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write which rows are dropped, and why, to this new CSV (default: OUT with .dropped.csv)."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="What tells noise: contribution to the complexity, or neighbours with the other label.",
            autocompletion=completion.sign_of_noise,
        ),
    ] = "contribution",
    threshold: Annotated[
        float | None, typer.Option(help="Drop rows above it (default: 1 for contribution, 0.5 for neighbours).")
    ] = None,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Random orders for contributions (default: 200).")
    ] = None,
    neighbours: Annotated[
        int | None, typer.Option(min=1, help="How many neighbours are looked at (default: 10).")
    ] = None,
    label: Annotated[str | None, LABEL] = None,
    positive: Annotated[str | None, POSITIVE] = None,
    scale: Annotated[str, SCALE] = "minmax",
    missing: Annotated[str, MISSING] = "error",
    seed: Annotated[int, SEED] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; write nothing.")] = False,
) -> None:
    """Write your own CSV without the rows that look like noise, and a report on those.

    Lines that are kept are not changed by a byte. Rows with equal features and different labels are dropped
    first, those of the rarer label or all of them; a class never loses its last row. No file is overwritten.

    **Examples**

    `zoloss prune mine.csv --out clean.csv`: the report is in clean.dropped.csv

    `zoloss prune mine.csv --dry-run --threshold 1.5`: how many rows would go

    `zoloss prune large.csv --out clean.csv --by neighbours --neighbours 5`: of any number of rows
    """
    from zoloss_cli.cli._waiting import countdown
    from zoloss_cli.utils import atomic_io as output
    from zoloss_cli.utils.interruptible import run_interruptibly
    from zoloss_cli.workflows.prune import as_text, clean, read_own_file

    _check_reading(scale, missing)
    how = _chosen_pruning(by, threshold, permutations, neighbours)
    if not dry_run:
        if out is None:
            raise ConfigError("--out FILE is needed for the rows that are kept; --dry-run only counts them")
        report = report or out.with_name(f"{out.stem}.dropped.csv")
        output.check_new([out, report], [data])
    with countdown("; nothing was written") as line:
        file = read_own_file(data, label, missing)
        cleaned = run_interruptibly(lambda: clean(file, how, positive, scale, seed, lambda: line.steps(by)))
        if not dry_run:
            output.write_new({out: cleaned.kept_text(), report: cleaned.report_text()}, [data])
    typer.echo(as_text(cleaned))
    if not dry_run:
        typer.echo(f"kept      {out}\ndropped   {report}")
    show_notes(cleaned.notes())


def _check_reading(scale: str, missing: str) -> None:
    check_choice("--scale", scale, SCALINGS)
    check_choice("--missing", missing, POLICIES)


def _chosen_pruning(by: str, threshold: float | None, permutations: int | None, neighbours: int | None):
    from zoloss_cli.config.models import Prune

    check_choice("--by", by, SIGNS_OF_NOISE)
    if threshold is not None and math.isnan(threshold):
        raise ConfigError("--threshold: must be a number (got nan)")
    if permutations is not None and by != "contribution":
        raise ConfigError("--permutations belongs to --by contribution; leave it out")
    if neighbours is not None and by != "neighbours":
        raise ConfigError("--neighbours belongs to --by neighbours; leave it out, or add that")
    counts = {"permutations": permutations, "neighbours": neighbours}
    given = {name: value for name, value in counts.items() if value is not None}
    return Prune(by=by, threshold=threshold, **given)
