"""The user's mistakes: one sentence each, one exit code a kind, and the nearest valid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ZolossError(Exception):
    """Something the user can mend; the message says what, where, and what would be valid."""

    exit_code = 1


class ConfigError(ZolossError):
    """A config, a name or an option is wrong. Several mistakes come as several lines."""

    exit_code = 2


class DataError(ZolossError):
    """A data set cannot be read, fetched or used as asked."""

    exit_code = 3


class ResultsError(ZolossError):
    """A results folder is missing, foreign, locked, full or damaged."""

    exit_code = 4


class RunError(ZolossError):
    """Some units of a run failed; what finished is stored."""

    exit_code = 5


class ModelError(ZolossError):
    """A model file is missing, damaged, or not what this version writes."""

    exit_code = 6


class OutputError(ZolossError):
    """A file cannot be written, or another one is in its place."""

    exit_code = 7


def suggest_nearest(name: object, valid: Iterable[str]) -> str:
    """A clause to append to a message: the closest valid name, or the valid names if none is close."""
    names = [str(v) for v in valid]
    close = difflib.get_close_matches(str(name).lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    if close:
        hit = next(n for n in names if n.lower() == close[0])
        return f"; did you mean '{hit}'?"
    if 0 < len(names) <= 12:
        return f"; valid: {', '.join(names)}"
    return ""
