"""YAML files whose keys are names, with the lines that they are on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from zoloss_cli.config.messages import ErrorCollector, Keys
from zoloss_cli.errors import ConfigError

MAX_FILE_BYTES = 1 << 20


class NameLoader(yaml.SafeLoader):
    """Safe YAML whose keys are names, also `on` and `no`, which it would read as true and false."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Return the mapping with all of its keys as text."""
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> tuple[dict[str, Any], yaml.Node]:
    """Return a file's mapping of keys, and its nodes, which know their lines.

    Raises
    ------
    ConfigError
        If the file cannot be read, or is no mapping; the message names the line.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is larger than a config can be ({len(raw)} bytes)")
    try:
        text = raw.decode("utf-8-sig")
        # Twice, because constructing the content changes the nodes where it merges mappings.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.load(text, Loader=NameLoader)
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text file") from None
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


def check_duplicate_keys(
    root: yaml.Node, errors: ErrorCollector, keys: Keys = (), seen: set[int] | None = None
) -> None:
    """Add an error for every key that a mapping has twice, of which YAML would take the last."""
    seen = set() if seen is None else seen
    if not isinstance(root, yaml.MappingNode) or id(root) in seen:
        return
    seen.add(id(root))
    names = [key.value for key, _ in root.value]
    for key, value in root.value:
        if names.count(key.value) > 1:
            errors.add((*keys, key.value), f"the key '{key.value}' is given more than once")
        check_duplicate_keys(value, errors, (*keys, key.value), seen)
