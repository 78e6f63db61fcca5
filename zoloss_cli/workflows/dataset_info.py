"""Descriptions of data sets and generators, and a check that the embedded files are unchanged."""

from __future__ import annotations

import inspect
from collections import Counter

from tabulate import tabulate

from zoloss_cli.config.catalog import (
    CatalogEntry,
    PackageFile,
    find_generator,
    has_generator,
    list_catalog_errors,
    list_dataset_names,
    load_catalog,
)
from zoloss_cli.config.models import Experiment
from zoloss_cli.datasets.csv_reader import compute_file_sha256, read_table
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.datasets.pool import generate
from zoloss_cli.datasets.tables import find_entry
from zoloss_cli.datasets.uci.download import FetchReport
from zoloss_cli.errors import DataError, ZolossError, suggest_nearest
from zoloss_cli.experiment.plan import find_split_rule
from zoloss_cli.registry import DATASET_PLUGINS


def list_datasets() -> str:
    """Return a table of all data sets and generators, including those of other packages."""
    lines = [_summarize(name) for name in list_dataset_names()]
    clashes = [plugin for plugin in DATASET_PLUGINS.plugins if plugin.name not in DATASET_PLUGINS]
    lines += [_describe_broken(plugin.name, plugin.name_error) for plugin in clashes]
    table = tabulate(
        lines,
        ["name", "N", "features", "classes", "source", "what it is"],
        tablefmt="simple",
        maxcolwidths=[None, None, None, None, None, 64],
        disable_numparse=True,
        colalign=("left", "right", "right", "right", "left", "left"),
    )
    return f"{table}\n\n* size and seed of a generated pool are set in the config"


def describe_experiment_data(experiment: Experiment) -> str:
    """Return a table of an experiment's data sets: training and test samples, classes and features."""
    lines = []
    for spec in experiment.datasets:
        data, rule = load_data(spec), find_split_rule(experiment.split, spec)
        n_train, n_test = rule.compute_sizes(len(data.y), f"data set '{spec.name}'")
        split = "none" if not n_test else "predefined" if rule.predefined else "random"
        lines.append((spec.name, n_train, n_test or "-", split, len(data.classes), data.X.shape[1]))
    header = ["data set", "train", "test", "split", "classes", "features"]
    return tabulate(lines, header, tablefmt="simple", colalign=("left", "right", "right", "left"))


def describe_dataset(name: str) -> str:
    """Return what is known about a data set, or the docstring and settings of a generator."""
    if name not in list_dataset_names():
        raise DataError(f"unknown data set '{name}'{suggest_nearest(name, list_dataset_names())}")
    return _describe_generator(name) if has_generator(name) else _describe_entry(name, find_entry(name))


def verify_embedded() -> int:
    """Compare every embedded file with its catalog entry, and return the number of files.

    Raises
    ------
    DataError
        With a line for each difference.
    """
    entries = load_catalog().values()
    differences = [line for entry in entries for line in _find_differences(entry)]
    if faults := [*list_catalog_errors().values(), *differences]:
        raise DataError("\n".join(faults))
    return len(entries)


def render_fetch_report(report: FetchReport) -> str:
    """Return what was fetched from UCI, its checksums, and how it differs from the embedded copy."""
    checked = "sha256 as pinned" if report.pinned else "no pinned sha256 for every file; compared by value"
    lines = [f"{report.name}: {report.rows} rows, {report.features} features ({checked}) in {report.path}"]
    lines += [f"  {sha256}  {filename}" for filename, sha256 in report.sha256.items()]
    if report.differences:
        lines += ["differs from the embedded copy:", *(f"  {line}" for line in report.differences)]
    else:
        lines.append("identical to the embedded copy")
    return "\n".join(lines)


def _summarize(name: str) -> list:
    try:
        if has_generator(name):
            pool, summary = generate(name, 1), (find_generator(name).loaded.__doc__ or "").partition("\n")[0]
            return [name, f"{len(pool.y)}*", pool.X.shape[1], len(pool.classes), "generator", summary]
        entry = find_entry(name)
    except ZolossError as error:  # another package's data set, or a broken catalog entry
        return _describe_broken(name, error)
    source = f"{entry.source.package} {entry.source.version}"
    return [entry.name, entry.rows, entry.features, len(entry.classes), source, entry.title]


def _describe_broken(name: str, error: ZolossError) -> list:
    return [name, "", "", "", "broken", str(error)]


def _describe_generator(name: str) -> str:
    generator = find_generator(name)
    whose = f" of the package {generator.package}" if generator.package else ""
    settings = generator.parameter_model.model_fields
    return "\n".join(
        [
            f"{name}: a generator{whose}\n\n{inspect.getdoc(generator.loaded)}\n\nsettings:",
            *(f"  {key} (default {field.default}): {field.description}" for key, field in settings.items()),
        ]
    )


def _describe_entry(name: str, entry: CatalogEntry) -> str:
    positive = entry.positive or "none: a problem of several classes; set positive: for one against the rest"
    facts = [
        ("samples", f"{entry.rows} ({entry.removed} incomplete records removed)"),
        ("features", entry.features),
        ("classes", ", ".join(f"{label}: {count}" for label, count in entry.classes.items())),
        ("positive", positive),
        ("partition", f"the first {entry.train_rows} rows train" if entry.train_rows else "none"),
        ("row order", entry.row_order),
        ("notes", entry.notes or "none"),
        ("source", _describe_source(entry.source)),
        *([("also from", _describe_source(entry.extra_source))] if entry.extra_source else []),
        ("UCI id", (entry.uci and entry.uci.id) or "none"),
        ("licence", entry.licence),
        ("attribution", entry.attribution),
        ("file", entry.path),
        ("sha256", entry.sha256),
    ]
    return "\n".join([f"{name}: {entry.title}\n", *(f"  {key + ':':<13} {value}" for key, value in facts)])


def _describe_source(source: PackageFile) -> str:
    return f"{source.registry} package {source.package} {source.version}, {source.path}"


def _find_differences(entry: CatalogEntry) -> list[str]:
    if not entry.path.is_file():
        return [f"{entry.path} is missing"]
    table, differences = read_table(entry.path), []
    if compute_file_sha256(entry.path) != entry.sha256:
        differences.append(f"{entry.path}: its sha256 is not the one in catalog.yaml")
    shape = (len(table.labels), len(table.features))
    if shape != (entry.rows, entry.features):
        differences.append(f"{entry.path}: {shape[0]} x {shape[1]}, not {entry.rows} x {entry.features}")
    if Counter(table.labels) != Counter(entry.classes):
        differences.append(f"{entry.path}: its class counts are not those in catalog.yaml")
    return differences
