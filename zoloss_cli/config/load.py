"""From a YAML file to a checked Experiment, or one message per mistake with its file, line and key."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from zoloss_cli.config.models import (
    METRICS,
    SECOND_METRICS,
    CsvData,
    EmbeddedData,
    Experiment,
    GeneratedData,
    LearnerSpec,
    Preprocess,
    Published,
    Split,
)
from zoloss_cli.datasets.catalog import catalog
from zoloss_cli.datasets.generators import GENERATORS
from zoloss_cli.errors import ConfigError, nearest
from zoloss_cli.paths import shipped
from zoloss_cli.registry import learners, nested_learners, parameters, registration
from zoloss_cli.signatures import parameter_model

LARGEST_FILE = 1 << 20
TEXTS = ("name", "title", "citation", "baseline")
TOP_LEVEL = (*TEXTS, "published", "metric", "also", "split", "preprocess", "datasets", "learners")


class Mistakes:
    """Collects mistakes of one file, each with the key path that it is about."""

    def __init__(self, path: Path, root: yaml.Node | None):
        self.path, self.root, self.lines = path, root, []

    def add(self, keys: tuple, message: str) -> None:
        where = ".".join(str(k) for k in keys)
        line = f"{self.path}, line {self._line(keys)}: {where + ': ' if where else ''}{message}"
        if line not in self.lines:
            self.lines.append(line)

    def add_all(self, keys: tuple, error: ValidationError, valid: list[str]) -> None:
        """Every mistake that pydantic found below `keys`."""
        for e in error.errors():
            loc = tuple(p for p in e["loc"] if self.exists((*keys, *e["loc"][:1])) or p in valid)[:1]
            if e["type"] == "extra_forbidden":
                name = e["loc"][-1]
                self.add((*keys, name), f"unknown key '{name}'{nearest(name, valid)}")
            elif e["type"] == "missing":
                self.add(keys, f"the key '{e['loc'][-1]}' is missing")
            elif e["type"] == "literal_error":
                options = e["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
                hint = nearest(e["input"], options) or f"; valid: {', '.join(options)}"
                self.add((*keys, *loc), f"{e['input']!r} is not valid{hint}")
            else:
                text = e["msg"].removeprefix("Value error, ")
                self.add((*keys, *loc), f"{text[:1].lower()}{text[1:]} (got {e['input']!r})")

    def _node(self, keys: tuple):
        node, key_node = self.root, None
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                hits = [(k, v) for k, v in node.value if k.value == str(key)]
                if not hits:
                    return node, key_node, False
                key_node, node = hits[-1]
            elif isinstance(node, yaml.SequenceNode):
                hits = [v for v in node.value if getattr(v, "value", None) == str(key)]
                if not hits:
                    return node, key_node, False
                node = key_node = hits[0]
            else:
                return node, key_node, False
        return node, key_node, True

    def _line(self, keys: tuple) -> int:
        if self.root is None:
            return 1
        node, key_node, _ = self._node(keys)
        return ((key_node or node).start_mark.line) + 1

    def exists(self, keys: tuple) -> bool:
        return self.root is not None and self._node(keys)[2]


def find_config(path: Path) -> Path:
    """The path itself, or the config of that name among those that come with zoloss."""
    if path.exists():
        return path
    parts = path.parts[1:] if path.parts[:1] == ("configs",) else path.parts
    ours = shipped("configs").joinpath(*parts)
    if ours.is_file() and not path.is_absolute():
        return ours
    beside = sorted(p.name for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
    raise ConfigError(f"there is no config {path}{nearest(path.name, beside)}")


def load_config(path: Path) -> Experiment:
    """Read and check a config. Raises ConfigError with one line per mistake."""
    path = find_config(path)
    content, root = _read_yaml(path)
    mistakes = Mistakes(path, root)
    _duplicate_keys(root, mistakes)
    for key in content:
        if key not in TOP_LEVEL:
            mistakes.add((key,), f"unknown key '{key}'{nearest(key, TOP_LEVEL)}")
    values: dict[str, Any] = {"name": path.stem}
    for key in TEXTS:
        if key in content:
            values[key] = str(content[key])
    for key, metrics in (("metric", METRICS), ("also", SECOND_METRICS)):
        if content.get(key) is not None:
            if content[key] not in metrics:
                mistakes.add((key,), f"{content[key]!r} cannot be shown here{nearest(content[key], metrics)}")
            values[key] = content[key]
    for key, model in (("split", Split), ("preprocess", Preprocess), ("published", Published)):
        if content.get(key) is not None:
            values[key] = _section(model, content[key], (key,), mistakes)
    seeding = getattr(values.get("preprocess"), "seeding", None)
    values["datasets"] = tuple(
        spec
        for name, entry in _named(content, "datasets", mistakes)
        if (spec := _data_spec(name, entry, path.parent, mistakes)) is not None
    )
    values["learners"] = tuple(
        spec
        for label, entry in _named(content, "learners", mistakes)
        for spec in _column(label, entry, seeding, mistakes)
    )
    if mistakes.lines:
        raise ConfigError("\n".join(mistakes.lines))
    return Experiment(**{k: v for k, v in values.items() if v is not None})


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
        content = yaml.safe_load(text)
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


def _duplicate_keys(root: yaml.Node, mistakes: Mistakes, keys: tuple = (), seen: set | None = None) -> None:
    seen = set() if seen is None else seen
    if not isinstance(root, yaml.MappingNode) or id(root) in seen:
        return
    seen.add(id(root))
    names = [k.value for k, _ in root.value]
    for key_node, value in root.value:
        if names.count(key_node.value) > 1:
            mistakes.add((*keys, key_node.value), f"the key '{key_node.value}' is given more than once")
        _duplicate_keys(value, mistakes, (*keys, key_node.value), seen)


def _section(model, value, keys: tuple, mistakes: Mistakes):
    if not isinstance(value, dict):
        mistakes.add(keys, f"must be a mapping of keys (got {value!r})")
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        mistakes.add_all(keys, error, list(model.model_fields))
        return None


def _named(content: dict, key: str, mistakes: Mistakes) -> list[tuple[str, dict]]:
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


def _data_spec(name: str, entry: dict, folder: Path, mistakes: Mistakes):
    keys = ("datasets", name)
    if "positive" in entry and isinstance(entry["positive"], int | float):
        entry["positive"] = str(entry["positive"])
    if "csv" in entry:
        if isinstance(entry["csv"], str):
            entry["csv"] = str(folder / entry["csv"])
        return _section(CsvData, {"name": name, **entry}, keys, mistakes)
    source = entry.get("generator", entry.get("dataset", name))
    if "generator" in entry or (source in GENERATORS and "dataset" not in entry):
        return _generated(name, source, entry, keys, mistakes)
    if source not in catalog():
        known = [*catalog(), *GENERATORS]
        mistakes.add(keys, f"no data set or generator is called '{source}'{nearest(source, known)}")
        return None
    return _section(EmbeddedData, {"name": name, "dataset": source, **entry}, keys, mistakes)


def _generated(name: str, source: str, entry: dict, keys: tuple, mistakes: Mistakes):
    if source not in GENERATORS:
        mistakes.add((*keys, "generator"), f"no generator is called '{source}'{nearest(source, GENERATORS)}")
        return None
    model = parameter_model(GENERATORS[source], frozenset({"rng"}))
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
        mistakes.add((*keys, key), f"unknown key '{key}'{nearest(key, valid)}")
        del common[key]
    common.update(name=name, generator=source, settings=tuple(sorted(filled.items())))
    return _section(GeneratedData, common, keys, mistakes)


def _column(label: str, entry: dict, seeding: str | None, mistakes: Mistakes) -> list[LearnerSpec]:
    """The learner of a column, or one for each combination of the values that `best_of` lists."""
    options = entry.pop("best_of", None) or {}
    keys = ("learners", label, "best_of")
    if not isinstance(options, dict) or not all(isinstance(v, list) and v for v in options.values()):
        mistakes.add(keys, "must be a mapping from a parameter (such as base.C) to the list of values to try")
        return []
    specs = []
    for values in itertools.product(*options.values()):
        varied = copy.deepcopy(entry)
        for path, value in zip(options, values, strict=True):
            *outer, last = str(path).split(".")
            inside = varied
            for key in outer:
                inner = inside.get(key)
                inside[key] = inside = {"learner": inner} if isinstance(inner, str) else inner
                if not isinstance(inside, dict):
                    mistakes.add((*keys, path), f"'{path}' leads nowhere: there is no '{key}' in this entry")
                    return []
            inside[last] = value
        spec = _learner_spec(label, varied, seeding, mistakes)
        if spec is not None:
            choice = ", ".join(f"{path}={value}" for path, value in zip(options, values, strict=True))
            specs.append(spec.model_copy(update={"choice": choice}))
    return specs


def _learner_spec(
    label: str, entry: dict, seeding: str | None, mistakes: Mistakes, keys: tuple = ()
) -> LearnerSpec | None:
    """A learner with all its parameters; one inside another (its base) is checked in the same way."""
    keys = keys or ("learners", label)
    name = entry.pop("learner", label)
    if name not in learners():
        at = (*keys, "learner") if mistakes.exists((*keys, "learner")) else keys
        mistakes.add(at, f"no learner is called '{name}'{nearest(name, learners())}")
        return None
    model = parameters(name)
    if seeding is not None and "seeding" in model.model_fields:
        entry.setdefault("seeding", seeding)
    inner = {}
    for key in nested_learners(model):
        given = entry.pop(key, model.model_fields[key].default)
        inner[key] = _inner_learner(given, seeding, mistakes, (*keys, key))
        entry[key] = "checked"
    try:
        filled = model.model_validate(entry).model_dump(warnings=False)
    except ValidationError as error:
        mistakes.add_all(keys, error, [*model.model_fields, "learner"])
        return None
    if None in inner.values():
        return None
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in filled.items()} | inner
    return LearnerSpec(label=label, learner=name, settings=tuple(sorted(settings.items())))


def _inner_learner(given, seeding: str | None, mistakes: Mistakes, keys: tuple) -> LearnerSpec | None:
    entry = {"learner": given} if isinstance(given, str) else given
    if not isinstance(entry, dict) or not isinstance(entry.get("learner"), str):
        mistakes.add(keys, f"must be a learner's name or {{learner: its name, ...}} (got {given!r})")
        return None
    spec = _learner_spec(entry["learner"], dict(entry), seeding, mistakes, keys)
    if spec is not None and not registration(spec.learner).takes_weights:
        mistakes.add(keys, f"'{spec.learner}' takes no sample weights, so it cannot be boosted")
    return spec
