"""Typed parameters read off a function's annotated signature: the one declaration of each parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import get_type_hints

from pydantic import BaseModel, ConfigDict, create_model


@functools.cache
def parameter_model(function: Callable, hidden: frozenset[str] = frozenset()) -> type[BaseModel]:
    """A strict model of the parameters of `function` but the hidden ones: types, ranges, defaults, texts."""
    hints = get_type_hints(function, include_extras=True)
    fields = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in hidden
    }
    strict = ConfigDict(extra="forbid", strict=True)
    return create_model(function.__qualname__, __config__=strict, **fields)
