"""YAML files whose keys are names, with their line numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from zoloss_cli.config.messages import ErrorCollector, Keys
from zoloss_cli.errors import ConfigError
from zoloss_cli.utils.files import FileError, read_file

MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 50  # of nested mappings and lists
MAX_NODES = 10_000  # values in a file, counting those behind an alias each time it is used
MAX_NUMBER_CHARACTERS = 400  # Python refuses to write out far longer numbers
INT = "tag:yaml.org,2002:int"
UNREADABLE = (ValueError, KeyError, AttributeError, TypeError, OverflowError)  # errors that PyYAML lets through
# libyaml is ten times as fast; few systems lack it.
FastLoader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NameLoader(FastLoader):  # type: ignore[misc, valid-type]
    """Safe YAML whose keys are names, even `on` and `no`, which it would read as true and false."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Return the mapping with all of its keys as text."""
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return a value; one that does not match its tag is an error with its line."""
        if node.tag == INT and len(node.value) > MAX_NUMBER_CHARACTERS:
            problem = f"a number of {len(node.value):,} characters is longer than {MAX_NUMBER_CHARACTERS}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        try:
            return super().construct_object(node, deep)
        except UNREADABLE:
            problem = f"this is not a valid {node.tag.rpartition(':')[2]}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def read_yaml(path: Path) -> tuple[dict[str, Any], yaml.Node]:
    """Return a file's mapping of keys, and its nodes, which have line numbers.

    Raises
    ------
    ConfigError
        If the file cannot be read, or is not a mapping; the message names the line.
    """
    try:
        text = read_file(path, MAX_FILE_BYTES).decode("utf-8-sig")
    except FileError as error:
        raise ConfigError(f"{path} {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text file") from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> tuple[dict[str, Any], yaml.Node]:
    """Return the mapping of keys in a text, and its nodes; messages name the path, as in `read_yaml`."""
    try:
        _check_size(path, text)
        # Twice, because constructing the content changes the nodes when it merges mappings.
        root = yaml.compose(text, Loader=FastLoader)
        content = yaml.load(text, Loader=NameLoader)
    except RecursionError:
        raise ConfigError(f"{path} refers to itself or is nested too deeply") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{line}: not valid YAML: {problem}") from None
    if content is None or root is None:
        raise ConfigError(f"{path} is empty")
    if not isinstance(content, dict):
        raise ConfigError(f"{path}:1: must be a mapping of keys, not {type(content).__name__}")
    return content, root


def _check_size(path: Path, text: str) -> None:
    """Refuse what would take much time or memory, before building anything from it: each event is seen once."""
    sizes, names = [0], []  # values in each open collection, and the anchor of each
    anchors: dict[str | None, int] = {}  # values behind each anchor
    for event in yaml.parse(text, Loader=FastLoader):
        mark: Any = event.start_mark  # every event of a text has one, despite PyYAML's stubs
        where = f"{path}:{mark.line + 1}:"
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in names:
                raise ConfigError(f"{where} '*{event.anchor}' refers to itself")
            sizes[-1] += anchors.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            anchors[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            names.append(event.anchor)
            if len(names) > MAX_DEPTH:
                raise ConfigError(f"{where} is nested too deeply: more than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            size = sizes.pop()
            sizes[-1] += size
            anchors[names.pop()] = size
        if sizes[-1] > MAX_NODES:
            raise ConfigError(f"{where} a config cannot hold more than {MAX_NODES:,} values, aliases included")


def check_duplicate_keys(root: yaml.Node, errors: ErrorCollector) -> None:
    """Add an error for every key that a mapping has twice, of which YAML would use the last."""
    seen: set[int] = set()
    pending: list[tuple[Keys, yaml.Node]] = [((), root)]
    while pending:
        keys, node = pending.pop()
        if not isinstance(node, yaml.MappingNode) or id(node) in seen:
            continue
        seen.add(id(node))
        pairs = [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                errors.add((*keys, name), f"the key '{name}' is given more than once")
        pending += [((*keys, name), value) for name, value in reversed(pairs)]
