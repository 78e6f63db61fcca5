"""The command `zoloss stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options
from zoloss_cli.errors import ConfigError


def _validate_level(value: float) -> float:
    if not 0.0 < value < 1.0:
        raise ConfigError(f"--alpha: must be between 0 and 1, both excluded (got {value:g})")
    return value


def stats(
    results: options.ResultsFolder = Path("results"),
    format: options.Format = "text",
    table: options.TableName = None,
    against: Annotated[
        str | None, options.learner_option("Compare with this learner instead of each data set's best.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level.", callback=_validate_level)] = 0.05,
    ranks: Annotated[
        bool,
        typer.Option(
            "--ranks",
            help="Show only average ranks, in each metric, and for each setting of rows such as 'heart at 200 "
            "epochs'.",
        ),
    ] = False,
    standalone: options.Standalone = False,
) -> None:
    """Test which differences between learners are significant, within and across data sets.

    On a data set: the corrected resampled t-test of Nadeau & Bengio (2003), on the splits that two learners
    share. Across data sets, by their means (Demšar 2006): average ranks with Friedman's test and Nemenyi's
    critical difference, and Wilcoxon's signed-rank test of all pairs with Holm's correction; rows of the same
    data count as one data set. Effect sizes are Cohen's d_z and the rank-biserial correlation, and a paragraph
    summarizes the results. With --format csv, each pair of learners is one row.

    **Examples**

    `zoloss stats results/reference --table IV`

    `zoloss stats results/ --against rcd-bias --alpha 0.01`

    `zoloss stats results/reference --table sensitivity --ranks`

    `zoloss stats results/ --format csv > tests.csv`
    """
    from zoloss_cli.report.notes import describe_incomplete
    from zoloss_cli.report.runs import load_runs, select_comparable
    from zoloss_cli.report.statistics_text import render_statistics

    options.validate_standalone(standalone, format)
    if ranks and (against is not None or format == "csv"):
        raise ConfigError("--ranks shows average ranks only: leave out --against, and --format csv")
    runs, store = load_runs(results, table)
    options.show_notes(store.notes)
    comparable = select_comparable(runs, table, against)
    options.show_notes(describe_incomplete(comparable))
    typer.echo(render_statistics(comparable, format, alpha, against, standalone, ranks))
