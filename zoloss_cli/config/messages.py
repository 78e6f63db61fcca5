"""Errors of a config or of the catalog, each with its file, line and key."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.files import FileError, read_file
from zoloss_cli.utils.text import CONTROL

MAX_SHOWN_CHARACTERS = 100
MAX_MESSAGE_CHARACTERS = 2000
MAX_MESSAGES = 20

Keys = tuple[Any, ...]
M = TypeVar("M", bound=BaseModel)

_SHORTENER = reprlib.Repr()
_SHORTENER.maxstring = _SHORTENER.maxother = _SHORTENER.maxlong = MAX_SHOWN_CHARACTERS
_SHORTENER.maxlevel = 3


def shorten(value: object) -> str:
    """Return the repr of a value, truncated without building it in full."""
    return _SHORTENER.repr(value)


def _show_key(key: object) -> str:
    """Return a key for messages, on one line and truncated."""
    text = CONTROL.sub(lambda found: repr(found[0])[1:-1], str(key))
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."


class ErrorCollector:
    """Collect the errors of one file, each with its line and the path of its keys."""

    def __init__(self, path: Path, root: yaml.Node | None) -> None:
        self.path, self.root = path, root  # the path shown in messages, and the YAML nodes for line numbers
        self.lines: list[str] = []  # the first messages, as `path:line: keys: message`
        self.n_more = 0  # further messages
        self.code_folder: Path | None = path.parent  # the only folder for code files; None for any

    @property
    def is_full(self) -> bool:
        """Whether further messages are only counted."""
        return len(self.lines) >= MAX_MESSAGES

    def add(self, keys: Keys, message: str) -> None:
        """Add a message about the value at these keys; the same message is added once."""
        if self.is_full:  # finding lines takes time, and nobody reads a thousand messages
            self.n_more += 1
            return
        place = ".".join(_show_key(key) for key in keys)
        line_number = 1 if self.root is None else self._find_node(keys)[0].start_mark.line + 1
        line = f"{self.path}:{line_number}: {place + ': ' if place else ''}{message}"
        line = line if len(line) <= MAX_MESSAGE_CHARACTERS else line[:MAX_MESSAGE_CHARACTERS] + "..."
        if line not in self.lines:
            self.lines.append(line)

    def suggest(self, name: object, valid: Iterable[str]) -> str:
        """Return a suggestion for the end of a message; empty if no more messages are shown."""
        return "" if self.is_full else suggest_nearest(name, valid)

    def add_validation_error(
        self, keys: Keys, error: ValidationError, model: type[BaseModel], more_keys: Iterable[str] = ()
    ) -> None:
        """Add all pydantic errors of the mapping at `keys`; `more_keys` are valid besides the model's."""
        for i, details in enumerate(found := error.errors()):
            if self.is_full:
                self.n_more += len(found) - i
                return
            valid = [*_find_fields(model, details["loc"]), *(more_keys if len(details["loc"]) < 2 else ())]
            self._add_details(keys, details, valid)

    def _add_details(self, keys: Keys, details: ErrorDetails, valid: list[str]) -> None:
        at = (*keys, *self._find_existing(keys, details["loc"], valid))
        if details["type"] == "extra_forbidden":
            name = details["loc"][-1]
            at = at if at[-1:] == (name,) else (*at, name)
            self.add(at, f"unknown key '{name}'{suggest_nearest(name, valid)}")
        elif details["type"] == "missing":
            at = at[:-1] if at[len(keys) :][-1:] == details["loc"][-1:] else at
            self.add(at, f"the key '{details['loc'][-1]}' is missing")
        elif details["type"] == "literal_error":
            options = details["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            hint = suggest_nearest(details["input"], options) or f"; valid: {', '.join(options)}"
            self.add(at, f"{shorten(details['input'])} is not valid{hint}")
        else:
            text = details["msg"].removeprefix("Value error, ")
            # Without a key, the input is the whole section.
            got = f" (got {shorten(details['input'])})" if details["loc"] else ""
            self.add(at, f"{text[:1].lower()}{text[1:]}{got}")

    def validate(self, model: type[M], value: Any, keys: Keys) -> M | None:
        """Return the model of a section or entry, or None after adding its errors."""
        if not isinstance(value, dict):
            self.add(keys, f"must be a mapping of keys (got {shorten(value)})")
            return None
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.add_validation_error(keys, error, model)
            return None

    def raise_errors(self) -> None:
        """Raise a ConfigError with all messages, if there are any."""
        if self.lines:
            more = [f"{self.path}: and {self.n_more:,} more errors"] if self.n_more else []
            raise ConfigError("\n".join([*dict.fromkeys(self.lines), *more]))

    def has_keys(self, keys: Keys) -> bool:
        """Return whether the file has a value at these keys."""
        return self.root is not None and self._find_node(keys)[1]

    def _find_existing(self, keys: Keys, location: Keys, valid: list[str]) -> Keys:
        """Return the part of pydantic's location that is in the file: types of unions are not."""
        found: Keys = ()
        for part in location:
            if self.has_keys((*keys, *found, part)):
                found = (*found, part)
        return found or tuple(part for part in location[:1] if part in valid)

    def _find_node(self, keys: Keys) -> tuple[yaml.Node, bool]:
        """Return the node at these keys, or at the last one that exists, and whether all exist."""
        assert self.root is not None
        value = place = self.root
        for key in keys:
            if isinstance(value, yaml.MappingNode):
                pairs = [pair for pair in value.value if pair[0].value == str(key)]
                if not pairs:
                    return place, False
                place, value = pairs[-1]
            elif isinstance(value, yaml.SequenceNode):
                items = [item for item in value.value if getattr(item, "value", None) == str(key)]
                if not items:
                    return place, False
                place = value = items[0]
            else:
                return place, False
        return place, True


class InlineErrorCollector(ErrorCollector):
    """Collect errors of an option or a call, which have no line numbers."""

    def __init__(self, where: str) -> None:
        super().__init__(Path(where), None)  # the prefix of messages
        self.code_folder = None  # a user may name any file

    def add(self, keys: Keys, message: str) -> None:
        """Add a message that omits the first two keys, a section and a name."""
        place = " ".join(filter(None, [str(self.path), ".".join(map(str, keys[2:]))]))
        self.lines.append(f"{place}: {message}")


def _find_fields(model: type[BaseModel], location: Keys) -> list[str]:
    """Return the fields of the model that the last key of pydantic's location belongs to."""
    for i, part in enumerate(location[:-1]):
        if part not in model.model_fields:
            continue
        inner = _find_models(model.model_fields[part].annotation)
        if not inner:
            return []
        model = next((m for m in inner if m.__name__ == location[i + 1]), inner[0])
    return list(model.model_fields)


def _find_models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _find_models(argument)]


MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 50  # of nested mappings and lists
MAX_NODES = 10_000  # values in a file, with aliases expanded
MAX_NUMBER_CHARACTERS = 400  # far below Python's own limit for integers
INT = "tag:yaml.org,2002:int"
# Exceptions that PyYAML does not wrap.
UNREADABLE = (ValueError, KeyError, AttributeError, TypeError, OverflowError)
# libyaml is ten times as fast; few systems lack it.
FastLoader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NameLoader(FastLoader):  # type: ignore[misc, valid-type]
    """Safe YAML loader that keeps keys as text, even `on` and `no`, which YAML reads as booleans."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Return the mapping with all of its keys as text."""
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return a value; raise ConstructorError with the line if it does not match its tag."""
        if node.tag == INT and len(node.value) > MAX_NUMBER_CHARACTERS:
            problem = f"a number of {len(node.value):,} characters is longer than {MAX_NUMBER_CHARACTERS}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        try:
            return super().construct_object(node, deep)
        except UNREADABLE:
            problem = f"this is not a valid {node.tag.rpartition(':')[2]}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def read_yaml(path: Path) -> tuple[dict[str, Any], yaml.Node]:
    """Return a file's mapping of keys, and its root node, which has line numbers."""
    try:
        text = read_file(path, MAX_FILE_BYTES).decode("utf-8-sig")
    except FileError as error:
        raise ConfigError(f"{path} {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text file") from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> tuple[dict[str, Any], yaml.Node]:
    """Return the mapping of keys in a text, and its root node; messages name `path`."""
    try:
        _check_size(path, text)
        # Parsed twice, since constructing the content changes the nodes when it merges mappings.
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
    """Reject oversized or deeply nested YAML in one pass over the parser's events, before building anything."""
    sizes, names = [0], []  # number of values and anchor of each open collection
    anchors: dict[str | None, int] = {}  # number of values behind each anchor
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
    """Add an error for every duplicate key, of which YAML would silently use the last."""
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
