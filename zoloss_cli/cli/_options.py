"""Arguments and options that several commands share, parsing of their values, and shell completion.

A completer is a function of the text typed so far and, optionally, of the command's context. The shell waits
for it, so it avoids heavy imports, and ignores files that cannot be read.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoloss_cli.choices import FORMATS, MISSING_POLICIES, SCALINGS
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.text import show_controls

if TYPE_CHECKING:
    from zoloss_cli.api.choose import ScoringOptions
    from zoloss_cli.data.columns import ColumnSelection

ALL_CORES = os.cpu_count() or 1
DOCUMENT_FORMATS = ("csv", "latex", "html")
MAX_CONFIG_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 1 << 24


def complete_learner(incomplete: str) -> list[str]:
    """Offer the names of learners."""
    from zoloss_cli.registry import LEARNERS

    return _filter_names(LEARNERS, incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Offer the names of data sets and generators."""
    from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
    from zoloss_cli.utils.files import list_embedded_datasets

    return _filter_names([*list_embedded_datasets(), *GENERATORS, *DATASET_PLUGINS], incomplete)


def complete_dataset_list(incomplete: str) -> list[str]:
    """Offer the names of data sets, separated by commas."""
    return _complete_list(complete_dataset(""), incomplete)


def complete_metric_list(incomplete: str) -> list[str]:
    """Offer the names of metrics, separated by commas."""
    from zoloss_cli.registry import list_metrics

    return _complete_list(list_metrics(), incomplete)


def complete_embedded_dataset(incomplete: str) -> list[str]:
    """Offer the names of the data sets that come with zoloss, which can be fetched from UCI."""
    from zoloss_cli.utils.files import list_embedded_datasets

    return _filter_names(list_embedded_datasets(), incomplete)


