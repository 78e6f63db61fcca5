"""The catalog of data sets that a config can name, and their metadata.

`datasets/catalog.yaml` describes the CSV files next to it. A new embedded data set is one CSV file and one
entry there. Generators and the data sets of other packages come from the registry.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, model_validator

from zoloss_cli.config.messages import ErrorCollector, FastLoader, read_yaml
from zoloss_cli.config.models import StrictModel
from zoloss_cli.errors import ConfigError, DataError, ZolossError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS, DatasetRegistration
from zoloss_cli.utils.files import shipped_folder

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PackageFile(StrictModel):
    """The file of a public package that a data set was taken from."""

    registry: str
    package: str
    version: str
    path: str
    archive_sha256: Sha256 | None = None


class Recoding(StrictModel):
    """Values to replace by others."""

    features: dict[str, str] = Field(default_factory=dict)
    label: dict[str, str] = Field(default_factory=dict)


class UciRecipe(StrictModel):
    """How the original files of the UCI archive become the embedded table."""

    id: int | None = None  # in the archive
    zip: str = ""  # address within the archive
    files: Annotated[list[str], Field(min_length=1)]  # addresses, if there is no zip
    members: list[str] = Field(default_factory=list)  # names of files, in the order of the table
    separator: str = ","  # or 'whitespace'
    label: Literal["first", "last"] = "last"  # which field is the class
    drop: list[int] = Field(default_factory=list)  # columns to leave out, counted from 0
    drop_rows_with: str | None = None  # drop records with a field of this value
    recode: Recoding = Recoding()
    letters: dict[str, str] = Field(default_factory=dict)  # indicators by letter; others drop the record
    row_order: Literal["lost"] | None = None  # 'lost' if the archive's order is not that of the table
    sha256: dict[str, Sha256] = Field(default_factory=dict)  # known hashes of files
    withdrawn: str = ""  # why the archive no longer has the files

    @model_validator(mode="after")
    def _check_addresses(self) -> UciRecipe:
        if not self.withdrawn and not (self.zip and self.members):
            raise ValueError("needs the keys 'zip' and 'members', or 'withdrawn' with a reason")
        return self


class CatalogEntry(StrictModel):
    """A fixed table: its file, its provenance, and how it was changed."""

    name: str
    title: str
    rows: Annotated[int, Field(ge=1)]
    features: Annotated[int, Field(ge=1)]
    classes: Annotated[dict[str, int], Field(min_length=1)]  # the number of rows of each
    sha256: Sha256  # of the CSV file
    licence: str
    attribution: str  # whom to cite
    source: PackageFile
    extra_source: PackageFile | None = None
    removed: Annotated[int, Field(ge=0)] = 0  # records left out
    notes: str = ""
    row_order: str = "as in the file"
    positive: str | None = None
    train_rows: Annotated[int | None, Field(ge=1)] = None  # of the predefined training part, which come first
    uci: UciRecipe | None = None
    otherwise: str | None = None  # not embedded, but fetched; the embedded data set to use where it is not
    path: Path  # the CSV file, if embedded

    @model_validator(mode="after")
    def _check_agreement(self) -> CatalogEntry:
        """Check that redundant fields agree."""
        if sum(self.classes.values()) != self.rows:
            raise ValueError(f"classes: {sum(self.classes.values())} rows in all, but rows: {self.rows}")
        if self.positive is not None and self.positive not in self.classes:
            hint = suggest_nearest(self.positive, self.classes)
            raise ValueError(f"positive: '{self.positive}' is not one of the classes{hint}")
        if self.train_rows is not None and self.train_rows >= self.rows:
            raise ValueError(f"train_rows: {self.train_rows} leaves none of the {self.rows} rows to test")
        return self


def load_catalog() -> dict[str, CatalogEntry]:
    """Return the valid embedded data sets by name; DataError if the catalog cannot be read."""
    return _read_catalog(shipped_folder("datasets"))[0]


def list_catalog_errors() -> dict[str, str]:
    """Return the errors of the invalid entries of the catalog, by name."""
    return _read_catalog(shipped_folder("datasets"))[1]


def find_embedded_entry(name: str) -> CatalogEntry:
    """Return the entry of an embedded data set; DataError if it is unknown or invalid."""
    entries, errors = _read_catalog(shipped_folder("datasets"))
    if name in errors:
        raise DataError(errors[name])
    if name not in entries:
        raise DataError(f"unknown embedded data set '{name}'{suggest_nearest(name, entries)}")
    return entries[name]


def find_fetched_path(name: str, into: Path | None = None) -> Path:
    """Return the path of a fetched CSV, existing or not: in the folder `into`, or in the user's cache.

    The cache is the folder that ZOLOSS_CACHE names, or else zoloss in XDG_CACHE_HOME or ~/.cache.
    """
    find_embedded_entry(name)  # only a known name becomes a path
    if into is None:
        own = os.environ.get("ZOLOSS_CACHE")
        cache = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "zoloss"
        into = cache.expanduser() / "uci"
    return Path(into) / f"{name}.csv"


@functools.cache
def _read_catalog(folder: Path) -> tuple[dict[str, CatalogEntry], dict[str, str]]:
    """Return (valid entries, errors of the others), each by name."""
    path = folder / "catalog.yaml"
    try:
        # Names and classes are quoted there, so that this loader reads the same as `read_yaml`.
        content = yaml.load(path.read_bytes(), Loader=FastLoader)
        entries = {name: _complete_entry(folder, name, fields) for name, fields in content.items()}
        return {name: CatalogEntry.model_validate(entry) for name, entry in entries.items()}, {}
    except (OSError, ValueError, AttributeError, TypeError, yaml.YAMLError):
        return _read_faulty_catalog(path)


def _read_faulty_catalog(path: Path) -> tuple[dict[str, CatalogEntry], dict[str, str]]:
    """Return the valid entries, and the errors of the others with their lines."""
    try:
        content, root = read_yaml(path)
    except ConfigError as error:
        raise DataError(str(error)) from None
    entries, errors = {}, {}
    for name, fields in content.items():
        collector = ErrorCollector(path, root)
        given = _complete_entry(path.parent, name, fields) if isinstance(fields, dict) else fields
        entry = collector.validate(CatalogEntry, given, (name,))
        if entry is None:
            errors[name] = "\n".join(collector.lines)
        else:
            entries[name] = entry
    return entries, errors


def _complete_entry(folder: Path, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "name": name, "path": folder / f"{name}.csv"}


def list_dataset_names() -> list[str]:
    """Return the names of all data sets and generators that a config can use."""
    return [*load_catalog(), *list_catalog_errors(), *GENERATORS, *DATASET_PLUGINS]


def list_usable_datasets() -> list[str]:
    """Return the names of the data sets that can be used, without broken ones."""
    return [*load_catalog(), *GENERATORS, *(name for name in DATASET_PLUGINS if _is_usable(name))]


def _is_usable(name: str) -> bool:
    try:
        return has_generator(name) or bool(find_plugin_file(DATASET_PLUGINS[name]))
    except ZolossError:
        return False


def has_generator(name: str) -> bool:
    """Return whether a generator has this name, zoloss's own or another package's."""
    return name in GENERATORS or (name in DATASET_PLUGINS and DATASET_PLUGINS[name].is_generator)


def find_generator(name: str) -> DatasetRegistration:
    """Return a generator by its name; raise ConfigError if it is unknown."""
    return DATASET_PLUGINS[name] if name in DATASET_PLUGINS and has_generator(name) else GENERATORS.find(name)


def find_plugin_file(entry: DatasetRegistration) -> Path:
    """Return the CSV file of another package's data set; ConfigError if there is none."""
    plugin = entry.plugin
    assert plugin is not None, "only plug-ins have files of their own"
    try:
        path = entry.loaded()
    except ZolossError:
        raise
    except Exception as error:
        raise plugin.build_error(
            f"failed to return the path of its file: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(path, str | os.PathLike):
        raise plugin.build_error(f"returned {type(path).__name__} instead of the path of a CSV file")
    if not Path(path).is_file():
        raise plugin.build_error(f"has a file that cannot be read: there is no file {path}")
    return Path(path)
