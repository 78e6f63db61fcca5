"""The data sets of a config: embedded ones, generated ones, and the user's own files."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.config.models import CsvData, DataSpec, EmbeddedData, GeneratedData
from zoloss_cli.datasets.generators import GENERATORS, find_generator, is_generated
from zoloss_cli.datasets.plugin_datasets import find_entry as entry_of
from zoloss_cli.datasets.plugin_datasets import names, plugin_datasets
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.signature import parameter_model


def build_data_spec(name: str, entry: dict, folder: Path, mistakes: ErrorCollector) -> DataSpec | None:
    """The data set of an entry; `folder` is where the paths of its files begin."""
    keys = ("datasets", name)
    try:
        return _data_spec(name, entry, folder, keys, mistakes)
    except ConfigError as broken:  # another package's data set
        mistakes.add(keys, str(broken))
        return None


def _data_spec(name: str, entry: dict, folder: Path, keys: tuple, mistakes: ErrorCollector) -> DataSpec | None:
    _name_class(entry, "positive")
    if isinstance(entry.get("noise"), dict):
        entry["noise"] = dict(entry["noise"])
        _name_class(entry["noise"], "label")
    if "csv" in entry:
        if isinstance(entry["csv"], str):
            entry["csv"] = str(folder / entry["csv"])
        return mistakes.checked(CsvData, {"name": name, **entry}, keys)
    source = entry.get("generator", entry.get("dataset", name))
    if "generator" in entry or (is_generated(source) and "dataset" not in entry):
        return _generated(name, source, entry, keys, mistakes)
    if source not in names() or is_generated(source):
        mistakes.add(keys, f"no data set or generator is called '{source}'{suggest_nearest(source, names())}")
        return None
    if source in plugin_datasets():
        entry_of(source)  # a file that cannot be read is a mistake of the config, as a broken generator is
    return mistakes.checked(EmbeddedData, {"name": name, "dataset": source, **entry}, keys)


def _name_class(entry: dict, key: str) -> None:
    """Classes are names, also those that YAML reads as numbers."""
    if isinstance(entry.get(key), int | float):
        entry[key] = str(entry[key])


def _generated(name: str, source: str, entry: dict, keys: tuple, mistakes: ErrorCollector):
    if not is_generated(source):
        known = [*GENERATORS, *plugin_datasets()]
        mistakes.add((*keys, "generator"), f"no generator is called '{source}'{suggest_nearest(source, known)}")
        return None
    model = parameter_model(find_generator(source), frozenset({"rng"}))
    own = set(model.model_fields) - {"size"}
    settings = {k: v for k, v in entry.items() if k in own}
    common = {k: v for k, v in entry.items() if k not in own}
    common.setdefault("size", model.model_fields["size"].default)
    try:
        filled = model.model_validate(settings).model_dump(exclude={"size"})
    except ValidationError as error:
        mistakes.add_all(keys, error, list(own))
        return None
    valid = {k for k in GeneratedData.model_fields if k != "settings"} | own
    for key in [k for k in common if k not in valid]:
        mistakes.add((*keys, key), f"unknown key '{key}'{suggest_nearest(key, valid)}")
        del common[key]
    common.update(name=name, generator=source, settings=tuple(sorted(filled.items())))
    return mistakes.checked(GeneratedData, common, keys)
