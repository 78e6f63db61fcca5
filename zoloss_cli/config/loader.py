"""From a YAML file to a validated Experiment, or one message per error with its file, line and key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zoloss_cli.config.catalog import load_catalog
from zoloss_cli.config.cluster_spec import build_cluster_settings
from zoloss_cli.config.data_models import PREDEFINED, EmbeddedData
from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.learner_spec import ColumnBuilder
from zoloss_cli.config.messages import ErrorCollector, shorten
from zoloss_cli.config.metric_checks import check_metrics, parse_metrics
from zoloss_cli.config.models import (
    Experiment,
    Improvement,
    LearnerSpec,
    Preprocess,
    Published,
    Ratio,
    Split,
    Tuning,
)
from zoloss_cli.config.yaml_reader import check_duplicate_keys, read_yaml
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.names import check_file_name, is_utf8
from zoloss_cli.utils.paths import find_shipped_config, list_shipped_configs

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
