"""Typed parameters from a function's annotated signature: the only declaration of each parameter."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

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
