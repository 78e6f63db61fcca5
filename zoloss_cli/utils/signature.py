"""Typed parameters from a function's annotated signature: the only declaration of each parameter."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import textwrap
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

# Not a parameter of the algorithm: an experiment gives every task its own.
RANDOM_STATE = "random_state"


class Nested:
    """Mark a parameter that holds another learner."""


@functools.cache
def parameter_model(function: Callable, hidden: frozenset[str] = frozenset()) -> type[BaseModel]:
    """Return a strict model of the parameters of a function.

    Parameters
    ----------
    function : callable
        A function whose parameters are annotated.
    hidden : frozenset of str
        Parameters to leave out.

    Returns
    -------
    type of pydantic.BaseModel
        One field for each parameter, with its type, range, default and description.
    """
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
    """Return a typed model of the parameters of a learner, without the seed and the fixed ones.

    Parameters
    ----------
    learner : type
        A class whose `__init__` declares its parameters with `Annotated`.
    fixed : frozenset of str, default=frozenset()
        Parameters that the registered name already sets.

    Returns
    -------
    type of pydantic.BaseModel
        One field for each parameter, with its type, range, default and description.
    """
    declared = learner.__init__  # type: ignore[misc]  # a class, so its own __init__ is meant
    return parameter_model(declared, frozenset({"self", RANDOM_STATE}) | fixed)


@functools.cache
def untyped_parameters(estimator: type) -> type[BaseModel]:
    """Return a model of the parameters of an estimator by name, without the seed.

    Parameters
    ----------
    estimator : type
        A class of another package, whose `__init__` has the parameters, or whose `get_params` lists more.

    Returns
    -------
    type of pydantic.BaseModel
        One field for each parameter, of any type, with its default.
    """
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


# Types, ranges, allowed values, defaults and descriptions are declared once, with `Annotated` in a signature.
# A docstring repeats them for readers; a test compares the two with the functions here.

RANDOM_STATE_TYPE = "int, Generator, RandomState or None"
RANDOM_STATE_DESCRIPTION = "Seed of all random draws: the same seed gives the same result."
LINE_LENGTH = 112
MAX_DEFAULT_LENGTH = 60
BOUNDS = ("gt", "ge", "lt", "le")


def format_type(annotation: Any) -> str:
    """Return an annotation as the type text of numpydoc.

    Parameters
    ----------
    annotation : object
        A type hint, usually `Annotated` with pydantic's `Field`.

    Returns
    -------
    str
        The type, its range and its allowed values.

    Raises
    ------
    TypeError
        If there is no text for this kind of annotation yet.

    Examples
    --------
    >>> from typing import Annotated, Literal
    >>> from pydantic import Field
    >>> format_type(Annotated[int, Field(ge=1)])
    'int >= 1'
    >>> format_type(Annotated[float | None, Field(gt=0, lt=1)])
    'float in (0, 1) or None'
    >>> format_type(Literal["zero", "fld"] | list[float])
    "{'zero', 'fld'} or list of float"
    """
    return _format_type(annotation, [])


def format_field_type(field: FieldInfo) -> str:
    """Return the type text of a field of a parameter model, without its default."""
    return _format_type(field.annotation, list(field.metadata))


def format_default(value: Any) -> str:
    """Return a default value as in Python, a long sequence by its first and last item."""
    text = repr(value)
    if len(text) > MAX_DEFAULT_LENGTH and isinstance(value, tuple):
        return f"({value[0]!r}, ..., {value[-1]!r})"
    return text


def describe_parameters(function: Callable) -> dict[str, tuple[str | None, str]]:
    """Return the type text and the description of each parameter of a function.

    Parameters
    ----------
    function : callable
        A function, or a class, for its `__init__`.

    Returns
    -------
    dict of {str: tuple of (str or None, str)}
        Type text with the default, None if nothing is declared; and the declared description as a sentence,
        empty if there is none. In the order of the signature, with the stars of `**settings`.
    """
    annotated: Any = inspect.getattr_static(function, "__init__") if isinstance(function, type) else function
    hints = _find_hints(annotated) if inspect.isfunction(annotated) else {}
    parameters = inspect.signature(function).parameters.values()
    return {str(p).partition(":")[0].partition("=")[0]: _describe(p, hints.get(p.name)) for p in parameters}


def format_parameters_section(function: Callable) -> str:
    """Return the Parameters section of a function's or a class's docstring, ready to be completed."""
    lines = ["Parameters", "----------"]
    for name, (type_text, description) in describe_parameters(function).items():
        lines.append(f"{name} : {type_text or 'TYPE'}")
        lines.append(textwrap.indent(textwrap.fill(description or "TEXT.", LINE_LENGTH - 8), "    "))
    return "\n".join(lines)


def remove_section(docstring: str, title: str) -> str:
    """Return a docstring without one of its sections.

    Parameters
    ----------
    docstring : str
        A docstring without indentation.
    title : str
        The title of the section, such as "Parameters".

    Returns
    -------
    str
        The docstring, unchanged if it has no such section.
    """
    lines = docstring.split("\n")
    starts = [i for i in range(len(lines) - 1) if lines[i] and lines[i + 1] == "-" * len(lines[i])]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        if lines[start] == title:
            return "\n".join(lines[:start] + lines[end:]).rstrip()
    return docstring


def _describe(parameter: inspect.Parameter, annotation: Any) -> tuple[str | None, str]:
    default = "" if parameter.default is parameter.empty else f", default={format_default(parameter.default)}"
    if parameter.name == RANDOM_STATE and parameter.annotation is parameter.empty:
        return RANDOM_STATE_TYPE + default, RANDOM_STATE_DESCRIPTION
    if annotation is None or annotation is Any:
        return None, ""
    described = [m.description for m in _metadata(annotation) if isinstance(m, FieldInfo) and m.description]
    sentence = f"{described[-1][0].upper()}{described[-1][1:].rstrip('.')}." if described else ""
    try:
        return format_type(annotation) + default, sentence
    except TypeError:  # a type that only words can describe, such as a folder or a DataFrame
        return None, sentence


def _find_hints(function: Callable) -> dict[str, Any]:
    """Return the type hints of a function; none if they name what is imported only for type checkers."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        return {}


