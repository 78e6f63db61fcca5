"""Typed parameters from annotated signatures, the single source of truth for each parameter."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import textwrap
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

# Not a parameter of the algorithm: an experiment gives every task its own.
RANDOM_STATE = "random_state"


class Nested:
    """Mark a parameter that holds another learner."""


@functools.cache
def parameter_model(function: Callable, hidden: frozenset[str] = frozenset()) -> type[BaseModel]:
    """Return a strict model of the annotated parameters of a function, without the hidden ones."""
    hints = get_type_hints(function, include_extras=True)
    shown = {k: p for k, p in inspect.signature(function).parameters.items() if k not in hidden}
    for name in shown:
        if name not in hints:
            raise TypeError(f"the parameter '{name}' has no type")
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in shown.items()
    }
    strict = ConfigDict(extra="forbid", strict=True)
    return create_model(function.__qualname__, __config__=strict, **fields)


def learner_parameters(learner: type, fixed: frozenset[str] = frozenset()) -> type[BaseModel]:
    """Return a typed model of the parameters of a learner, without the seed and the fixed ones."""
    declared = learner.__init__  # type: ignore[misc]  # a class, so its own __init__ is meant
    return parameter_model(declared, frozenset({"self", RANDOM_STATE}) | fixed)


@functools.cache
def untyped_parameters(estimator: type) -> type[BaseModel]:
    """Return an untyped model of the parameters of another package's estimator, without the seed."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    declared = inspect.signature(estimator).parameters.values()
    fields: dict[str, Any] = {
        each.name: (Any, ... if each.default is inspect.Parameter.empty else each.default)
        for each in declared
        if each.kind not in kinds and each.name != RANDOM_STATE
    }
    if any(each.kind == inspect.Parameter.VAR_KEYWORD for each in declared):
        fields = {name: (Any, value) for name, value in _list_defaults(estimator).items()} | fields
    config = ConfigDict(extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a parameter may have the name of a model's method
        return create_model(estimator.__name__, __config__=config, **fields)


def _list_defaults(estimator: type) -> dict[str, Any]:
    """Return the parameters that an estimator reports with default settings."""
    try:
        known = estimator().get_params(deep=False)
    except Exception:  # it needs settings, or does not report them
        return {}
    return {name: value for name, value in known.items() if name != RANDOM_STATE}


TYPE_TEXTS = {bool: "bool", Mapping: "mapping", None: "None", type(None): "None"}
BOUNDS = ("gt", "ge", "lt", "le")


def format_type(annotation: Any, constraints: list | None = None) -> str:
    """Return an annotation with its constraints in the style of numpydoc: type, range, values."""
    constraints = constraints or []
    if any(isinstance(c, Nested) for c in constraints):
        return "learner"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *metadata = arguments
        fields = [c for m in metadata for c in (m.metadata if isinstance(m, FieldInfo) else [m])]
        return format_type(inner, fields + constraints)
    if origin in (Union, types.UnionType):
        *others, last = (format_type(argument, constraints) for argument in arguments)
        return f"{', '.join(others)} or {last}"
    if origin is Literal:
        return "{" + ", ".join(repr(value) for value in arguments) + "}"
    if origin is list:
        size = "non-empty " if any(getattr(c, "min_length", 0) for c in constraints) else ""
        return f"{size}list of {format_type(arguments[0])}"
    if origin is Mapping:
        key, value = (format_type(argument) for argument in arguments)
        return f"mapping of {key} to {value}"
    if annotation in TYPE_TEXTS:
        return TYPE_TEXTS[annotation]
    if annotation in (int, float):
        return annotation.__name__ + _format_range(constraints)
    if annotation is str:
        patterns = [c.pattern for c in constraints if getattr(c, "pattern", None)]
        return f"str matching {patterns[0]!r}" if patterns else "str"
    raise TypeError(f"no type text is known for {annotation!r}")


def format_field_type(field: FieldInfo) -> str:
    """Return the type text of a field of a parameter model, without its default."""
    return format_type(field.annotation, list(field.metadata))


def remove_section(docstring: str, title: str) -> str:
    """Return a docstring, without indentation, without the section of this title."""
    lines = docstring.split("\n")
    starts = [i for i in range(len(lines) - 1) if lines[i] and lines[i + 1] == "-" * len(lines[i])]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        if lines[start] == title:
            return "\n".join(lines[:start] + lines[end:]).rstrip()
    return docstring


def _format_range(constraints: list) -> str:
    """Return " >= 1" for one bound, " in (0, 1]" for two, and nothing for none."""
    bounds = {b: getattr(c, b) for c in constraints for b in BOUNDS if getattr(c, b, None) is not None}
    low = next((b for b in ("gt", "ge") if b in bounds), None)
    high = next((b for b in ("lt", "le") if b in bounds), None)
    if low and high:
        left, right = "(" if low == "gt" else "[", ")" if high == "lt" else "]"
        return f" in {left}{bounds[low]:g}, {bounds[high]:g}{right}"
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    return "".join(f" {signs[b]} {bounds[b]:g}" for b in (low, high) if b)


SECTION = re.compile(r"^References\n-+\n(.*?)(?=\n\S[^\n]*\n-{3,}\n|\Z)", re.S | re.M)
ENTRY = re.compile(r"^\.\. \[\d+\] ", re.M)
AUTHORS_AND_YEAR = re.compile(r"^(?P<authors>.+?) \((?P<year>\d{4})\)\.")
FAMILY_NAME = re.compile(r"([A-Z][\w'-]+), (?:[A-Z]\.[- ]?)+")
TITLED = re.compile(r'^[A-Z][\w ]* "(?P<title>[^"]+)"')
PLACE = re.compile(
    r"\b((?:Section|Algorithm|Table|Figure|Equation|Theorem|Definition|Chapter)s?|Eq\.) "
    r"([\dIV(][^,\s]*(?: (?:and|to) [\dIV][^,\s]*)?)",
    re.I,
)
OWN = "Own "  # algorithm, choice
MAX_TITLE_LENGTH = 24


def find_source(docstring: str) -> str:
    """Return the first reference of a docstring that names a section or equation, or else the first one."""
    section = SECTION.search(inspect.cleandoc(docstring))
    entries = [" ".join(entry.split()) for entry in ENTRY.split(section[1]) if entry.strip()] if section else []
    if not entries:
        return ""
    if entries[0].startswith(OWN):
        return "zoloss"
    placed = [entry for entry in entries if PLACE.search(entry)]
    chosen = (placed or entries)[0]
    place = PLACE.search(chosen)
    return _name_work(chosen) + (f", {place[1].capitalize()} {place[2].rstrip('.')}" if place else "")


def _name_work(entry: str) -> str:
    found = AUTHORS_AND_YEAR.match(entry)
    if found:
        names = FAMILY_NAME.findall(found["authors"] + " ")
        short = f"{names[0]} et al." if len(names) > 2 else " & ".join(names)
        return f"{short} ({found['year']})"
    titled = TITLED.match(entry)
    title = titled["title"] if titled else entry.partition(".")[0]
    return f'"{textwrap.shorten(title, MAX_TITLE_LENGTH, placeholder=" ...")}"'
