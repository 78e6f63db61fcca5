"""Constraints on a scoring system's terms: signs, and features that it must or must not use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from zoloss_cli.errors import suggest_nearest

_names: ContextVar[list[str] | None] = ContextVar("names", default=None)


@contextlib.contextmanager
def name_features(names: Sequence[str]) -> Iterator[None]:
    """Within this block, use these names for the features of arrays with as many columns, not x0, x1, ..."""
    token = _names.set(list(names))
    try:
        yield
    finally:
        _names.reset(token)


def find_feature_names(n_features: int, own: Sequence[str] | None) -> list[str]:
    """Return the names of features: from the DataFrame, or from the caller, or x0, x1, ..."""
    known = _names.get()
    if own is not None:
        return [str(name) for name in own]
    if known is not None and len(known) == n_features:
        return known
    return [f"x{j}" for j in range(n_features)]


@dataclass(frozen=True)
class Constraints:
    """Constraints on the terms, by feature.

    Attributes
    ----------
    signs : dict of int to int
        Features whose points must not be below 0 (+1) or above it (-1).
    required : tuple of tuple of int
        For each required column its features, at least one of which must have points.
    forbidden : frozenset of int
        Features that get no points.
    required_names : tuple of str
        The names of the required columns.
    """

    signs: dict[int, int]
    required: tuple[tuple[int, ...], ...]
    forbidden: frozenset[int]
    required_names: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[int]:
        """The features that have a sign or are required: no other one may replace them."""
        return frozenset(self.signs) | {feature for column in self.required for feature in column}


def build_constraints(
    names: list[str],
    monotone: Sequence[str] | None,
    require: Sequence[str] | None,
    forbid: Sequence[str] | None,
    max_terms: int,
) -> Constraints:
    """Return the constraints that a learner's parameters set; ValueError with one sentence if they conflict.

    Parameters
    ----------
    names : list of str
        The names of the features.
    monotone : sequence of str or None
        Names with a sign: 'age:+'.
    require, forbid : sequence of str or None
        Names.
    max_terms : int
        The maximum number of terms.

    Returns
    -------
    Constraints
        The constraints, by feature.
    """
    signs: dict[int, int] = {}
    for text in monotone or ():
        name, colon, sign = text.rpartition(":")
        if not colon or sign not in ("+", "-"):
            raise ValueError(f"monotone: '{text}' is not a name with a sign, such as age:+ or age:-")
        for feature in find_features(name, names, "monotone"):
            if signs.setdefault(feature, 1 if sign == "+" else -1) != (1 if sign == "+" else -1):
                raise ValueError(f"monotone: '{name}' has both signs; keep one of them")
    forbidden = frozenset(f for name in forbid or () for f in find_features(name, names, "forbid"))
    unique = tuple(dict.fromkeys(require or ()))
    required = tuple(find_features(name, names, "require") for name in unique)
    for name, features in zip(unique, required, strict=True):
        if forbidden.issuperset(features):
            raise ValueError(f"'{name}' is both required and forbidden; keep one of them")
    if len(forbidden) == len(names):
        raise ValueError("forbid: all features are forbidden, and none is left for a term")
    # A column adds no requirement if one of its indicators is itself required.
    alone = [k for k, own in enumerate(required) if not any(set(other) < set(own) for other in required)]
    if len(alone) > max_terms:
        raise ValueError(
            f"{len(alone)} columns are required, and at most {max_terms} terms are allowed; allow more terms"
        )
    return Constraints(signs, tuple(required[k] for k in alone), forbidden, tuple(unique[k] for k in alone))


def find_features(name: str, names: list[str], parameter: str) -> tuple[int, ...]:
    """Return the feature with a name, or all indicators of a text column, which are named name=level."""
    found = tuple(j for j, known in enumerate(names) if known == name)
    found = found or tuple(j for j, known in enumerate(names) if known.startswith(f"{name}="))
    if not found:
        columns = dict.fromkeys([*names, *(known.partition("=")[0] for known in names)])
        raise ValueError(f"{parameter}: there is no feature '{name}'{suggest_nearest(name, list(columns))}")
    return found
