"""What a signature declares of each parameter, as a docstring must repeat it: type, default, description."""

import contextlib
import inspect
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from zoloss_cli.utils.signature import RANDOM_STATE, format_type

RANDOM_STATE_TYPE = "int, Generator, RandomState or None"
RANDOM_STATE_DESCRIPTION = "Seed of all random draws: the same seed gives the same result."
LINE_LENGTH = 112
MAX_DEFAULT_LENGTH = 60


def format_default(value: Any) -> str:
    text = repr(value)
    if len(text) > MAX_DEFAULT_LENGTH and isinstance(value, tuple):
        return f"({value[0]!r}, ..., {value[-1]!r})"
    return text


def describe_parameters(function: Callable) -> dict[str, tuple[str | None, str]]:
    """Return the type text with the default, and the description, of each parameter of a function or class.

    The type text is None, and the description empty, if nothing is declared.
    """
    annotated: Any = inspect.getattr_static(function, "__init__") if isinstance(function, type) else function
    hints = {}
    with contextlib.suppress(NameError):  # of types that are imported only for type checkers
        hints = get_type_hints(annotated, include_extras=True) if inspect.isfunction(annotated) else {}
    parameters = inspect.signature(function).parameters.values()
    return {str(p).partition(":")[0].partition("=")[0]: _describe(p, hints.get(p.name)) for p in parameters}


def format_parameters_section(function: Callable) -> str:
    """Return the Parameters section of a function's or a class's docstring, ready to be completed."""
    lines = ["Parameters", "----------"]
    for name, (type_text, description) in describe_parameters(function).items():
        lines.append(f"{name} : {type_text or 'TYPE'}")
        lines.append(textwrap.indent(textwrap.fill(description or "TEXT.", LINE_LENGTH - 8), "    "))
    return "\n".join(lines)


def _describe(parameter: inspect.Parameter, annotation: Any) -> tuple[str | None, str]:
    default = "" if parameter.default is parameter.empty else f", default={format_default(parameter.default)}"
    if parameter.name == RANDOM_STATE and parameter.annotation is parameter.empty:
        return RANDOM_STATE_TYPE + default, RANDOM_STATE_DESCRIPTION
    if annotation is None or annotation is Any:
        return None, ""
    metadata = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
    described = [m.description for m in metadata if isinstance(m, FieldInfo) and m.description]
    sentence = f"{described[-1][0].upper()}{described[-1][1:].rstrip('.')}." if described else ""
    try:
        return format_type(annotation) + default, sentence
    except TypeError:  # a type that only words can describe, such as a folder or a DataFrame
        return None, sentence
