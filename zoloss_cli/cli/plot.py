"""The command `zoloss plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def plot(
    results: Annotated[Path | None, typer.Argument(help="Results folder.", show_default="results")] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            help="Figure to draw: PAPER/NUMBER, a number or a name; without it, available figures are listed.",
            autocompletion=options.complete_figure,
        ),
    ] = None,
    table: options.TableName = None,
    dataset: Annotated[
        str,
        options.dataset_list_option(
            "Only these data sets, separated by commas; for boundary also a generator or a CSV file."
        ),
    ] = "",
    learners: Annotated[str, options.learner_list_option("Only these learners, separated by commas.")] = "",
    metric: Annotated[
        str | None,
        typer.Option(
            help="For figures of values, such as boxes: a metric other than the table's.",
            autocompletion=options.complete_metric,
        ),
    ] = None,
    against: Annotated[
        str | None,
        options.learner_option(
            "For differences: the learner to compare the others with (default: each data set's best)."
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="For boundary of a --dataset: the positive class, against the rest.")
    ] = None,
    label: options.LabelColumn = None,
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Output file: .pdf, .svg or .png; cone and rcd-steps also .gif (default: figure-NAME.pdf).",
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    """Draw the papers' figures and others from results; without --figure, list what is available.

    A published figure is called PAPER/NUMBER; the number is enough where only one paper has it. There are
    figures 1, 2, 4, 6 and 9 of nguyen-sanner-2013, 3 and 4 of li-lin-2007, and 1.1 to 4.5 of li-thesis-2006.
    boxes (values over splits), differences (paired, to one learner), ranks, sensitivity (ranks by setting),
    curves, time, bounds, convergence, lookup and boundary work for any run that has the data they show; the
    config of another paper's figure names one of them with `drawn_as`. More than six panels take several pages:
    of one PDF, or numbered files. A boundary of data with more than two features is drawn in two of them, which
    are chosen and named; --features names others. --label, --drop, --features and --id are for the boundary of
    a CSV file. Figures 1 and 4.3 and boundary refit learners with the run's own seeds, since results hold no
    weights.

    **Examples**

    `zoloss plot results/reference`: list the figures that these results allow

    `zoloss plot results/reference --figure li-lin-2007/3 --out rcd.svg`

    `zoloss plot results/reference --figure ranks --table II`

    `zoloss plot --figure rcd-steps --out rcd.gif`: an animation, for teaching; `--figure cone` is another

    `zoloss plot results/reference --figure differences --table IV --against adaboost:rcd-bias`

    `zoloss plot --figure boundary --dataset yinyang --learners rcd-bias,adaboost`: needs no results

    `zoloss plot --figure boundary --dataset mine.csv --learners pivot,svm --features age,weight`
    """
    from zoloss_cli.utils.processes import limit_threads

    limit_threads()
    from zoloss_cli.api.plots import PlotRequest, list_drawings, render_drawing

    if figure is None:
        text, notes = list_drawings(results)
        options.show(text)
        options.show_notes(notes)
        return
    from zoloss_cli.figures.files import find_format, name_pages
    from zoloss_cli.figures.style import check_can_draw
    from zoloss_cli.utils.files import check_target, write

    names = (options.parse_names(dataset), options.parse_names(learners))
    selection = options.select_columns(drop, features, id)
    wanted = (figure, results or Path("results"), table, *names, positive, label, metric, against, selection)
    request = PlotRequest(*wanted)
    request.validate()
    check_can_draw()
    if out is not None:
        find_format(out, animated=request.is_animated)
        check_target(out, force, [])
    drawing, notes = request.choose_drawing()
    options.show_notes(notes)
    target = out or Path(f"{drawing.stem}.pdf")
    check_target(target, force, request.inputs)
    files = render_drawing(drawing, find_format(target, animated=request.is_animated))
    pages = name_pages(target, len(files))
    for page in pages:
        check_target(page, force, request.inputs)
    for page, content in zip(pages, files, strict=True):
        write(page, content, force, request.inputs)
        options.show(page)