def _metadata(annotation: Any) -> tuple:
    return annotation.__metadata__ if get_origin(annotation) is Annotated else ()


def _format_type(annotation: Any, constraints: list) -> str:
    """Return the type text, with the constraints of the annotations around it."""
    if any(isinstance(c, Nested) for c in constraints):
        return "learner"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *metadata = arguments
        fields = [c for m in metadata for c in (m.metadata if isinstance(m, FieldInfo) else [m])]
        return _format_type(inner, fields + constraints)
    if origin in (Union, types.UnionType):
        return _join_alternatives(_format_type(argument, constraints) for argument in arguments)
    if origin is Literal:
        return "{" + ", ".join(repr(value) for value in arguments) + "}"
    if origin is list:
        size = "non-empty " if any(getattr(c, "min_length", 0) for c in constraints) else ""
        return f"{size}list of {_format_type(arguments[0], [])}"
    if origin is Mapping:
        key, value = (_format_type(argument, []) for argument in arguments)
        return f"mapping of {key} to {value}"
    if annotation is Mapping:
        return "mapping"
    if annotation in (None, type(None)):
        return "None"
    if annotation in (int, float):
        return annotation.__name__ + _format_range(constraints)
    if annotation is str:
        patterns = [c.pattern for c in constraints if getattr(c, "pattern", None)]
        return f"str matching {patterns[0]!r}" if patterns else "str"
    if annotation is bool:
        return "bool"
    raise TypeError(f"no type text is known for {annotation!r}")


def _join_alternatives(texts: Iterable[str]) -> str:
    """Return "a, b or c"."""
    *others, last = texts
    return f"{', '.join(others)} or {last}"


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
    """Return the source of an algorithm, from the section References of its docstring.

    This is the first reference that names a section, algorithm, table or equation, or else the first one.

    Parameters
    ----------
    docstring : str
        A numpydoc docstring.

    Returns
    -------
    str
        Authors, year and place, 'zoloss' for an algorithm of the project itself, or '' without references.

    Examples
    --------
    >>> find_source('''Do it.
    ...
    ... References
    ... ----------
    ... .. [1] Gallant, S. I. (1990). Perceptron-based learning algorithms.
    ... .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss. IJCNN. Section III, Figures 1 and 2.
    ... ''')
    'Li & Lin (2007), Section III'
    """
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
