"""The command `zoloss complexity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import DEFAULT_SCALING, KERNELS
from zoloss_cli.cli import _options as options


def complexity(
    data: options.DataFile,
    label: options.LabelColumn = None,
    positive: options.PositiveClass = None,
    scale: options.Scaling = DEFAULT_SCALING,
    missing: options.MissingPolicy = "error",
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    kernel: Annotated[
        str,
        options.choice_option(
            "--kernel", choices=KERNELS, help="Kernel of the SVM: perceptron, stump, rbf or linear."
        ),
    ] = "perceptron",
    gamma: Annotated[
        float | None, typer.Option(help="Parameter of the rbf kernel, exp(-gamma ||x - x'||^2).")
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Number of random orders that contributions are averaged over.")
    ] = 200,
    clusters: Annotated[
        int, typer.Option(min=0, help="Find principal points among unions of this many clusters; 0 for none.")
    ] = 0,
    exact: Annotated[
        bool, typer.Option("--exact/--heuristic", help="Consider every union, or skip unlikely ones.")
    ] = False,
    cost: Annotated[
        float | None,
        typer.Option(help="Cost of memorizing a row; shows which rows are worth memorizing."),
    ] = None,
    noise: Annotated[
        float | None, typer.Option(help="Probability e of a wrong label, the same as --cost log2(1/e - 1).")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=2, help="Use a random subset of this many samples, for large tables.")
    ] = None,
    seed: options.OrderSeed = 1,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Save the figure to this file: .png, .svg or .pdf.")
    ] = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object with all rows.")] = False,
) -> None:
    """Measure how complex your data are, and find the rows that look like noise.

    The complexity is the number of support vectors of the SVM that separates all samples (Li's thesis 2006,
    chapter 1). A sample that adds much to it, on average over random orders, looks like noise. With --clusters,
    principal points show how few samples must be left out to reach each lower complexity.
    With --cost or --noise, rows are removed as long as each lowers the complexity by at least the cost of
    memorizing it (section 1.5.1), and principal points show which rule is shortest together with a table of its
    errors (Definition 1.3). With more than two classes, each is measured against the rest. Rows with equal
    features and different labels are counted and excluded: those of the rarer label, or all of them.

    **Examples**

    `zoloss complexity heart`: the measure, and the rows that look most like noise

    `zoloss complexity mine.csv --plot mine.png --json`: a figure, and every row as JSON

    `zoloss complexity mine.csv --label outcome --positive yes --clusters 15 --exact`: principal points

    `zoloss complexity mine.csv --clusters 15 --noise 0.1`: rows to memorize if a tenth of all labels are wrong

    `zoloss complexity large.csv --sample 1000 --seed 7`: on a random subset
    """
    from zoloss_cli.api.complexity import (
        ComplexityOptions,
        choose_cost,
        draw_complexity,
        load_samples,
        measure_complexity,
        render_json,
        render_text,
    )
    from zoloss_cli.cli._progress import countdown
    from zoloss_cli.data.user_table import read_for_training
    from zoloss_cli.figures.files import find_format, render_figure
    from zoloss_cli.figures.style import check_can_draw
    from zoloss_cli.utils import files as atomic_io
    from zoloss_cli.utils.processes import run_interruptibly

    how = ComplexityOptions(
        *(kernel, gamma, permutations, seed, clusters, exact),
        all_pairs=plot is not None,
        cost=choose_cost(cost, noise),
    )
    how.validate()
    if plot is not None:
        find_format(plot, "--plot")
        check_can_draw()
        atomic_io.check_target(plot, force, [data])
    with countdown() as line:
        selection = options.select_columns(drop, features, id)
        table = read_for_training(data, label, missing, selection=selection)
        samples = load_samples(table, positive, scale, sample, seed)
        stages = (lambda: line.count_steps("random orders"), lambda: line.show_share("unions of clusters"))
        measured = run_interruptibly(lambda: measure_complexity(samples, how, *stages))
        line.clear()
        options.show_notes(samples.list_notes())
        options.show(render_json(measured) if as_json else render_text(measured))
        if plot is not None:
            atomic_io.write(plot, render_figure(draw_complexity(measured), find_format(plot)), force, [data])
            options.show_notes([f"the figure is in {plot}"])
