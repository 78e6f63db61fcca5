"""What is asked of a scoring system's terms: signs, features that it must have, and features it must not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from zoloss_cli.errors import suggest_nearest

_names: ContextVar[list[str] | None] = ContextVar("names", default=None)


@contextlib.contextmanager
def name_features(names: Sequence[str]) -> Iterator[None]:
    """Within this block, the features of arrays with as many columns are called so, and not x0, x1, ..."""
    token = _names.set(list(names))
    try:
        yield
    finally:
        _names.reset(token)


def find_feature_names(n_features: int, own: Sequence[str] | None) -> list[str]:
    """Return what features are called: as in the DataFrame, else as the caller says, else x0, x1, ..."""
    known = _names.get()
    if own is not None:
        return [str(name) for name in own]
    if known is not None and len(known) == n_features:
        return known
    return [f"x{j}" for j in range(n_features)]


@dataclass(frozen=True)
class Constraints:
    """What is asked of the terms, by features.

    Attributes
    ----------
    signs : dict of int to int
        Features whose points must not be below 0 (+1) or above it (-1).
    required : tuple of tuple of int
        For each required column its features, of which some one must have points.
    forbidden : frozenset of int
        Features that get no points.
    required_names : tuple of str
        What the required columns are called.
    """

    signs: dict[int, int]
    required: tuple[tuple[int, ...], ...]
    forbidden: frozenset[int]
    required_names: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[int]:
        """The features with a sign, or that are required: no other one stands for them."""
        return frozenset(self.signs) | {feature for column in self.required for feature in column}


def build_constraints(
    names: list[str],
    monotone: Sequence[str] | None,
    require: Sequence[str] | None,
    forbid: Sequence[str] | None,
    max_terms: int,
) -> Constraints:
    """Return what the parameters of a learner ask for; ValueError with one sentence if it cannot be.

    Parameters
    ----------
    names : list of str
        What the features are called.
    monotone : sequence of str or None
        Names with a sign: 'age:+'.
    require, forbid : sequence of str or None
        Names.
    max_terms : int
        The largest number of terms.

    Returns
    -------
    Constraints
        The same by features.
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
    # A column of which some indicator is required itself asks for nothing more.
    alone = [k for k, own in enumerate(required) if not any(set(other) < set(own) for other in required)]
    if len(alone) > max_terms:
        raise ValueError(
            f"{len(alone)} columns are required, and at most {max_terms} terms are allowed; allow more terms"
        )
    return Constraints(signs, tuple(required[k] for k in alone), forbidden, tuple(unique[k] for k in alone))


def find_features(name: str, names: list[str], parameter: str) -> tuple[int, ...]:
    """Return the feature of a name, or all indicators of a text column, which are called name=level."""
    found = tuple(j for j, known in enumerate(names) if known == name)
    found = found or tuple(j for j, known in enumerate(names) if known.startswith(f"{name}="))
    if not found:
        columns = dict.fromkeys([*names, *(known.partition("=")[0] for known in names)])
        raise ValueError(f"{parameter}: there is no feature '{name}'{suggest_nearest(name, list(columns))}")
    return found
