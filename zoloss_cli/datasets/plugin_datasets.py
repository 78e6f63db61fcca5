"""Data sets of other packages, through the entry point group `zoloss.datasets`: name = "module:function".

The function is a generator as those in generators.py, whose first parameter is `rng`; or it has no
parameters and returns the path of a CSV file. Its docstring says what the data set is.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from zoloss_cli.datasets import catalog as ours
from zoloss_cli.datasets.catalog import Entry, catalog, compute_file_sha256
from zoloss_cli.datasets.csv_reader import read_table
from zoloss_cli.errors import ConfigError, ZolossError
from zoloss_cli.plugins import Plugin, plugins
from zoloss_cli.registry import GENERATORS
from zoloss_cli.utils.signature import parameter_model

RNG = "rng"


@functools.cache
def dataset_plugins() -> list[Plugin]:
    """The data sets of installed packages, also those that cannot be used."""
    return plugins("data set", {*catalog(), *GENERATORS})


@functools.cache
def plugin_datasets() -> dict[str, Plugin]:
    """Them by name, where the name is not one of ours."""
    return {p.name: p for p in dataset_plugins() if p.name not in catalog() and p.name not in GENERATORS}


def names() -> list[str]:
    """Every data set and generator that a config may name."""
    return [*catalog(), *GENERATORS, *plugin_datasets()]


def working_names() -> list[str]:
    """Those that can be used: a broken package must not keep the others from being listed."""
    return [name for name in names() if name not in plugin_datasets() or _works(plugin_datasets()[name])]


def _works(plugin: Plugin) -> bool:
    try:
        if not is_generator(plugin_function(plugin)):
            _table_entry(plugin)
    except ConfigError:
        return False
    return True


@functools.cache
def plugin_function(plugin: Plugin) -> Callable:
    """The generator, or the function that knows the file; a generator's settings can be checked."""
    function = plugin.load()
    if not inspect.isfunction(function):
        raise plugin.mistake("is no function")
    if not function.__doc__:
        raise plugin.mistake("has no docstring")
    if is_generator(function):
        try:
            settings = parameter_model(function, frozenset({RNG})).model_fields
        except Exception as error:
            reason = " ".join(str(error).split())
            raise plugin.mistake(f"has settings that cannot be checked: {reason}") from error
        without = [key for key, fact in settings.items() if fact.is_required()]
        if "size" not in settings or without:
            raise plugin.mistake("must have a setting 'size', and a default for every setting")
    elif inspect.signature(function).parameters:
        raise plugin.mistake(f"must take no parameters, or '{RNG}' as its first")
    return function


def is_generator(function: Callable) -> bool:
    return next(iter(inspect.signature(function).parameters), None) == RNG


def find_entry(name: str) -> Entry:
    """What is known of one fixed table: ours, or one that another package brings."""
    plugin = plugin_datasets().get(name)
    if plugin is None or is_generator(plugin_function(plugin)):
        return ours.find_entry(name)
    return _table_entry(plugin)


@functools.cache
def _table_entry(plugin: Plugin) -> Entry:
    try:
        path = plugin_function(plugin)()
    except ZolossError:
        raise
    except Exception as error:
        raise plugin.mistake(f"does not say where its file is: {type(error).__name__}: {error}") from error
    if not isinstance(path, str | os.PathLike):
        raise plugin.mistake(f"returned {type(path).__name__} instead of the path of a CSV file")
    path = Path(path)
    try:
        table = read_table(path)
    except ZolossError as error:
        raise plugin.mistake(f"has a file that cannot be read: {error}") from error
    title, _, notes = inspect.getdoc(plugin_function(plugin)).partition("\n")
    package, _, version = plugin.package.partition(" ")
    classes = dict(sorted(Counter(table.labels).items()))
    return Entry(
        name=plugin.name,
        title=title,
        rows=len(table.labels),
        features=len(table.features),
        classes=classes,
        sha256=compute_file_sha256(path),
        removed=0,
        notes=notes.strip(),
        row_order="as in the file",
        source={"registry": "installed", "package": package, "version": version, "path": path.name},
        licence=f"see {package}",
        attribution=f"see {package}",
        uci={},
        positive=max(classes) if len(classes) == 2 else None,
        file=path,
    )
