"""ErrorCollector in a config, each with its file, line and key."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError

from zoloss_cli.errors import suggest_nearest


class ErrorCollector:
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
                self.add((*keys, name), f"unknown key '{name}'{suggest_nearest(name, valid)}")
            elif e["type"] == "missing":
                self.add(keys, f"the key '{e['loc'][-1]}' is missing")
            elif e["type"] == "literal_error":
                options = e["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
                hint = suggest_nearest(e["input"], options) or f"; valid: {', '.join(options)}"
                self.add((*keys, *loc), f"{e['input']!r} is not valid{hint}")
            else:
                text = e["msg"].removeprefix("Value error, ")
                got = f" (got {e['input']!r})" if e["loc"] else ""  # else it would be the whole section
                self.add((*keys, *loc), f"{text[:1].lower()}{text[1:]}{got}")

    def checked(self, model: type[BaseModel], value, keys: tuple):
        """What the model makes of a section or entry, or None and what is wrong with it."""
        if not isinstance(value, dict):
            self.add(keys, f"must be a mapping of keys (got {value!r})")
            return None
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.add_all(keys, error, list(model.model_fields))
            return None

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


class InlineErrorCollector(ErrorCollector):
    """ErrorCollector in values that no file holds: an option's, or a call's; there is no line to name."""

    def __init__(self, where: str):
        super().__init__(Path(where), None)

    def add(self, keys, message):
        _, _, *rest = keys  # ("learners" or "datasets", a name, parameter, ...)
        place = " ".join(filter(None, [str(self.path), ".".join(map(str, rest))]))
        self.lines.append(f"{place}: {message}")
