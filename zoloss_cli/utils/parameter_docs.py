"""The Parameters section of a docstring, as declared by an annotated signature.

Types, ranges, allowed values, defaults and descriptions are declared once, with `Annotated` in a signature.
A docstring repeats them for readers; a test compares the two with the functions here.
"""

from __future__ import annotations

import inspect
import itertools
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from zoloss_cli.utils.signature import RANDOM_STATE, Nested

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
