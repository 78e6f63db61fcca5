"""The data sets of a config: embedded ones, generated ones, and the user's own files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from zoloss_cli.config.catalog import (
    find_embedded_entry,
    find_generator,
    find_plugin_file,
    has_generator,
    list_dataset_names,
    load_catalog,
)
from zoloss_cli.config.checks import check_metrics, parse_metrics
from zoloss_cli.config.clusters import build_cluster_settings
from zoloss_cli.config.learners import ColumnBuilder
from zoloss_cli.config.messages import ErrorCollector, Keys, check_duplicate_keys, read_yaml, shorten
from zoloss_cli.config.models import (
    PREDEFINED,
    CsvData,
    DataSpec,
    EmbeddedData,
    Experiment,
    GeneratedData,
    Improvement,
    LearnerSpec,
    Preprocess,
    Published,
    Ratio,
    Split,
    Tuning,
)
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.files import find_shipped_config, list_shipped_configs
from zoloss_cli.utils.text import check_file_name, is_utf8


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


TEXTS = ("name", "title", "citation", "baseline")
SECTIONS = {
    "split": Split,
    "preprocess": Preprocess,
    "tuning": Tuning,
    "improvement": Improvement,
    "published": Published,
}
KEPT = ("scores", "probabilities")
TOP_LEVEL = (
    *(*TEXTS, *SECTIONS, "metric", "also", "metrics", "keep", "ratios"),
    *("datasets", "learners", "measures", "run"),
)


def find_config(path: Path) -> Path:
    """Return the path itself, or that of the config with this name that comes with zoloss."""
    try:
        ours = find_shipped_config(path)
        if path.is_file() or (path.exists() and ours is None):
            return path
        if ours is not None:
            return ours
        beside = sorted(p.name for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
    except (OSError, ValueError) as error:  # a path that is too long, or in an unreadable folder
        problem = getattr(error, "strerror", None) or error
        raise ConfigError(f"{shorten(str(path))} cannot be read: {problem}") from None
    short = path.as_posix().removeprefix("configs/").removesuffix(".yaml")
    nearest = suggest_nearest(path.name, beside) or suggest_nearest(short, list_shipped_configs())
    raise ConfigError(f"there is no config {path}{nearest}")


def load_config(path: Path) -> Experiment:
    """Read and validate a config; a ConfigError has one line per error."""
    path = find_config(path)
    content, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    return build_experiment(content, path.stem, path.parent, errors)


def build_experiment(content: dict, name: str, folder: Path, errors: ErrorCollector) -> Experiment:
    """Return the experiment that a config's keys describe.

    Parameters
    ----------
    content : dict
        The keys.
    name : str
        The experiment's name, if the keys have none.
    folder : Path
        The folder that paths are relative to.
    errors : ErrorCollector
        Collects what is wrong; at the end, everything is raised as one ConfigError.
    """
    for key in content:
        if key not in TOP_LEVEL:
            errors.add((key,), f"unknown key '{key}'{errors.suggest(key, TOP_LEVEL)}")
    values = _parse_texts(content, name, errors)
    values |= _parse_metrics(content, errors)
    values |= _parse_sections(content, errors)
    values["datasets"] = tuple(
        spec
        for name, entry in _list_entries(content, "datasets", errors)
        if (spec := build_data_spec(name, entry, folder, errors)) is not None
    )
    seeding = getattr(values.get("preprocess"), "seeding", None)
    values["learners"] = _parse_columns(content, [data.name for data in values["datasets"]], seeding, errors)
    if content.get("run") is not None:
        build_cluster_settings(content["run"], ("run",), errors)  # only checked: it does not affect results
    errors.raise_errors()
    experiment = Experiment(**{k: v for k, v in values.items() if v is not None})
    check_metrics(experiment, content, errors)
    _check_predefined_part(experiment, errors)
    _check_improvement(experiment, errors)
    errors.raise_errors()
    for text in _list_texts(experiment.model_dump()):
        if not is_utf8(text):  # YAML always is, but not the name of a file or an argument
            raise ConfigError(f"{text!r} is not UTF-8 text, as names and paths in results must be; rename it")
    return experiment


def _list_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, which may hold others."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _list_texts(each)


def _parse_texts(content: dict, name: str, errors: ErrorCollector) -> dict[str, Any]:
    """Return the keys with text values; `name` is the experiment's name if the config has none."""
    values: dict[str, Any] = {"name": name}
    for key in TEXTS:
        if isinstance(content.get(key), list | dict | set | bytes):
            errors.add((key,), f"must be text (got {shorten(content[key])})")
        elif content.get(key) is not None:
            values[key] = str(content[key])
        elif key == "name" and key in content:
            values[key] = ""
    try:
        check_file_name(values["name"])
    except ValueError as error:
        origin = "" if "name" in content else "the name of the config, which has no key 'name', "
        errors.add(("name",) if "name" in content else (), f"{origin}{error}")
    return values


