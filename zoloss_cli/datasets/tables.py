"""Fixed tables by name: those that come with zoloss, and those of other packages."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from pathlib import Path

from zoloss_cli.config.catalog import CatalogEntry, PackageFile, find_embedded_entry, find_plugin_file
from zoloss_cli.datasets.csv_reader import compute_file_sha256, read_table
from zoloss_cli.errors import ZolossError
from zoloss_cli.registry import DATASET_PLUGINS


def find_entry(name: str) -> CatalogEntry:
    """Return what is known about a fixed table, embedded or of another package; DataError if there is none."""
    if name in DATASET_PLUGINS and not DATASET_PLUGINS[name].is_generator:
        return _describe_plugin_table(name)
    return find_embedded_entry(name)


@functools.cache
def _describe_plugin_table(name: str) -> CatalogEntry:
    """Return the entry of another package's table, which is read to count its rows."""
    registration = DATASET_PLUGINS[name]
    plugin = registration.plugin
    assert plugin is not None, "every data set of this registry is a plug-in"
    path = Path(find_plugin_file(registration))
    try:
        table = read_table(path)
    except ZolossError as error:
        raise plugin.build_error(f"has a file that cannot be read: {error}") from error
    title, _, notes = (inspect.getdoc(registration.loaded) or "").partition("\n")
    package, _, version = plugin.package.partition(" ")
    classes = dict(sorted(Counter(table.labels).items()))
    return CatalogEntry(
        name=name,
        title=title,
        rows=len(table.labels),
        features=len(table.features),
        classes=classes,
        sha256=compute_file_sha256(path),
        licence=f"see {package}",
        attribution=f"see {package}",
        source=PackageFile(registry="installed", package=package, version=version, path=path.name),
        notes=notes.strip(),
        positive=max(classes) if len(classes) == 2 else None,
        path=path,
    )
