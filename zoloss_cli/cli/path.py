"""The command `zoloss path`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def path(
    data: options.DataFile,
    max_terms: Annotated[
        str | None,
        typer.Option(
            "--max-terms",
            metavar="SIZES",
            help="Sizes to try: a range 1..10 (the default), a list 2,4,8, or the largest size.",
        ),
    ] = None,
    max_points: options.MaxPoints = None,
    monotone: options.Monotone = None,
    require: options.RequiredColumns = None,
    forbid: options.ForbiddenColumns = None,
    label: options.LabelColumn = None,
    positive: options.PositiveClass = None,
    missing: options.MissingPolicy = "error",
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set another parameter of scoring; can be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the figure to this file: .png, .svg or .pdf.")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Show how the error of scoring systems falls with their size on your data, and suggest a size.

    For each number of terms, a scoring system is fitted to all samples, and its error on new samples is
    estimated by cross-validation. The suggestion is the smallest size whose cross-validated error is within one
    standard error of the lowest. Ctrl-C stops and shows the sizes finished so far.

    **Examples**

    `zoloss path heart`: sizes from 1 to 10

    `zoloss path mine.csv --max-terms 1..6 --monotone age:+ --out path.png`: a figure, with a sign constraint

    `zoloss path mine.csv --max-terms 2,4,8 --max-points 3 --json`: for another program
    """
    from zoloss_cli.api.path import PathRequest, draw_path, parse_sizes, render_json, render_text
    from zoloss_cli.cli._progress import countdown
    from zoloss_cli.data.user_table import read_for_training
    from zoloss_cli.figures.files import find_format, render_figure
    from zoloss_cli.figures.style import check_can_draw
    from zoloss_cli.utils import files as atomic_io

    sizes = None if max_terms is None else parse_sizes(max_terms)
    scoring = options.build_scoring_options(None, max_points, monotone, require, forbid)
    request = PathRequest(sizes, scoring, settings or [], positive, seed)
    request.parse(1)
    if out is not None:
        find_format(out)
        check_can_draw()
        atomic_io.check_target(out, force, [data])
    selection = options.select_columns(drop, features, id)
    table = read_for_training(data, label, missing, selection=selection)
    with countdown() as line:
        found = request.run(table, lambda size: line.show(f"at most {size} terms", math.inf))
        line.clear()
    options.show_notes(found.notes)
    options.show(render_json(found) if as_json else render_text(found))
    if out is not None:
        atomic_io.write(out, render_figure(draw_path(found), find_format(out)), force, [data])
        options.show_notes([f"the figure is in {out}"])
