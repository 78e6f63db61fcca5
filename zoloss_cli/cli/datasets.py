"""The command `zoloss datasets`, with commands of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options
from zoloss_cli.cli.app import MARKUP, PlainCommand, PlainGroup

datasets = typer.Typer(
    name="datasets", cls=PlainGroup, invoke_without_command=True, add_completion=False, rich_markup_mode=MARKUP
)


@datasets.callback()
def list_datasets(context: typer.Context) -> None:
    """List all data sets and generators: samples, features, classes and source.

    **Examples**

    `zoloss datasets`: the list

    `zoloss datasets show heart`: where it comes from and how it was prepared

    `zoloss datasets of configs/thesis/table4.2.yaml`: the data of an experiment, such as Table 4.1

    `zoloss datasets fetch heart`: the original from UCI, compared with our copy
    """
    if context.invoked_subcommand is None:
        from zoloss_cli.api.info import list_datasets

        options.show(list_datasets())


@datasets.command(cls=PlainCommand)
def of(config: options.ConfigFile) -> None:
    """Describe the data of an experiment: training and test samples, classes and features.

    **Example:** `zoloss datasets of configs/thesis/table4.2.yaml` (Table 4.1 of Li's thesis)
    """
    from zoloss_cli.api.experiments import load_experiment
    from zoloss_cli.api.info import describe_experiment_data

    options.show(describe_experiment_data(load_experiment(config)))


@datasets.command(cls=PlainCommand)
def show(
    name: Annotated[
        str, typer.Argument(help="Name of a data set or generator.", autocompletion=options.complete_dataset)
    ],
) -> None:
    """Describe one data set: source, licence, label coding, what was removed or decoded.

    **Example:** `zoloss datasets show heart`
    """
    from zoloss_cli.api.info import describe_dataset

    options.show(describe_dataset(name))


@datasets.command(cls=PlainCommand)
def verify() -> None:
    """Recompute the sha256 and the counts of samples, features and classes of every embedded file.

    **Example:** `zoloss datasets verify`
    """
    from zoloss_cli.api.info import verify_embedded

    options.show(f"{verify_embedded()} files match catalog.yaml")


@datasets.command(cls=PlainCommand)
def fetch(
    name: Annotated[
        str,
        typer.Argument(help="Name of an embedded data set.", autocompletion=options.complete_embedded_dataset),
    ],
    into: Annotated[
        Path | None, typer.Option(help="Output folder for the converted CSV file (default: the cache).")
    ] = None,
    archive: Annotated[
        str, typer.Option(help="Address of the UCI archive or a mirror.")
    ] = "https://archive.ics.uci.edu",
) -> None:
    """Download the original files from UCI, check and convert them, and report how they differ from our copy.

    **Example:** `zoloss datasets fetch sonar --into originals`
    """
    from zoloss_cli.api.info import render_fetch_report
    from zoloss_cli.data import uci as download

    options.show(render_fetch_report(download.fetch(name, into, archive)))