def _parse_metrics(content: dict, errors: ErrorCollector) -> dict[str, Any]:
    """Return the metrics that the table shows, and what records keep for them."""
    values = parse_metrics(content, errors)
    if content.get("keep") is not None:
        values["keep"] = content["keep"]
        if content["keep"] not in KEPT:
            errors.add(("keep",), f"{shorten(content['keep'])} cannot be kept; valid: {', '.join(KEPT)}")
    return values


def _parse_sections(content: dict, errors: ErrorCollector) -> dict[str, Any]:
    """Return the sections that are one model each, and the ratios."""
    values: dict[str, Any] = {
        key: errors.validate(model, content[key], (key,))
        for key, model in SECTIONS.items()
        if content.get(key) is not None
    }
    if content.get("ratios") is not None:
        values["ratios"] = {
            label: errors.validate(Ratio, sides, ("ratios", label))
            for label, sides in _list_entries(content, "ratios", errors)
        }
    return values


def _parse_columns(
    content: dict, datasets: list[str], seeding: str | None, errors: ErrorCollector
) -> tuple[LearnerSpec, ...]:
    """Return the learners or measures, in the order of the table's columns."""
    section = "measures" if "measures" in content else "learners"
    if section == "measures" and "learners" in content:
        errors.add(("measures",), "a config has learners or measures, not both: split it into two configs")
    builder = ColumnBuilder(section, datasets, errors, seeding, content.get("tuning") is not None)
    entries = _list_entries(content, section, errors)
    return tuple(spec for label, entry in entries for spec in builder.build(label, entry))


def _check_predefined_part(experiment: Experiment, errors: ErrorCollector) -> None:
    """Add an error for each data set without a training part of its own."""
    for data in experiment.datasets:
        if (data.train or experiment.split.train) != PREDEFINED:
            continue
        keys = ("datasets", data.name, "train") if data.train else ("split", "train")
        known = [name for name, entry in load_catalog().items() if entry.train_rows]
        if not isinstance(data, EmbeddedData) or data.dataset not in known:
            errors.add(
                keys,
                f"data set '{data.name}' has no training part of its own; those that do: {', '.join(known)}",
            )
        elif data.noise:
            errors.add(keys, f"data set '{data.name}': noise cannot be added to a predefined training part")


def _check_improvement(experiment: Experiment, errors: ErrorCollector) -> None:
    """Add an error for each unknown column of the improvement."""
    labels = list(dict.fromkeys(spec.label for spec in experiment.learners))
    for side, wanted in experiment.improvement or ():
        for label in wanted:
            if label not in labels:
                keys = ("improvement", side, label)
                errors.add(keys, f"unknown column '{label}'{suggest_nearest(label, labels)}")


def _list_entries(content: dict, key: str, errors: ErrorCollector) -> list[tuple[str, dict]]:
    """Return (name, settings) of each entry of a section: names, or a mapping from names to settings."""
    section = content.get(key)
    if not section:
        errors.add((key,) if key in content else (), f"'{key}' must name at least one entry")
        return []
    if isinstance(section, list):
        if not all(isinstance(name, str) for name in section):
            errors.add((key,), "a list must hold names only; use a mapping to give settings")
            return []
        for name, count in Counter(section).items():
            if count > 1:
                errors.add((key, name), f"'{name}' is listed more than once")
        return [(name, {}) for name in dict.fromkeys(section)]
    if not isinstance(section, dict):
        errors.add((key,), f"must be a list of names or a mapping (got {shorten(section)})")
        return []
    entries = []
    for name, entry in section.items():
        if entry is not None and not isinstance(entry, dict):
            errors.add((key, name), f"settings must be a mapping of keys (got {shorten(entry)})")
            continue
        entries.append((str(name), dict(entry or {})))
    return entries
