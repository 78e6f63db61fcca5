"""zoloss plot"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli.running import names
from zoloss_cli.cli.showing import TABLE
from zoloss_cli.errors import ConfigError, ResultsError

FIGURE = typer.Option(
    help="Which one; without it, all that can be drawn are listed.", autocompletion=completion.figure
)
DATASET = typer.Option(
    help="Only these data sets, by commas; for boundary also a generator or a CSV file.",
    autocompletion=completion.dataset_list,
)
LEARNERS = typer.Option(
    help="Only these learners, separated by commas.", autocompletion=completion.learner_list
)
OUT = typer.Option("--out", "-o", help="A file: .pdf, .svg or .png (default: figure-NAME.pdf).")


def plot(
    results: Annotated[Path | None, typer.Argument(help="Results folder.", show_default="results")] = None,
    figure: Annotated[str | None, FIGURE] = None,
    table: Annotated[str | None, TABLE] = None,
    dataset: Annotated[str, DATASET] = "",
    learners: Annotated[str, LEARNERS] = "",
    positive: Annotated[
        str | None, typer.Option(help="For boundary of a --dataset: the positive class, against the rest.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="For boundary of a CSV file: the label column, by name or index.")
    ] = None,
    out: Annotated[Path | None, OUT] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is written.")] = False,
) -> None:
    """Draw the papers' figures and others from results, ready for print; without --figure, list them.

    Figures 1, 2, 6 and 9 are of Nguyen & Sanner (2013), 3 and 4 of Li & Lin (2007), 1.4 to 1.9, 1.11 to 1.13,
    3.1 and 4.2 to 4.5 of Li's thesis (2006). ranks, curves, time, bounds and boundary are of any run that has
    what they show. Figures 1 and 4.3 and boundary train again, by the run's own seeds, since results hold no
    weights.

    **Examples**

    `zoloss plot results/reference`: what these results can give

    `zoloss plot results/reference --figure 3 --out rcd.svg`

    `zoloss plot results/reference --figure ranks --table II`

    `zoloss plot --figure boundary --dataset yinyang --learners rcd-bias,adaboost`: needs no results

    `zoloss plot --figure boundary --dataset mine.csv --learners pivot,svm --label outcome`
    """
    from zoloss_cli.experiment.execute import one_blas_thread

    one_blas_thread()
    if figure is None:
        _list(results)
        return
    from zoloss_cli.reporting.figures import catalog
    from zoloss_cli.reporting.figures.files import format_of, rendered
    from zoloss_cli.utils.atomic_io import check_target, write

    kind = catalog.kind_of(figure)
    own_data = figure == "boundary" and bool(dataset) and table is None
    if not own_data and (positive is not None or label is not None):
        raise ConfigError("--positive and --label are for --figure boundary with --dataset and without --table")
    if out is not None:
        format_of(out)
        check_target(out, force, [])
    if own_data:
        if not learners:
            raise ConfigError("--learners: name those to train on --dataset, such as rcd-bias,adaboost")
        drawing = catalog.of_data(dataset, names(learners), positive, label)
    elif kind.suits is None:
        if table is not None or dataset or learners:
            raise ConfigError(
                f"figure '{figure}' is of no results: leave --table, --dataset and --learners out"
            )
        drawing = catalog.without_results(kind)
    else:
        folder = results or Path("results")
        drawing = catalog.drawing(kind, _runs(folder, table), folder, table, names(dataset), names(learners))
    target = out or Path(f"{drawing.stem}.pdf")
    inputs = [Path(dataset)] if own_data else []
    check_target(target, force, inputs)
    write(target, rendered(drawing.draw(), format_of(target)), force, inputs)
    typer.echo(target)


def _list(results: Path | None) -> None:
    from tabulate import tabulate

    from zoloss_cli.reporting.figures import catalog

    folder, missing = results or Path("results"), None
    try:
        runs = _runs(folder)
    except ResultsError as error:
        if results is not None:
            raise
        runs, missing = [], error
    drawings = catalog.available(runs, folder, quick=False)
    drawings += [catalog.without_results(kind) for kind in catalog.KINDS if kind.suits is None]
    drawings.append(catalog.of_data("yinyang", ["rcd-bias", "adaboost"], None, None))
    lines = [[drawing.command, drawing.title] for drawing in drawings]
    typer.echo(tabulate(lines, ["command", "what it draws"], tablefmt="simple"))
    if missing:
        typer.echo(f"zoloss: these need no results; for others, {missing}", err=True)


def _runs(folder: Path, table: str | None = None) -> list:
    from zoloss_cli.reporting.results import load_results

    runs, store = load_results(folder, table)
    for note in store.notes:
        typer.echo(f"zoloss: {note}", err=True)
    return runs
