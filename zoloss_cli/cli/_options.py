"""Arguments and options shared by several commands, each declared once, and how their values are parsed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoloss_cli.choices import FORMATS, MISSING_POLICIES, SCALINGS
from zoloss_cli.cli import _completion as completion
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.text import show_controls

if TYPE_CHECKING:
    from zoloss_cli.api.choose import ScoringOptions
    from zoloss_cli.data.columns import ColumnSelection

ALL_CORES = os.cpu_count() or 1
DOCUMENT_FORMATS = ("csv", "latex", "html")


def choice_option(*names: str, choices: tuple[str, ...], help: str) -> Any:
    """Declare an option with a fixed set of values: a shell completes them, and others are refused."""

    def validate(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise ConfigError(f"{names[0]}: '{value}' is not valid{suggest_nearest(value, choices)}")
        return value

    return typer.Option(
        *names, help=help, autocompletion=completion.complete_choice(choices), callback=validate
    )


def validate_standalone(standalone: bool, format: str) -> None:
    """Refuse --standalone where it would have no effect."""
    if standalone and format != "latex":
        raise ConfigError(f"--standalone is for --format latex, and this is {format}")


def parse_names(text: str | None) -> list[str]:
    """Return the names in a list separated by commas."""
    names = [name.strip() for name in text.split(",")] if text else []
    if not all(names):
        raise ConfigError(f"'{text}' is not a list of names separated by commas")
    return names


def parse_name_lists(texts: list[str] | None) -> list[str]:
    """Return the names from an option that can be repeated, each time with a list separated by commas."""
    return [name for text in texts or () for name in parse_names(text)]


def show(text: object, err: bool = False) -> None:
    """Write a text to standard output or standard error, without control characters for the terminal."""
    typer.echo(show_controls(str(text)), err=err)


def show_notes(notes: Iterable[str]) -> None:
    """Write each note as a sentence to standard error."""
    for note in notes:
        show(f"zoloss: {note}", err=True)


def show_beside_document(lines: Iterable[str], format: str) -> None:
    """Write lines below a text, or to standard error if the format's output is a complete document."""
    for line in lines:
        show(line, err=format in DOCUMENT_FORMATS)


def select_columns(drop: list[str] | None, features: list[str] | None, id: str | None) -> ColumnSelection:
    """Return the columns that options name, apart from the label."""
    from zoloss_cli.data.columns import ColumnSelection

    return ColumnSelection(tuple(drop or ()), tuple(features or ()), id)


def build_scoring_options(
    max_terms: int | None,
    max_points: int | None,
    monotone: list[str] | None,
    require: list[str] | None,
    forbid: list[str] | None,
) -> ScoringOptions:
    """Return what the options say about a scoring system."""
    from zoloss_cli.api.choose import ScoringOptions

    names = (tuple(parse_name_lists(texts)) for texts in (monotone, require, forbid))
    return ScoringOptions(max_terms, max_points, *names)


def data_argument(help: str) -> Any:
    """Declare an argument that is a table: a file, or the name of a data set that comes with zoloss."""

    def resolve(path: Path) -> Path:
        from zoloss_cli.data.table_files import resolve_table

        return resolve_table(path)

    return typer.Argument(help=help, callback=resolve)


# Your own table.
DataFile = Annotated[
    Path,
    data_argument(
        "The table, with a header: CSV, TSV, .gz, parquet or xlsx; - for standard input; or the name of a "
        "data set (see `zoloss datasets`)."
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        help="Label column, by name or index (default: the column label, class, target, y or outcome, else "
        "the last)."
    ),
]
DropColumns = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMNS", help="Columns to drop, separated by commas."),
]
FeatureColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--features", metavar="COLUMNS", help="Use only these columns as features, separated by commas."
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that identifies rows and is not a feature."),
]
MaxTerms = Annotated[
    int | None,
    typer.Option("--max-terms", min=1, help="For scoring: the maximum number of conditions with points."),
]
MaxPoints = Annotated[
    int | None,
    typer.Option(
        "--max-points", min=1, help="For scoring: the largest number of points of a condition, of either sign."
    ),
]
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        "--monotone",
        metavar="COLUMN:SIGN",
        help="For scoring: columns whose points must all be positive (+) or negative (-).",
    ),
]
RequiredColumns = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="COLUMNS", help="For scoring: columns that must have points."),
]
ForbiddenColumns = Annotated[
    list[str] | None,
    typer.Option("--forbid", metavar="COLUMNS", help="For scoring: columns that must not have points."),
]
PositiveClass = Annotated[
    str | None,
    typer.Option(
        help="Positive class, against all others (default: keep all classes; of two, the last is positive)."
    ),
]
Scaling = Annotated[
    str, choice_option("--scale", choices=SCALINGS, help="How to scale features: standard, minmax or none.")
]
MissingPolicy = Annotated[
    str,
    choice_option(
        "--missing",
        choices=MISSING_POLICIES,
        help="What to do with missing values: error, drop the row, zero, impute (median or most frequent "
        "level), or indicator (impute, and add a feature that marks them).",
    ),
]
OrderSeed = Annotated[int, typer.Option(min=0, help="Seed of the random orders.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing output file.")]

# Experiments.
OutFolder = Annotated[Path, typer.Option("--out", "-o", help="Results folder.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Number of worker processes.")]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Allow learners from Python files and other packages; their code runs with your permissions.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan without running it.")]
ConfigFile = Annotated[
    Path,
    typer.Argument(
        help="Config of the experiment: a YAML file, or the name of a config that comes with zoloss."
    ),
]

# Results.
ResultsFolder = Annotated[Path, typer.Argument(help="Results folder.", show_default=True)]
Format = Annotated[
    str,
    choice_option("--format", "-f", choices=FORMATS, help="Output format: text, markdown, latex, csv or html."),
]
Standalone = Annotated[
    bool, typer.Option("--standalone", help="With latex: a complete document, not a fragment to \\\\input.")
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        "-t",
        help="Only this table, by its number (II) or the name of the run.",
        autocompletion=completion.complete_table,
    ),
]
