"""zoloss datasets"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.errors import ConfigError, DataError

app = typer.Typer(no_args_is_help=False, invoke_without_command=True, rich_markup_mode="markdown")


@app.callback()
def listing(context: typer.Context) -> None:
    """List all data sets and generators with rows, features, classes and source.

    **Examples**

    `zoloss datasets`: the list

    `zoloss datasets show heart`: where it comes from and what was done to it

    `zoloss datasets of configs/thesis/table4.2.yaml`: the data of an experiment, such as Table 4.1

    `zoloss datasets fetch heart`: the original from UCI, compared with our copy
    """
    if context.invoked_subcommand:
        return
    from tabulate import tabulate

    from zoloss_cli.datasets.plugin_datasets import dataset_plugins, names, plugin_datasets

    lines = [_line(name) for name in names()]
    clashes = [plugin for plugin in dataset_plugins() if plugin.name not in plugin_datasets()]
    lines += [_broken(plugin.name, plugin.clash) for plugin in clashes]
    header = ["name", "N", "features", "classes", "source", "what it is"]
    typer.echo(
        tabulate(
            lines,
            header,
            tablefmt="simple",
            maxcolwidths=[None, None, None, None, None, 64],
            disable_numparse=True,
            colalign=("left", "right", "right", "right", "left", "left"),
        )
    )
    typer.echo("\n* size and seed of a generated pool are set in the config")


@app.command()
def of(
    config: Annotated[Path, typer.Argument(help="The experiment's YAML file.")],
) -> None:
    """Describe the data of an experiment: rows to train and to test, classes and features.

    **Example:** `zoloss datasets of configs/thesis/table4.2.yaml` (Table 4.1 of Li's thesis)
    """
    from tabulate import tabulate

    from zoloss_cli.config.loader import load_config
    from zoloss_cli.datasets.dataset import load_data
    from zoloss_cli.experiment.plan import rule_of

    experiment = load_config(config)
    lines = []
    for spec in experiment.datasets:
        data, rule = load_data(spec), rule_of(experiment.split, spec)
        n_train, n_test = rule.compute_sizes(len(data.y), f"data set '{spec.name}'")
        how = "all rows" if not n_test else "given" if rule.predefined else "random"
        lines.append((spec.name, n_train, n_test or "-", how, len(data.classes), data.X.shape[1]))
    header = ["data set", "train", "test", "split", "classes", "features"]
    typer.echo(tabulate(lines, header, tablefmt="simple", colalign=("left", "right", "right", "left")))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A data set or generator.", autocompletion=completion.dataset)],
) -> None:
    """Describe one data set: source, licence, label coding, what was removed or decoded.

    **Example:** `zoloss datasets show heart`
    """
    import inspect

    from zoloss_cli.datasets.generators import find_generator, is_generated
    from zoloss_cli.datasets.plugin_datasets import find_entry, names, plugin_datasets
    from zoloss_cli.errors import suggest_nearest
    from zoloss_cli.utils.signature import parameter_model

    if name not in names():
        raise DataError(f"no data set is called '{name}'{suggest_nearest(name, names())}")
    if is_generated(name):
        function = find_generator(name)
        whose = f" of the package {plugin_datasets()[name].package}" if name in plugin_datasets() else ""
        typer.echo(f"{name}: a generator{whose}\n\n{inspect.getdoc(function)}\n\nsettings:")
        for key, fact in parameter_model(function, frozenset({"rng"})).model_fields.items():
            typer.echo(f"  {key} (default {fact.default}): {fact.description}")
        return
    e = find_entry(name)
    classes = ", ".join(f"{c}: {n}" for c, n in e.classes.items())
    facts = [
        ("rows", f"{e.rows} ({e.removed} incomplete records removed)"),
        ("features", e.features),
        ("classes", classes),
        (
            "positive",
            e.positive or "none: a problem of several classes; set positive: for one against the rest",
        ),
        ("partition", f"the first {e.train_rows} rows train" if e.train_rows else "none"),
        ("row order", e.row_order),
        ("notes", e.notes or "none"),
        ("source", _package(e.source)),
        *([("also from", _package(e.extra_source))] if e.extra_source else []),
        ("UCI id", e.uci.get("id") or "none"),
        ("licence", e.licence),
        ("attribution", e.attribution),
        ("file", e.path),
        ("sha256", e.sha256),
    ]
    typer.echo(f"{name}: {e.title}\n")
    for key, value in facts:
        typer.echo(f"  {key + ':':<13} {value}")


@app.command()
def verify() -> None:
    """Recompute the sha256, the rows, features and class counts of every embedded file.

    **Example:** `zoloss datasets verify`
    """
    from collections import Counter

    from zoloss_cli.datasets.catalog import catalog, compute_file_sha256
    from zoloss_cli.datasets.csv_reader import read_table

    wrong = []
    for e in catalog().values():
        if not e.path.is_file():
            wrong.append(f"{e.path} is missing")
            continue
        table = read_table(e.path)
        if compute_file_sha256(e.path) != e.sha256:
            wrong.append(f"{e.path}: its sha256 is not the one in catalog.yaml")
        if (len(table.labels), len(table.features)) != (e.rows, e.features):
            wrong.append(f"{e.path}: {len(table.labels)} x {len(table.features)}, not {e.rows} x {e.features}")
        if Counter(table.labels) != Counter(e.classes):
            wrong.append(f"{e.path}: its class counts are not those in catalog.yaml")
    if wrong:
        raise DataError("\n".join(wrong))
    typer.echo(f"{len(catalog())} files are what catalog.yaml says")


@app.command()
def fetch(
    name: Annotated[
        str, typer.Argument(help="An embedded data set.", autocompletion=completion.embedded_dataset)
    ],
    into: Annotated[
        Path | None, typer.Option(help="Folder for the converted CSV (default: the cache).")
    ] = None,
    archive: Annotated[
        str, typer.Option(help="Address of the UCI archive or a mirror.")
    ] = "https://archive.ics.uci.edu",
) -> None:
    """Get the original files from UCI, check them, convert them, and say how they differ from our copy.

    **Example:** `zoloss datasets fetch sonar --into originals`
    """
    from zoloss_cli.datasets.uci import download as uci

    report = uci.fetch(name, into, archive)
    checked = "sha256 as pinned" if report.pinned else "no pinned sha256 for every file; compared by value"
    typer.echo(f"{report.name}: {report.rows} rows, {report.features} features ({checked}) in {report.path}")
    for filename, sha256 in report.sha256.items():
        typer.echo(f"  {sha256}  {filename}")
    if report.differences:
        typer.echo("differs from the embedded copy:")
        for line in report.differences:
            typer.echo(f"  {line}")
    else:
        typer.echo("identical to the embedded copy")


def _package(source: dict) -> str:
    return f"{source['registry']} package {source['package']} {source['version']}, {source['path']}"


def _line(name: str) -> list:
    """One row of the list: name, N, features, classes, source, title."""
    from zoloss_cli.datasets.generators import find_generator, generate, is_generated
    from zoloss_cli.datasets.plugin_datasets import find_entry

    try:
        if is_generated(name):
            pool, title = generate(name, 1), find_generator(name).__doc__.splitlines()[0]
            return [name, f"{len(pool.y)}*", pool.X.shape[1], len(pool.classes), "generator", title]
        e = find_entry(name)
    except ConfigError as mistake:  # another package's data set
        return _broken(name, mistake)
    source = f"{e.source['package']} {e.source['version']}"
    return [e.name, e.rows, e.features, len(e.classes), source, e.title]


def _broken(name: str, mistake: ConfigError) -> list:
    return [name, "", "", "", "broken", str(mistake)]
