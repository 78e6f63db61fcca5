"""The data sets of a config: embedded ones, generated ones, and the user's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from zoloss_cli.config.catalog import (
    find_embedded_entry,
    find_generator,
    find_plugin_file,
    has_generator,
    list_dataset_names,
)
from zoloss_cli.config.data_models import CsvData, DataSpec, EmbeddedData, GeneratedData
from zoloss_cli.config.messages import ErrorCollector, Keys, shorten
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS


def build_data_spec(name: str, entry: dict, folder: Path, errors: ErrorCollector) -> DataSpec | None:
    """Return the data set that an entry of the section `datasets` describes.

    Parameters
    ----------
    name : str
        The entry's name.
    entry : dict
        Its settings, which are modified.
    folder : Path
        The folder that the paths of files are relative to.
    errors : ErrorCollector
        Collects what is wrong with the entry.

    Returns
    -------
    EmbeddedData, GeneratedData, CsvData or None
        None if something is wrong.
    """
    keys = ("datasets", name)
    _convert_class_to_text(entry, "positive")
    if isinstance(entry.get("noise"), dict):
        entry["noise"] = dict(entry["noise"])
        _convert_class_to_text(entry["noise"], "label")
    try:
        if "csv" in entry:
            return _build_csv(name, entry, folder, keys, errors)
        source = entry.get("generator", entry.get("dataset", name))
        if not isinstance(source, str):
            errors.add(keys, f"'generator' or 'dataset' must be a name (got {shorten(source)})")
            return None
        if "generator" in entry or (has_generator(source) and "dataset" not in entry):
            return _build_generated(name, source, entry, keys, errors)
        return _build_embedded(name, source, entry, keys, errors)
    except (ConfigError, DataError) as error:  # another package's data set, or an entry of the catalog
        errors.add(keys, str(error))
        return None


def _convert_class_to_text(entry: dict, key: str) -> None:
    """Turn a class into a name, even if YAML reads it as a number."""
    if isinstance(entry.get(key), int | float):
        entry[key] = str(entry[key])


def _build_csv(name: str, entry: dict, folder: Path, keys: Keys, errors: ErrorCollector) -> CsvData | None:
    if isinstance(entry["csv"], str):
        entry["csv"] = str(folder / entry["csv"])
    return errors.validate(CsvData, {"name": name, **entry}, keys)


def _build_embedded(
    name: str, source: str, entry: dict, keys: Keys, errors: ErrorCollector
) -> EmbeddedData | None:
    if source not in list_dataset_names() or has_generator(source):
        errors.add(keys, f"unknown data set '{source}'{errors.suggest(source, list_dataset_names())}")
        return None
    if source in DATASET_PLUGINS:
        find_plugin_file(DATASET_PLUGINS[source])  # a missing file is an error of the config
    else:
        find_embedded_entry(source)
    return errors.validate(EmbeddedData, {"name": name, "dataset": source, **entry}, keys)


def _build_generated(
    name: str, source: str, entry: dict, keys: Keys, errors: ErrorCollector
) -> GeneratedData | None:
    if not has_generator(source):
        known = [*GENERATORS, *DATASET_PLUGINS]
        errors.add((*keys, "generator"), f"unknown generator '{source}'{errors.suggest(source, known)}")
        return None
    model = find_generator(source).parameter_model
    own = set(model.model_fields) - {"size"}
    settings: dict[str, Any] = {k: v for k, v in entry.items() if k in own}
    common = {k: v for k, v in entry.items() if k not in own}
    common.setdefault("size", model.model_fields["size"].default)
    try:
        filled = model.model_validate(settings).model_dump(exclude={"size"})
    except ValidationError as error:
        errors.add_validation_error(keys, error, model)
        return None
    valid = {k for k in GeneratedData.model_fields if k != "settings"} | own
    for key in [k for k in common if k not in valid]:
        errors.add((*keys, key), f"unknown key '{key}'{errors.suggest(key, valid)}")
        del common[key]
    common.update(name=name, generator=source, settings=tuple(sorted(filled.items())))
    return errors.validate(GeneratedData, common, keys)
