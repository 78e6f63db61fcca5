"""The catalog of data sets: what a config can name, and what is known about each without reading its samples.

`datasets/catalog.yaml` describes the CSV files next to it. A new embedded data set is one CSV file and one
entry there. Generators and the data sets of other packages come from the registry.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from zoloss_cli.config.messages import ErrorCollector, read_yaml, shorten
from zoloss_cli.config.models import StrictModel
from zoloss_cli.errors import ConfigError, DataError, ZolossError, suggest_nearest
from zoloss_cli.registrations import DatasetRegistration
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import shipped_folder

CATALOG_FILE = "catalog.yaml"
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PackageFile(StrictModel):
    """A file in a public package from which a data set was taken."""

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
    """How the original files of the UCI archive become the embedded table.

    Attributes
    ----------
    id : int or None
        The number of the data set in the archive.
    zip : str
        The address of its zip within the archive.
    files : list of str
        The addresses of its files, if there is no zip.
    members : list of str
        The names of its files, in the order of the table.
    separator : str
        The separator between the fields of a record, or 'whitespace'.
    label : {'first', 'last'}
        Which field is the class.
    drop : list of int
        The columns to leave out, counted from 0.
    drop_rows_with : str or None
        Records with a field equal to this are left out.
    recode : Recoding
        Values to replace.
    letters : dict of {str: str}
        The indicators for each letter of a sequence; records with other letters are left out.
    row_order : {'lost'} or None
        'lost' if the archive's order is not that of the table.
    sha256 : dict of {str: str}
        The known hashes of files.
    withdrawn : str
        Why the archive no longer has the files; empty if it does.
    """

    id: int | None = None
    zip: str = ""
    files: Annotated[list[str], Field(min_length=1)]
    members: list[str] = Field(default_factory=list)
    separator: str = ","
    label: Literal["first", "last"] = "last"
    drop: list[int] = Field(default_factory=list)
    drop_rows_with: str | None = None
    recode: Recoding = Recoding()
    letters: dict[str, str] = Field(default_factory=dict)
    row_order: Literal["lost"] | None = None
    sha256: dict[str, Sha256] = Field(default_factory=dict)
    withdrawn: str = ""

    @model_validator(mode="after")
    def _check_addresses(self) -> UciRecipe:
        if not self.withdrawn and not (self.zip and self.members):
            raise ValueError("needs the keys 'zip' and 'members', or 'withdrawn' with a reason")
        return self


class CatalogEntry(StrictModel):
    """A fixed table: what the file is, where it comes from, and how it was changed.

    Attributes
    ----------
    name, title : str
        Its name in configs, and its full name.
    rows, features : int
        The size of the table.
    classes : dict of {str: int}
        The number of rows of each class.
    sha256 : str
        The hash of the CSV file.
    licence, attribution : str
        The terms of use, and whom to cite.
    source, extra_source : PackageFile
        Where the table was taken from.
    removed : int
        The number of records left out.
    notes, row_order : str
        What its users should know.
    positive : str or None
        The positive class of a binary problem.
    train_rows : int or None
        The number of rows in the predefined training part, which come first.
    uci : UciRecipe or None
        How the table is made from the original files; None if they are not in the UCI archive.
    path : Path
        The CSV file.
    """

    name: str
    title: str
    rows: Annotated[int, Field(ge=1)]
    features: Annotated[int, Field(ge=1)]
    classes: Annotated[dict[str, int], Field(min_length=1)]
    sha256: Sha256
    licence: str
    attribution: str
    source: PackageFile
    extra_source: PackageFile | None = None
    removed: Annotated[int, Field(ge=0)] = 0
    notes: str = ""
    row_order: str = "as in the file"
    positive: str | None = None
    train_rows: Annotated[int | None, Field(ge=1)] = None
    uci: UciRecipe | None = None
    path: Path

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
    """Return the embedded data sets by name; invalid entries are left out.

    Raises
    ------
    DataError
        If the catalog itself cannot be read.
    """
    return _read_catalog(shipped_folder("datasets"))[0]


def list_catalog_errors() -> dict[str, str]:
    """Return what is wrong with the invalid entries of the catalog, by name."""
    return _read_catalog(shipped_folder("datasets"))[1]


def find_embedded_entry(name: str) -> CatalogEntry:
    """Return the entry of an embedded data set; DataError if it is unknown or invalid."""
    errors = list_catalog_errors()
    if name in errors:
        raise DataError(errors[name])
    try:
        return load_catalog()[name]
    except KeyError:
        hint = suggest_nearest(name, load_catalog())
        raise DataError(f"unknown embedded data set '{name}'{hint}") from None


@functools.cache
def _read_catalog(folder: Path) -> tuple[dict[str, CatalogEntry], dict[str, str]]:
    """Return (valid entries, errors of the others), each by name."""
    path = folder / CATALOG_FILE
    try:
        # Names and classes are quoted there, so that any loader reads the same; libyaml's is ten times as fast.
        content = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return {name: _parse_entry(folder, name, fields) for name, fields in content.items()}, {}
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
        if not isinstance(fields, dict):
            collector.add((name,), f"must be a mapping of keys (got {shorten(fields)})")
        else:
            try:
                entries[name] = _parse_entry(path.parent, name, fields)
            except ValidationError as error:
                collector.add_validation_error((name,), error, CatalogEntry)
        if collector.lines:
            errors[name] = "\n".join(collector.lines)
    return entries, errors


def _parse_entry(folder: Path, name: str, fields: dict[str, Any]) -> CatalogEntry:
    return CatalogEntry.model_validate({**fields, "name": name, "path": folder / f"{name}.csv"})


def list_dataset_names() -> list[str]:
    """Return the names of all data sets and generators that a config can use."""
    return [*load_catalog(), *list_catalog_errors(), *GENERATORS, *DATASET_PLUGINS]


def list_usable_datasets() -> list[str]:
    """Return the names of those that can be used: a broken one must not hide the others."""
    return [*load_catalog(), *GENERATORS, *(name for name in DATASET_PLUGINS if _is_usable(name))]


def _is_usable(name: str) -> bool:
    try:
        entry = DATASET_PLUGINS[name]
        if not entry.is_generator:
            find_plugin_file(entry)
    except ZolossError:
        return False
    return True


def has_generator(name: str) -> bool:
    """Return whether a generator has this name, zoloss's own or another package's."""
    return name in GENERATORS or (name in DATASET_PLUGINS and DATASET_PLUGINS[name].is_generator)


def find_generator(name: str) -> DatasetRegistration:
    """Return a generator by its name; an unknown one is a ConfigError."""
    return DATASET_PLUGINS[name] if name in DATASET_PLUGINS and has_generator(name) else GENERATORS.find(name)


def find_plugin_file(entry: DatasetRegistration) -> Path:
    """Return the CSV file of another package's data set; ConfigError if there is none."""
    plugin = entry.plugin
    assert plugin is not None, "only plug-ins have files of their own"
    function = entry.loaded
    try:
        path = function()
    except ZolossError:
        raise
    except Exception as error:
        raise plugin.build_error(f"does not say where its file is: {type(error).__name__}: {error}") from error
    if not isinstance(path, str | os.PathLike):
        raise plugin.build_error(f"returned {type(path).__name__} instead of the path of a CSV file")
    if not Path(path).is_file():
        raise plugin.build_error(f"has a file that cannot be read: there is no file {path}")
    return Path(path)