def complete_config_datasets(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the names of a config's data sets, separated by commas."""
    return _complete_list(_read_config_names(context, "datasets"), incomplete)


def complete_config_learners(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the names of a config's learners, separated by commas."""
    return _complete_list(_read_config_names(context, "learners"), incomplete)


def complete_learner_list(incomplete: str) -> list[str]:
    """Offer the names of learners, separated by commas."""
    from zoloss_cli.registry import LEARNERS

    return _complete_list(LEARNERS, incomplete)


def complete_metric(incomplete: str) -> list[str]:
    """Offer the names of metrics."""
    from zoloss_cli.registry import METRICS

    return _filter_names(METRICS, incomplete)


def complete_figure(incomplete: str) -> list[str]:
    """Offer the names and numbers of figures."""
    from zoloss_cli.figures.figure_kinds import FIGURE_NAMES, FIGURE_NUMBERS

    return _filter_names((*FIGURE_NAMES, *FIGURE_NUMBERS), incomplete)


def complete_table(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the table numbers and run names in the results folder; only manifests are read."""
    from zoloss_cli.utils.files import FileError, read_file

    names: list[object] = []
    folder = Path(_first_argument(context, "results") or "results")
    for path in sorted(folder.glob("runs/*.json")) or sorted(folder.glob("reference/runs/*.json")):
        with contextlib.suppress(FileError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            experiment = json.loads(read_file(path, MAX_MANIFEST_BYTES))["experiment"]
            names += [(experiment.get("published") or {}).get("table"), experiment["name"]]
    return _filter_names(sorted(name for name in names if isinstance(name, str) and name), incomplete)


def _filter_names(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _complete_list(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the list so far, followed by each name not yet in it."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [before + comma + name for name in _filter_names(names, last) if name not in given]


def _read_config_names(context: typer.Context, section: str) -> list[str]:
    import yaml

    from zoloss_cli.utils.files import FileError, find_shipped_config, read_file

    with contextlib.suppress(FileError, OSError, ValueError, yaml.YAMLError):
        path = Path(_first_argument(context, "config"))
        path = path if path.exists() else find_shipped_config(path) or path  # as `zoloss run` finds it
        return _list_section(read_file(path, MAX_CONFIG_BYTES).decode(), section)
    return []


def _list_section(text: str, section: str) -> list[str]:
    """Return the names in a section of YAML, a list or a mapping, without expanding aliases."""
    import yaml

    found: list[str] = []
    counts: list[int] = []  # values begun in each open list or mapping
    mappings: list[bool] = []
    inside = False
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionEndEvent):
            counts.pop()
            mappings.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        is_key = bool(mappings) and mappings[-1] and counts[-1] % 2 == 0
        if isinstance(event, yaml.ScalarEvent):
            if len(counts) == 1 and is_key:
                inside = event.value == section
            elif len(counts) == 2 and inside and (is_key or not mappings[-1]):
                found.append(event.value)
        if counts:
            counts[-1] += 1
        if isinstance(event, yaml.CollectionStartEvent):
            counts.append(0)
            mappings.append(isinstance(event, yaml.MappingStartEvent))
    return found


def _first_argument(context: typer.Context, name: str) -> Path | str:
    """Return the first argument, which has no name yet while the value of an option is being typed."""
    return context.args[0] if context.args else context.params.get(name) or ""


def choice_option(*names: str, choices: tuple[str, ...], help: str) -> Any:
    """Declare an option with a fixed set of values, which shells complete; others are rejected."""

    def validate(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise ConfigError(f"{names[0]}: '{value}' is not valid{suggest_nearest(value, choices)}")
        return value

    def complete(incomplete: str) -> list[str]:
        return _filter_names(choices, incomplete)

    return typer.Option(*names, help=help, autocompletion=complete, callback=validate)


def learner_option(help: str, *names: str) -> Any:
    """Declare an option that is the name of a learner."""
    return typer.Option(*names, help=help, autocompletion=complete_learner)


def learner_list_option(help: str, *names: str, **settings: Any) -> Any:
    """Declare an option that is a list of learners, separated by commas."""
    return typer.Option(*names, help=help, autocompletion=complete_learner_list, **settings)


def dataset_list_option(help: str) -> Any:
    """Declare an option that is a list of data sets, separated by commas."""
    return typer.Option(help=help, autocompletion=complete_dataset_list)


def validate_standalone(standalone: bool, format: str) -> None:
    """Reject --standalone where it would have no effect."""
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


def show_model_file(model: Path) -> None:
    """Report where a model was saved, and the command that applies it."""
    command = shlex.join(["zoloss", "predict", str(model), "NEW.csv"])
    show_notes([f"the model is in {model}; apply it with: {command}"])


def show_beside_document(lines: Iterable[str], format: str) -> None:
    """Write lines below a text, or to standard error if the format's output is a complete document."""
    for line in lines:
        show(line, err=format in DOCUMENT_FORMATS)


def select_columns(drop: list[str] | None, features: list[str] | None, id: str | None) -> ColumnSelection:
    """Return the column selection of the options, without the label."""
    from zoloss_cli.data.columns import ColumnSelection

    return ColumnSelection(tuple(drop or ()), tuple(features or ()), id)


def build_scoring_options(
    max_terms: int | None,
    max_points: int | None,
    monotone: list[str] | None,
    require: list[str] | None,
    forbid: list[str] | None,
) -> ScoringOptions:
    """Return the options for a scoring system."""
    from zoloss_cli.api.choose import ScoringOptions

    names = (tuple(parse_name_lists(texts)) for texts in (monotone, require, forbid))
    return ScoringOptions(max_terms, max_points, *names)


def data_argument(help: str) -> Any:
    """Declare an argument that is a table: a file, or the name of a data set that comes with zoloss."""

    def resolve(path: Path) -> Path:
        from zoloss_cli.data.read import resolve_table

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
    list[str] | None, typer.Option("--drop", metavar="COLUMNS", help="Columns to drop, separated by commas.")
]
FeatureColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--features", metavar="COLUMNS", help="Use only these columns as features, separated by commas."
    ),
]
IdColumn = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column that identifies rows and is not a feature.")
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

AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of text.")]
ShowAll = Annotated[bool, typer.Option("--all", help="Show the weights of all features.")]
ModelFile = Annotated[Path | None, typer.Option(help="Save the model to this JSON file, for `zoloss predict`.")]

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
        autocompletion=complete_table,
    ),
]
