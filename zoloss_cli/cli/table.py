"""The command `zoloss table`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import BOLD_RULES, MAX_DIGITS, STATS
from zoloss_cli.cli import _options as options
from zoloss_cli.errors import ConfigError, ResultsError


def _validate_digits(value: int | None) -> int | None:
    if value is not None and not 0 <= value <= MAX_DIGITS:
        raise ConfigError(f"--digits: must be between 0 and {MAX_DIGITS} (got {value})")
    return value


def table(
    results: options.ResultsFolder = Path("results"),
    format: options.Format = "text",
    table: options.TableName = None,
    datasets: Annotated[
        str, options.dataset_list_option("Only these data sets, separated by commas, in this order.")
    ] = "",
    learners: Annotated[
        str, options.learner_list_option("Only these learners, separated by commas, in this order.")
    ] = "",
    metrics: Annotated[
        str,
        typer.Option(
            help="Show these metrics instead of the config's, separated by commas: zoloss's own, or "
            "scikit-learn scorers such as balanced_accuracy. Nothing is rerun.",
            autocompletion=options.complete_metric_list,
        ),
    ] = "",
    stat: Annotated[
        str | None,
        options.choice_option(
            "--stat",
            choices=STATS,
            help="Statistic: mean ± standard error (stderr, the default) or standard deviation (sd), mean with "
            "95 % confidence interval (ci), median, or median and quartiles.",
        ),
    ] = None,
    digits: Annotated[int | None, typer.Option(help="Number of decimals.", callback=_validate_digits)] = None,
    no_published: Annotated[
        bool, typer.Option("--no-published", help="Leave out the published values.")
    ] = False,
    transpose: Annotated[
        bool, typer.Option("--transpose", help="Show learners as rows and data sets as columns.")
    ] = False,
    rank_row: Annotated[
        bool, typer.Option("--rank-row", help="Add a row of mean ranks over distinct data sets.")
    ] = False,
    bold: Annotated[
        str | None,
        options.choice_option(
            "--bold",
            choices=BOLD_RULES,
            help="Cells in bold: the best, those within one standard error of it (stderr, the default), or "
            "those not significantly worse (significant).",
        ),
    ] = None,
    standalone: options.Standalone = False,
) -> None:
    """Show tables of mean ± standard error as in the papers, beside the published values.

    The best cells are in bold; a note under each table says what bold and * mean.

    **Examples**

    `zoloss table results/`

    `zoloss table results/reference --table II --format latex > table2.tex`: for an article with booktabs

    `zoloss table results/reference -t III --datasets heart,sonar --learners pocket,soft-svm --no-published`

    `zoloss table results/ --metrics balanced_accuracy,f1_macro --stat ci --bold significant --rank-row`
    """
    from zoloss_cli.report.notes import describe_marks
    from zoloss_cli.report.render import render_tables
    from zoloss_cli.report.tables import TableOptions, collect_tables

    options.validate_standalone(standalone, format)
    rows, columns, shown = (tuple(options.parse_names(text)) for text in (datasets, learners, metrics))
    chosen = TableOptions(rows, columns, shown, stat, digits, not no_published, transpose, rank_row, bold)
    tables, notes, empty = collect_tables(results, table, chosen)
    options.show_notes([*notes, *(empty if tables else [])])
    if not tables:
        raise ResultsError("\n".join(empty) or f"{results} holds no tables")
    if format == "csv":
        options.show_notes(describe_marks(tables))
    typer.echo(render_tables(tables, format, sys.stdout.isatty(), standalone))
