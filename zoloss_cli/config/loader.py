"""From a YAML file to a checked Experiment, or one message per mistake with its file, line and key."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import yaml

from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.learner_spec import columns, measured
from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.config.metric_checks import check_metrics, parse_metric
from zoloss_cli.config.models import (
    GIVEN,
    EmbeddedData,
    Experiment,
    Improvement,
    Preprocess,
    Published,
    Ratio,
    Split,
    Tuning,
)
from zoloss_cli.datasets.catalog import catalog
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.paths import find_shipped_config

LARGEST_FILE = 1 << 20
TEXTS = ("name", "title", "citation", "baseline")
SECTIONS = {
    "split": Split,
    "preprocess": Preprocess,
    "tuning": Tuning,
    "improvement": Improvement,
    "published": Published,
}
TOP_LEVEL = (*TEXTS, *SECTIONS, "metric", "also", "keep", "ratios", "datasets", "learners", "measures")


class NameLoader(yaml.SafeLoader):
    """Safe YAML whose keys are names, also `on` and `no`, which it would read as true and false."""

    def construct_mapping(self, node, deep=False):
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


def find_config(path: Path) -> Path:
    """The path itself, or the config of that name among those that come with zoloss."""
    if path.exists():
        return path
    if ours := find_shipped_config(path):
        return ours
    beside = sorted(p.name for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
    raise ConfigError(f"there is no config {path}{suggest_nearest(path.name, beside)}")


def load_config(path: Path) -> Experiment:
    """Read and check a config. Raises ConfigError with one line per mistake."""
    path = find_config(path)
    content, root = _read_yaml(path)
    mistakes = ErrorCollector(path, root)
    _duplicate_keys(root, mistakes)
    return build_experiment(content, path.stem, path.parent, mistakes)


def build_experiment(content: dict, name: str, folder: Path, mistakes: ErrorCollector) -> Experiment:
    """The experiment that a config's keys stand for; `folder` is what paths are relative to."""
    for key in content:
        if key not in TOP_LEVEL:
            mistakes.add((key,), f"unknown key '{key}'{suggest_nearest(key, TOP_LEVEL)}")
    values: dict[str, Any] = {"name": name}
    for key in TEXTS:
        if key in content:
            values[key] = str(content[key])
    for key in ("metric", "also"):
        if content.get(key) is not None:
            values[key] = parse_metric(key, content[key], mistakes)
    if content.get("keep") is not None:
        values["keep"] = content["keep"]
        if content["keep"] != "scores":
            mistakes.add(("keep",), f"{content['keep']!r} cannot be kept; valid: scores")
    for key, model in SECTIONS.items():
        if content.get(key) is not None:
            values[key] = mistakes.checked(model, content[key], (key,))
    if content.get("ratios") is not None:
        values["ratios"] = {
            label: mistakes.checked(Ratio, sides, ("ratios", label))
            for label, sides in _named(content, "ratios", mistakes)
        }
    seeding = getattr(values.get("preprocess"), "seeding", None)
    values["datasets"] = tuple(
        spec
        for name, entry in _named(content, "datasets", mistakes)
        if (spec := build_data_spec(name, entry, folder, mistakes)) is not None
    )
    names = [spec.name for spec in values["datasets"]]
    if "measures" in content:
        if "learners" in content:
            mistakes.add(("measures",), "a config has learners or measures, not both: make two of it")
        specs = [measured(x, entry, names, mistakes) for x, entry in _named(content, "measures", mistakes)]
    else:
        tuning = content.get("tuning") is not None
        specs = [
            columns(label, entry, names, seeding, tuning, mistakes)
            for label, entry in _named(content, "learners", mistakes)
        ]
    values["learners"] = tuple(itertools.chain(*specs))
    if mistakes.lines:
        raise ConfigError("\n".join(mistakes.lines))
    experiment = Experiment(**{k: v for k, v in values.items() if v is not None})
    check_metrics(experiment, mistakes)
    _check_given_part(experiment, mistakes)
    _check_improvement(experiment, mistakes)
    if mistakes.lines:
        raise ConfigError("\n".join(mistakes.lines))
    return experiment


def _check_given_part(experiment: Experiment, mistakes: ErrorCollector) -> None:
    """Only some data sets come in a training and a test part."""
    for data in experiment.datasets:
        if (data.train or experiment.split.train) != GIVEN:
            continue
        keys = ("datasets", data.name, "train") if data.train else ("split", "train")
        known = [name for name, entry in catalog().items() if entry.train_rows]
        if not isinstance(data, EmbeddedData) or data.dataset not in known:
            mistakes.add(
                keys,
                f"data set '{data.name}' has no training part of its own; those that do: {', '.join(known)}",
            )
        elif data.noise:
            mistakes.add(keys, f"data set '{data.name}': noise has no place in a given training part")


def _check_improvement(experiment: Experiment, mistakes: ErrorCollector) -> None:
    labels = list(dict.fromkeys(spec.label for spec in experiment.learners))
    for side, wanted in experiment.improvement or ():
        for label in wanted:
            if label not in labels:
                keys = ("improvement", side, label)
                mistakes.add(keys, f"no column is called '{label}'{suggest_nearest(label, labels)}")


def _read_yaml(path: Path):
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than a config can be ({len(raw)} bytes)")
    try:
        text = raw.decode("utf-8-sig")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.load(text, Loader=NameLoader)
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text file") from None
    except RecursionError:
        raise ConfigError(f"{path} refers to itself or is nested too deeply") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{line}: not valid YAML: {problem}") from None
    if content is None:
        raise ConfigError(f"{path} is empty")
    if not isinstance(content, dict):
        raise ConfigError(f"{path}, line 1: a config is a mapping of keys, not {type(content).__name__}")
    return content, root


def _duplicate_keys(
    root: yaml.Node, mistakes: ErrorCollector, keys: tuple = (), seen: set | None = None
) -> None:
    seen = set() if seen is None else seen
    if not isinstance(root, yaml.MappingNode) or id(root) in seen:
        return
    seen.add(id(root))
    names = [k.value for k, _ in root.value]
    for key_node, value in root.value:
        if names.count(key_node.value) > 1:
            mistakes.add((*keys, key_node.value), f"the key '{key_node.value}' is given more than once")
        _duplicate_keys(value, mistakes, (*keys, key_node.value), seen)


def _named(content: dict, key: str, mistakes: ErrorCollector) -> list[tuple[str, dict]]:
    """Entries of `datasets` or `learners`: a list of names, or a mapping from name to settings."""
    section = content.get(key)
    if not section:
        mistakes.add((key,) if key in content else (), f"'{key}' must name at least one entry")
        return []
    if isinstance(section, list):
        if not all(isinstance(name, str) for name in section):
            mistakes.add((key,), "a list must hold names only; use a mapping to give settings")
            return []
        for name in section:
            if section.count(name) > 1:
                mistakes.add((key, name), f"'{name}' is listed more than once")
        return [(name, {}) for name in dict.fromkeys(section)]
    if not isinstance(section, dict):
        mistakes.add((key,), f"must be a list of names or a mapping (got {section!r})")
        return []
    entries = []
    for name, entry in section.items():
        if entry is not None and not isinstance(entry, dict):
            mistakes.add((key, name), f"settings must be a mapping of keys (got {entry!r})")
            continue
        entries.append((str(name), dict(entry or {})))
    return entries
